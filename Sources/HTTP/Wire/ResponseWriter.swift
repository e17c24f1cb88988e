import Primitives

/// Sends the responses of a connection, and holds what the socket has not taken yet.
struct ResponseWriter {
  /// A part of a body.
  enum Piece {
    case bytes([UInt8])
    case file(OutgoingFile, Range<Int>)

    var count: Int {
      switch self {
      case .bytes(let bytes): bytes.count
      case .file(_, let range): range.count
      }
    }
  }

  // Up to this size copying a body behind its head is cheaper than another packet and system call.
  private static let copyLimit = 64 << 10

  /// What is to be sent, in order.
  private var pieces: [Piece] = []
  private var first = 0
  /// The bytes of the first piece that were sent.
  private var sent = 0
  /// The bytes of all responses so far.
  private(set) var total = 0

  /// Whether the socket has taken everything.
  var isEmpty: Bool { pieces.isEmpty }

  /// The bytes of all responses so far that the peer has acknowledged.
  ///
  /// Bytes in the kernel's buffer do not count: it accepts megabytes at once, and then nothing for
  /// minutes while a slow peer reads.
  func acknowledged(over transport: Transport) -> Int {
    total - unsent - transport.unacknowledged
  }

  /// The bytes that the socket has not taken yet.
  private var unsent: Int { pieces.dropFirst(first).reduce(-sent) { $0 + $1.count } }

  /// Queues a head and its body, or more of a stream; what was queued before must have been sent.
  mutating func queue(_ head: [UInt8], _ body: [Piece] = []) {
    if case .bytes(let bytes) = body.first, bytes.count <= Self.copyLimit {
      pieces = [.bytes(head + bytes)] + body.dropFirst()
    } else {
      pieces = [.bytes(head)] + body
    }
    (first, sent) = (0, 0)
    total += pieces.reduce(0) { $0 + $1.count }
    remove(0)
  }

  /// Sends as much as the socket takes; done when nothing is left.
  mutating func send(over transport: Transport) -> Transport.Progress {
    while first < pieces.count {
      let result =
        if let tls = transport.tls {
          tls.send(hasMore: unsent > TLSSession.recordSize) { copy(into: $0) }
        } else {
          sendPiece(over: transport)
        }
      guard case .done(let count) = result else { return result }
      // The socket's buffer is full, and epoll reports when it is not. A record of TLS has its own size.
      let isPartial = transport.tls == nil && count < pieces[first].count - sent
      remove(count)
      if isPartial { return .blocked }
    }
    return .done(0)
  }

  private func sendPiece(over transport: Transport) -> Transport.Progress {
    switch pieces[first] {
    case .file(let file, let range):
      transport.send(file: file.descriptor.number, range.dropFirst(sent))
    case .bytes(let bytes):
      bytes.withUnsafeBytes {
        transport.send(
          UnsafeRawBufferPointer(rebasing: $0.dropFirst(sent)), hasMore: first + 1 < pieces.count)
      }
    }
  }

  /// Copies the next bytes, as many as fit; nil if a file has become too short, or cannot be read.
  private func copy(into record: UnsafeMutableRawBufferPointer) -> Int? {
    var (piece, position, count) = (first, sent, 0)
    while piece < pieces.count, count < record.count {
      let size = min(pieces[piece].count - position, record.count - count)
      let target = UnsafeMutableRawBufferPointer(rebasing: record[count..<count + size])
      switch pieces[piece] {
      case .bytes(let bytes): target.copyBytes(from: bytes[position..<position + size])
      case .file(let file, let range):
        guard file.read(from: range.lowerBound + position, into: target) else { return nil }
      }
      (piece, position, count) = (piece + 1, 0, count + size)
    }
    return count
  }

  private mutating func remove(_ count: Int) {
    sent += count
    while first < pieces.count, sent >= pieces[first].count {
      sent -= pieces[first].count
      first += 1
    }
    if first == pieces.count { (pieces, first) = ([], 0) }
  }
}

// MARK: - Prepared files

extension ResponseWriter {
  /// Sends a prepared head, its end and perhaps its file, as much as the socket takes at once, and queues the rest.
  ///
  /// - Parameters:
  ///   - head: the head of a prepared file.
  ///   - end: the end of the head.
  ///   - file: the file, if it is sent.
  ///   - transport: where to send.
  ///   - memory: where a short response is joined: up to its size, a copy is cheaper than a system call with
  ///     several pieces.
  /// - Returns: false if the connection failed.
  mutating func send(
    _ head: UnsafeRawBufferPointer, _ end: [UInt8], _ file: PreparedFile?,
    over transport: Transport, joinedIn memory: UnsafeMutableRawBufferPointer
  ) -> Bool {
    let size = file?.content.size ?? 0
    guard let count = Self.send(head, end, file, size, over: transport, memory) else {
      return false
    }
    guard count < head.count + end.count + size else {
      total += count
      return true
    }
    queue(Array(head) + end, file.map { [$0.part(0..<size)] } ?? [])
    remove(count)
    return true
  }

  /// Sends what the socket takes now; returns how much that is, nil if the connection failed.
  private static func send(
    _ head: UnsafeRawBufferPointer, _ end: [UInt8], _ file: PreparedFile?, _ size: Int,
    over transport: Transport, _ memory: UnsafeMutableRawBufferPointer
  ) -> Int? {
    // Head and body share records, which the queue makes.
    if file?.file != nil, transport.tls != nil { return 0 }
    let first = end.withUnsafeBytes { end in
      let bytes = file?.bytes ?? .empty
      let hasMore = file?.file != nil
      let count = head.count + end.count + bytes.count
      guard count <= memory.count else {
        return transport.send(head, end, bytes, hasMore: hasMore)
      }
      memory.copyMemory(from: head)
      UnsafeMutableRawBufferPointer(rebasing: memory[head.count...]).copyMemory(from: end)
      UnsafeMutableRawBufferPointer(rebasing: memory[(head.count + end.count)...])
        .copyMemory(from: bytes)
      return transport.send(
        UnsafeRawBufferPointer(rebasing: memory[..<count]), hasMore: hasMore)
    }
    guard let sent = first.count else { return nil }
    guard let open = file?.file, sent == head.count + end.count else { return sent }
    return transport.send(file: open.descriptor.number, 0..<size).count.map { sent + $0 }
  }
}
