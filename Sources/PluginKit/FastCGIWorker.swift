import Glibc
import Primitives

/// One process for many requests, one after the other (FastCGI 1.0, the responder role).
struct FastCGIWorker {
  // Far more than the server sends: a few kilobytes of parameters, and payloads of at most 1 MiB.
  private static let largestParameters = 1 << 20
  private static let largestBody = 1 << 28
  // Section 8 of the specification.
  private static let responder: UInt8 = 1
  private static let keepsConnection: UInt8 = 1
  private static let unknownRole: UInt8 = 3

  let handler: Handler

  /// Whether standard input is a listening socket, which is how the server starts a resident worker.
  static var isRequested: Bool {
    var isListening: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    return getsockopt(STDIN_FILENO, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &size) == 0
      && isListening != 0
  }

  /// Answers the requests on `listener` until the server ends this process; returns an exit status when the
  /// socket fails.
  func run(listener: Int32) -> Int32 {
    signal(SIGPIPE, SIG_IGN)
    while true {
      guard let connection = FileDescriptor(owning: accept(listener, nil, nil)) else {
        if errno == EINTR || errno == ECONNABORTED { continue }
        return EX_OSERR
      }
      var records = RecordReader(connection: connection)
      // An error ends the connection only: the next caller has one of its own.
      while (try? answer(&records)) == true {}
    }
  }

  /// Answers one request; returns whether to wait for another one on the connection.
  private func answer(_ records: inout RecordReader) throws -> Bool {
    var parameters: [UInt8] = []
    var body: [UInt8] = []
    var isKept = false
    var requestID: UInt16?
    while let record = try records.next() {
      switch record.kind {
      case .beginRequest where record.content.count == 8:
        requestID = record.requestID
        isKept = record.content[2] & Self.keepsConnection != 0
        if record.content[1] != Self.responder {
          try records.write {
            Self.appendEnd(of: record.requestID, protocolStatus: Self.unknownRole, to: &$0)
          }
          return isKept
        }
      case .parameters where record.requestID == requestID:
        parameters += record.content
        guard parameters.count <= Self.largestParameters else { return false }
      case .input where record.requestID == requestID:
        guard record.content.isEmpty else {
          body += record.content
          guard body.count <= Self.largestBody else { return false }
          continue
        }
        try records.write { append(to: &$0, answerTo: record.requestID, parameters, body) }
        return isKept
      case .getValues:
        try records.write { bytes in
          let values = [("FCGI_MAX_CONNS", "1"), ("FCGI_MAX_REQS", "1"), ("FCGI_MPXS_CONNS", "0")]
          let content = FastCGIRecord.encode(values)
          FastCGIRecord.append(.getValuesResult, requestID: 0, content[...], to: &bytes)
        }
      case .abortRequest:
        return false
      default:
        break
      }
    }
    return false
  }

  private func append(
    to bytes: inout [UInt8], answerTo requestID: UInt16, _ parameters: [UInt8], _ body: [UInt8]
  ) {
    do {
      guard let pairs = FastCGIRecord.decodePairs(parameters) else {
        throw Refusal("Bad parameters.")
      }
      let content = try response(of: handler, body: body) { pairs[$0] }.encoded()
      FastCGIRecord.appendStream(.output, requestID: requestID, content[...], to: &bytes)
      Self.appendEnd(of: requestID, to: &bytes)
    } catch {
      let text = Array("\(error)\n".utf8)
      FastCGIRecord.appendStream(.errors, requestID: requestID, text[...], to: &bytes)
      Self.appendEnd(of: requestID, status: UInt8(EX_SOFTWARE), to: &bytes)
    }
  }

  /// Appends the record that ends a request (section 5.5).
  private static func appendEnd(
    of requestID: UInt16, status: UInt8 = 0, protocolStatus: UInt8 = 0, to bytes: inout [UInt8]
  ) {
    let content: [UInt8] = [0, 0, 0, status, protocolStatus, 0, 0, 0]
    FastCGIRecord.append(.endRequest, requestID: requestID, content[...], to: &bytes)
  }
}

/// Reads records from a connection, and writes others.
struct RecordReader {
  typealias Record = (kind: FastCGIRecord.Kind?, requestID: UInt16, content: [UInt8])

  let connection: FileDescriptor
  private var buffer: [UInt8] = []
  private var start = 0

  init(connection: FileDescriptor) { self.connection = connection }

  /// The next record; nil when the connection is closed, or the protocol's version is another one.
  mutating func next() throws -> Record? {
    guard let bytes = try take(FastCGIRecord.Header.size),
      let header = FastCGIRecord.Header(bytes),
      let content = try take(header.contentLength), try take(header.paddingLength) != nil
    else { return nil }
    return (header.kind, header.requestID, content)
  }

  private mutating func take(_ count: Int) throws -> [UInt8]? {
    while buffer.count - start < count {
      buffer.removeFirst(start)
      start = 0
      let piece = try connection.readSome(limit: 65_536)
      if piece.isEmpty { return nil }
      buffer += piece
    }
    defer { start += count }
    return Array(buffer[start..<start + count])
  }

  /// Writes what `encode` appends.
  func write(_ encode: (inout [UInt8]) throws -> Void) throws {
    var bytes: [UInt8] = []
    try encode(&bytes)
    try bytes.withUnsafeBytes { try connection.write($0) }
  }
}
