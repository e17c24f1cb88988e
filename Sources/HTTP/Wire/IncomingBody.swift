import Primitives

/// A request body that is being received: kept in memory, saved to a file or discarded, depending on
/// the plan for the response.
///
/// An event loop receives it, but never writes to its file: that is done by ``Saving`` on another thread, a piece at a
/// time. While a piece is written the next one is received, and no more.
final class IncomingBody {
  /// An unneeded body is read and discarded up to this size, so that the connection can be kept open;
  /// a longer one is rejected.
  private static let discardLimit = 64 << 10
  /// The size of the pieces that are written to a file.
  private static let pieceSize = 256 << 10

  private enum Framing {
    case sized(remaining: Int)
    case chunked(ChunkedDecoder)
  }

  /// What is done when the body is complete.
  let plan: ResponsePlan
  /// The body if the plan collects it, or its part that is to be saved next.
  private(set) var bytes: [UInt8] = []
  private let limit: Int
  /// Where the body is saved.
  private let file: BodyFile?
  private var framing: Framing
  private var size = 0
  /// The bytes that were received of it, which are more than its size if it is chunked.
  private(set) var received = 0

  /// How far the file is.
  private enum FileState { case new, open, closed, handedOver }
  private var fileState = FileState.new
  /// Whether a thread is at work on the file.
  private(set) var isSaving = false

  /// A body of which nothing has been received.
  ///
  /// - Parameters:
  ///   - body: how it is framed.
  ///   - plan: what it is for; neither deferred nor, if it is an error, immediate.
  /// - Throws: 413 if it is known to be too large.
  init(_ body: Request.Body, for plan: ResponsePlan) throws(HTTPError) {
    self.plan = plan
    switch plan {
    case .collectingBody(let limit, _, _, _): (self.limit, file) = (limit, nil)
    case .savingBody(let limit, let folder, let reserve, _, _, _):
      (self.limit, file) = (limit, BodyFile(in: folder, reserve: reserve))
    case .immediate, .asynchronous, .deferred: (limit, file) = (Self.discardLimit, nil)
    }
    switch body {
    case .none: framing = .sized(remaining: 0)
    case .chunked: framing = .chunked(ChunkedDecoder(maximumChunkSize: limit))
    case .sized(let size):
      framing = .sized(remaining: size)
      guard size <= limit else { throw .bodyTooLarge(limit: limit) }
    }
  }

  deinit { if fileState == .open || fileState == .closed { file?.remove() } }

  /// Whether all of it was received.
  var isReceived: Bool {
    switch framing {
    case .sized(let remaining): remaining == 0
    case .chunked(let decoder): decoder.isComplete
    }
  }

  /// Whether it was received, and is in its file if the plan saves it.
  var isComplete: Bool { isReceived && (file == nil || fileState == .closed && !isSaving) }

  /// Whether more of it may be received now.
  var wantsBytes: Bool { !isReceived && (file == nil || bytes.count < Self.pieceSize) }

  /// The complete body's file; nil if the plan does not save it.
  func finishFile() -> SavedBody? {
    fileState = .handedOver
    return file.map { $0.take(size: size) }
  }

  /// Consumes the body's part of the received bytes.
  ///
  /// - Returns: how many bytes that is.
  func consume(_ bytes: UnsafeRawBufferPointer) throws(HTTPError) -> Int {
    let count = try decode(bytes)
    received += count
    return count
  }

  private func decode(_ bytes: UnsafeRawBufferPointer) throws(HTTPError) -> Int {
    switch framing {
    case .sized(let remaining):
      let count = min(remaining, bytes.count)
      framing = .sized(remaining: remaining - count)
      try append(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
      return count
    case .chunked(var decoder):
      var position = 0
      while position < bytes.count, !decoder.isComplete {
        let rest = UnsafeRawBufferPointer(rebasing: bytes[position...])
        let (used, content) = try decoder.next(rest)
        try append(UnsafeRawBufferPointer(rebasing: rest[content]))
        position += used
      }
      framing = .chunked(decoder)
      return position
    }
  }

  private func append(_ piece: UnsafeRawBufferPointer) throws(HTTPError) {
    guard !piece.isEmpty else { return }
    size += piece.count
    guard size <= limit else { throw .bodyTooLarge(limit: limit) }
    if file != nil {
      bytes.append(contentsOf: piece)
    } else if case .collectingBody = plan {
      bytes.append(contentsOf: piece)
    }
  }
}

// MARK: - The file

extension IncomingBody {
  /// Work on a body's file, for a thread that may wait for the disk.
  struct Saving: Sendable {
    fileprivate let file: BodyFile
    /// Set if the file must be made first: the size to expect.
    fileprivate let newSize: Int?
    fileprivate let piece: [UInt8]
    fileprivate let isLast: Bool

    /// Does it; the error is the response.
    func run() throws(HTTPError) {
      if let newSize { try file.open(expecting: newSize) }
      if !piece.isEmpty { try file.write(piece) }
      if isLast { file.close() }
    }
  }

  /// What must be done next, after which ``endSaving()`` is to be called; nil if nothing is to be done now.
  func beginSaving() -> Saving? {
    guard let file, !isSaving, fileState == .new || fileState == .open else { return nil }
    guard fileState == .new || bytes.count >= Self.pieceSize || isReceived else { return nil }
    var newSize: Int?
    if fileState == .new {
      newSize = if case .sized(let remaining) = framing { size + remaining } else { 0 }
    }
    let saving = Saving(file: file, newSize: newSize, piece: bytes, isLast: isReceived)
    (bytes, fileState, isSaving) = ([], isReceived ? .closed : .open, true)
    return saving
  }

  /// The work is done.
  func endSaving() { isSaving = false }
}
