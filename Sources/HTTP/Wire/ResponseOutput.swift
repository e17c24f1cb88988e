import Primitives

/// Writes the head of a response (RFC 9112, section 4) in two parts.
///
/// The first part is the same for every request and can be cached; the second depends on the time and
/// the connection.
enum ResponseHead {
  /// How the client knows where the body ends (RFC 9112, section 6.3).
  enum Framing {
    case length(Int)
    case chunked
    /// There is no body, or it ends with the connection.
    case none
  }

  /// What happens to the connection after the response (RFC 9112, section 9.3); for HTTP/1.0 clients
  /// a Connection field must say that it is kept open.
  enum Persistence: Int, CaseIterable { case keptOpen, keptOpenForHTTP10, closed }

  /// Status line and fields, to be followed by an end.
  static func bytes(_ status: Int, _ fields: Fields, _ framing: Framing) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(512)
    bytes += "HTTP/1.1 \(status) \(ProblemDetails.reasonPhrase(of: status))\r\n".utf8
    fields.write(to: &bytes)
    switch framing {
    case .length(let size): bytes += "Content-Length: \(size)\r\n".utf8
    case .chunked: bytes += "Transfer-Encoding: chunked\r\n".utf8
    case .none: break
    }
    if fields[Fields.resourcePolicy] == nil {
      bytes += "\(Fields.resourcePolicy): same-origin\r\n".utf8
    }
    bytes += "X-Content-Type-Options: nosniff\r\n".utf8
    return bytes
  }

  /// The end of a head: Date, Connection and the empty line.
  static func end(date: String, _ persistence: Persistence) -> [UInt8] {
    let connection =
      switch persistence {
      case .keptOpen: ""
      case .keptOpenForHTTP10: "Connection: keep-alive\r\n"
      case .closed: "Connection: close\r\n"
      }
    return Array("Date: \(date)\r\n\(connection)\r\n".utf8)
  }
}

/// The bytes that a connection still has to send, in order.
struct OutputQueue {
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

  private var pieces: [Piece]
  private var first = 0
  /// The bytes of the first piece that were sent.
  private var sent = 0

  /// A head and its body, of which `sent` bytes were sent already.
  init(_ head: [UInt8] = [], _ body: [Piece] = [], sent: Int = 0) {
    if case .bytes(let bytes) = body.first, bytes.count <= Self.copyLimit {
      pieces = [.bytes(head + bytes)] + body.dropFirst()
    } else {
      pieces = [.bytes(head)] + body
    }
    remove(sent)
  }

  var isEmpty: Bool { pieces.isEmpty }

  /// The bytes that were not sent yet.
  var count: Int { pieces.dropFirst(first).reduce(-sent) { $0 + $1.count } }

  /// Sends as much as the transport accepts; done when the queue is empty.
  mutating func send(over transport: Transport) -> Transport.Progress {
    while first < pieces.count {
      let result =
        if let tls = transport.tls {
          tls.send { copy(into: $0) }
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

/// Several ranges of a file as `multipart/byteranges` (RFC 9110, section 14.6).
struct MultipartByteRanges {
  /// Random, so that no file can contain it on purpose.
  let boundary = "part-\(UInt64.random(in: .min ... .max))"
  private(set) var pieces: [OutputQueue.Piece] = []

  init(_ file: PreparedFile, _ parts: [Range<Int>]) {
    for part in parts {
      let head =
        "\r\n--\(boundary)\r\nContent-Type: \(file.content.mediaType)\r\n"
        + "Content-Range: \(part.contentRange(of: file.content.size))\r\n\r\n"
      pieces += [.bytes(Array(head.utf8)), file.part(part)]
    }
    pieces.append(.bytes(Array("\r\n--\(boundary)--\r\n".utf8)))
  }

  var size: Int { pieces.reduce(0) { $0 + $1.count } }
}

extension Range<Int> {
  /// The value of Content-Range (RFC 9110, section 14.4).
  func contentRange(of size: Int) -> String { "bytes \(lowerBound)-\(upperBound - 1)/\(size)" }
}
