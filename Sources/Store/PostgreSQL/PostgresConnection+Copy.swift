import CPostgres
import Glibc

/// What a statement `COPY … FROM STDIN` gets.
final class CopyWriter {
  /// Sent at once, to have few system calls and little memory.
  private static let size = 1 << 18

  private let connection: PostgresConnection
  private let deadline: ContinuousClock.Instant
  private var buffer: [UInt8] = []
  /// The lines so far.
  private(set) var count = 0

  fileprivate init(_ connection: PostgresConnection, until deadline: ContinuousClock.Instant) {
    (self.connection, self.deadline) = (connection, deadline)
  }

  /// Sends a line.
  func add(_ line: CopyLine) throws(StoreError) {
    buffer += line.bytes
    buffer.append(UInt8(ascii: "\n"))
    count += 1
    if buffer.count >= Self.size { try flush() }
  }

  fileprivate func flush() throws(StoreError) {
    try connection.putCopyData(buffer, until: deadline)
    buffer.removeAll(keepingCapacity: true)
  }
}

extension PostgresConnection {
  /// Runs `COPY … FROM STDIN` with the lines that `body` adds; returns how many there were.
  ///
  /// If `body` throws, the server undoes the statement.
  func copyIn(_ sql: String, _ body: (CopyWriter) throws -> Void) throws -> Int {
    let deadline = ContinuousClock.now + timeout
    try begin(sql, until: deadline)
    let writer = CopyWriter(self, until: deadline)
    do {
      try body(writer)
      try writer.flush()
    } catch {
      if !isBroken { try? end(until: deadline, because: "the client has failed") }
      throw error
    }
    try end(until: deadline, because: nil)
    return writer.count
  }

  /// Runs `COPY … TO STDOUT` and calls `body` with each line, without its end.
  func copyOut(_ sql: String, _ body: (UnsafeRawBufferPointer) -> Void) throws {
    let deadline = ContinuousClock.now + timeout
    try begin(sql, until: deadline)
    while true {
      var line: UnsafeMutablePointer<CChar>?
      let count = Int(cpostgres_get_copy_data(handle, &line))
      if let line {
        body(UnsafeRawBufferPointer(start: line, count: max(0, count - 1)))
        cpostgres_free(line)
      } else if count == 0 {
        try wait(for: POLLIN, until: deadline)
        guard cpostgres_consume_input(handle) == 1 else { throw broken() }
      } else {
        return try readResults(until: deadline)
      }
    }
  }

  private func begin(_ sql: String, until deadline: ContinuousClock.Instant) throws(StoreError) {
    guard cpostgres_send_query(handle, sql) == 1 else { throw broken() }
    try flush(until: deadline)
    guard let result = try nextResult(until: deadline) else { throw broken() }
    defer { cpostgres_clear(result) }
    guard let failure = error(in: result) else { return }
    while let rest = try nextResult(until: deadline) { cpostgres_clear(rest) }
    throw failure
  }

  fileprivate func putCopyData(
    _ data: [UInt8], until deadline: ContinuousClock.Instant
  ) throws(StoreError) {
    let isQueued = data.withUnsafeBytes { bytes in
      let characters = bytes.assumingMemoryBound(to: CChar.self)
      return characters.baseAddress.map {
        cpostgres_put_copy_data(handle, $0, Int32(characters.count)) == 1
      } ?? true
    }
    guard isQueued else { throw broken() }
    try flush(until: deadline)
  }

  private func end(
    until deadline: ContinuousClock.Instant, because reason: String?
  ) throws(StoreError) {
    guard cpostgres_put_copy_end(handle, reason) == 1 else { throw broken() }
    try flush(until: deadline)
    try readResults(until: deadline)
  }

  private func readResults(until deadline: ContinuousClock.Instant) throws(StoreError) {
    var failure: StoreError?
    while let result = try nextResult(until: deadline) {
      failure = failure ?? error(in: result)
      cpostgres_clear(result)
    }
    if cpostgres_status(handle) != CPOSTGRES_OK { throw broken() }
    if let failure { throw failure }
  }
}
