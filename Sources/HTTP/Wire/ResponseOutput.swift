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
    case mapped(FileMapping, Range<Int>)
    case file(SendfileDescriptor, Range<Int>)

    var count: Int {
      switch self {
      case .bytes(let bytes): bytes.count
      case .mapped(_, let range), .file(_, let range): range.count
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
        switch pieces[first] {
        case .file(let file, let range):
          transport.send(file: file.descriptor.number, range.dropFirst(sent))
        case .mapped(let mapping, let range): transport.send(mapping.bytes(range.dropFirst(sent)))
        case .bytes(let bytes): send(bytes, over: transport)
        }
      guard case .done(let count) = result else { return result }
      let isPartial = count < offered
      remove(count)
      // The socket's buffer is full, and epoll reports when it is not. Over TLS a partial send means
      // only that the record was full.
      if isPartial, transport.tls == nil { return .blocked }
    }
    return .done(0)
  }

  /// The bytes that one call of the transport tries to send.
  private var offered: Int {
    guard case .bytes = pieces[first], first + 1 < pieces.count,
      case .mapped(_, let next) = pieces[first + 1]
    else { return pieces[first].count - sent }
    return pieces[first].count - sent + next.count
  }

  /// Sends bytes together with the mapped ones that follow them.
  private func send(_ bytes: [UInt8], over transport: Transport) -> Transport.Progress {
    bytes.withUnsafeBytes { bytes in
      let bytes = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(sent))
      guard first + 1 < pieces.count else { return transport.send(bytes) }
      guard case .mapped(let mapping, let range) = pieces[first + 1] else {
        return transport.send(bytes, hasMore: true)
      }
      return transport.send(bytes, .empty, mapping.bytes(range))
    }
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

  init(_ mapping: FileMapping, _ parts: [Range<Int>], mediaType: String) {
    for part in parts {
      let head =
        "\r\n--\(boundary)\r\nContent-Type: \(mediaType)\r\n"
        + "Content-Range: \(part.contentRange(of: mapping.size))\r\n\r\n"
      pieces += [.bytes(Array(head.utf8)), .mapped(mapping, part)]
    }
    pieces.append(.bytes(Array("\r\n--\(boundary)--\r\n".utf8)))
  }

  var size: Int { pieces.reduce(0) { $0 + $1.count } }
}

extension Range<Int> {
  /// The value of Content-Range (RFC 9110, section 14.4).
  func contentRange(of size: Int) -> String { "bytes \(lowerBound)-\(upperBound - 1)/\(size)" }
}
