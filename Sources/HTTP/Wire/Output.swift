/// What is still to be sent on a connection, in order.
struct Output {
  enum Piece {
    case bytes([UInt8])
    case mapped(Mapping, Range<Int>)
    case file(OpenFile, Range<Int>)

    var count: Int {
      switch self {
      case .bytes(let bytes): bytes.count
      case .mapped(_, let range), .file(_, let range): range.count
      }
    }
  }

  private var pieces: [Piece]
  private var first = 0
  /// How much of the first piece has gone.
  private var sent = 0

  /// A head with its body, of which so many bytes have gone already.
  init(_ head: [UInt8] = [], _ body: [Piece] = [], sent: Int = 0) {
    if case .bytes(let bytes) = body.first, bytes.count <= Self.small {
      pieces = [.bytes(head + bytes)] + body.dropFirst()
    } else {
      pieces = [.bytes(head)] + body
    }
    leave(sent)
  }

  /// The most bytes that are copied so that they leave in one piece.
  private static let small = 64 << 10

  var isEmpty: Bool { pieces.isEmpty }

  /// How many bytes have not gone yet.
  var count: Int { pieces.dropFirst(first).reduce(-sent) { $0 + $1.count } }

  /// Sends as much as the channel takes.
  mutating func send(over channel: Channel) -> Channel.Progress {
    while first < pieces.count {
      let result =
        switch pieces[first] {
        case .file(let file, let range): channel.send(file, range.dropFirst(sent))
        case .mapped(let mapping, let range):
          channel.send(.empty, .empty, mapping.bytes(range.dropFirst(sent)))
        case .bytes(let bytes): send(bytes, over: channel)
        }
      guard case .done(let count) = result else { return result }
      let isShort = count < offered
      leave(count)
      // A socket that takes a part is full, and epoll tells when it is not; a record of TLS is a part.
      if isShort, channel.tls == nil { return .blocked }
    }
    return .done(0)
  }

  /// How many bytes are sent in one go, if they are taken.
  private var offered: Int {
    guard case .bytes = pieces[first], first + 1 < pieces.count,
      case .mapped(_, let next) = pieces[first + 1]
    else { return pieces[first].count - sent }
    return pieces[first].count - sent + next.count
  }

  /// Sends bytes together with the mapped ones that follow them.
  private func send(_ bytes: [UInt8], over channel: Channel) -> Channel.Progress {
    bytes.withUnsafeBytes { bytes in
      let bytes = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(sent))
      guard first + 1 < pieces.count else { return channel.send(bytes, .empty, .empty) }
      switch pieces[first + 1] {
      case .mapped(let mapping, let range):
        return channel.send(bytes, .empty, mapping.bytes(range))
      default: return channel.send(bytes, .empty, .empty, isMoreToCome: true)
      }
    }
  }

  private mutating func leave(_ count: Int) {
    sent += count
    while first < pieces.count, sent >= pieces[first].count {
      sent -= pieces[first].count
      first += 1
    }
    if first == pieces.count { (pieces, first) = ([], 0) }
  }
}
