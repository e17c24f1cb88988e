/// A body that is on its way, and what becomes of it.
final class IncomingBody {
  /// A body that nobody wants is read and dropped up to this size; a longer one costs the connection.
  static let dropLimit = 64 * 1024

  enum Use {
    case dropped(then: Next)
    case collected(BodyBuffer)
    case saved(BodyFile)

    /// The most bytes that it may have.
    var limit: Int {
      switch self {
      case .dropped: IncomingBody.dropLimit
      case .collected(let buffer): buffer.limit
      case .saved(let file): file.limit
      }
    }
  }

  /// What follows a body that nobody wants.
  enum Next {
    case reply(Response)
    case work(Duration, @Sendable () async -> Response)
  }

  private enum Framing {
    case sized(left: Int)
    case chunked(ChunkedBody)
  }

  let use: Use
  private var framing: Framing
  private var dropped = 0

  /// - Throws: 413 when it is known to be too large.
  init(_ body: Request.Body, use: Use) throws(Refusal) {
    self.use = use
    switch body {
    case .none: framing = .sized(left: 0)
    case .chunked: framing = .chunked(ChunkedBody(limit: use.limit))
    case .sized(let size):
      framing = .sized(left: size)
      guard size <= use.limit else { throw .tooLarge(use.limit) }
    }
  }

  var isComplete: Bool {
    switch framing {
    case .sized(let left): left == 0
    case .chunked(let chunks): chunks.isComplete
    }
  }

  /// Takes what belongs to it from what has come, and says how much that is.
  func take(_ bytes: UnsafeRawBufferPointer) throws(Refusal) -> Int {
    switch framing {
    case .sized(let left):
      let count = min(left, bytes.count)
      framing = .sized(left: left - count)
      try keep(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
      return count
    case .chunked(var chunks):
      var position = 0
      while position < bytes.count, !chunks.isComplete {
        let left = UnsafeRawBufferPointer(rebasing: bytes[position...])
        let (used, piece) = try chunks.next(left)
        try keep(UnsafeRawBufferPointer(rebasing: left[piece]))
        position += used
      }
      framing = .chunked(chunks)
      return position
    }
  }

  private func keep(_ piece: UnsafeRawBufferPointer) throws(Refusal) {
    guard !piece.isEmpty else { return }
    switch use {
    case .collected(let buffer): try buffer.append(piece)
    case .saved(let file): try file.append(piece)
    case .dropped:
      dropped += piece.count
      guard dropped <= Self.dropLimit else { throw .tooLarge(Self.dropLimit) }
    }
  }
}
