import Glibc
import Primitives

/// A request body that is being received: kept in memory, saved to a file or discarded, depending on
/// the plan for the response.
final class IncomingBody {
  /// An unneeded body is read and discarded up to this size, so that the connection can be kept open;
  /// a longer one is rejected.
  private static let discardLimit = 64 << 10

  private enum Framing {
    case sized(remaining: Int)
    case chunked(ChunkedDecoder)
  }

  /// What is done when the body is complete.
  let plan: ResponsePlan
  /// The body, if the plan collects it.
  private(set) var bytes: [UInt8] = []
  private let limit: Int
  /// Where the body is saved, and the open file; deleted unless ``finishFile()`` is called.
  private let path: String?
  private var file: FileDescriptor?
  private var framing: Framing
  private var size = 0

  /// A body of which nothing has been received.
  ///
  /// - Parameters:
  ///   - body: how it is framed.
  ///   - plan: what it is for; neither deferred nor, if it is an error, immediate.
  /// - Throws: 413 if it is known to be too large; 503 or 507 if no file can be made for it.
  init(_ body: Request.Body, for plan: ResponsePlan) throws(HTTPError) {
    self.plan = plan
    switch plan {
    case .collectingBody(let limit, _, _, _): (self.limit, path) = (limit, nil)
    case .savingBody(let limit, let folder, _, _, _):
      (self.limit, path) = (limit, "\(folder)/upload-\(UInt64.random(in: .min ... .max))")
    case .immediate, .asynchronous, .deferred: (limit, path) = (Self.discardLimit, nil)
    }
    switch body {
    case .none: framing = .sized(remaining: 0)
    case .chunked: framing = .chunked(ChunkedDecoder(maximumChunkSize: limit))
    case .sized(let size):
      framing = .sized(remaining: size)
      guard size <= limit else { throw .bodyTooLarge(limit: limit) }
    }
    guard let path else { return }
    do throws(Errno) {
      file = try FileDescriptor(path, O_WRONLY | O_CREAT | O_EXCL)
    } catch {
      throw [EMFILE, ENFILE].contains(error.rawValue) ? .noDescriptor : Self.cannotWrite
    }
  }

  deinit { if file != nil, let path { unlink(path) } }

  var isComplete: Bool {
    switch framing {
    case .sized(let remaining): remaining == 0
    case .chunked(let decoder): decoder.isComplete
    }
  }

  /// The complete body's file, closed; nil if the plan does not save it.
  func finishFile() -> SavedBody? {
    file = nil  // its reader may check that no process has it open for writing
    return path.map { SavedBody(path: $0, size: size) }
  }

  /// Consumes the body's part of the received bytes.
  ///
  /// - Returns: how many bytes that is.
  func consume(_ received: UnsafeRawBufferPointer) throws(HTTPError) -> Int {
    switch framing {
    case .sized(let remaining):
      let count = min(remaining, received.count)
      framing = .sized(remaining: remaining - count)
      try append(UnsafeRawBufferPointer(rebasing: received[..<count]))
      return count
    case .chunked(var decoder):
      var position = 0
      while position < received.count, !decoder.isComplete {
        let rest = UnsafeRawBufferPointer(rebasing: received[position...])
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
    if let file {
      // Blocks the event loop only until the page cache has the bytes: they are not synchronized.
      do throws(Errno) { try file.write(piece) } catch { throw Self.cannotWrite }
    } else if case .collectingBody = plan {
      bytes.append(contentsOf: piece)
    }
  }

  private static let cannotWrite = HTTPError(
    507, "The body cannot be saved: no file could be written.")
}
