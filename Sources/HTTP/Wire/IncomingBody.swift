import Glibc
import Primitives

/// The body of a request while it is received: kept in memory, saved to a file or discarded, as the
/// plan for its response says.
final class IncomingBody {
  /// A body that the plan does not need is read and discarded up to this size, so that the connection
  /// can be kept; a longer one is rejected.
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
  private let file: BodyFile?
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
    var folder: String?
    switch plan {
    case .collectingBody(let limit, _, _): self.limit = limit
    case .savingBody(let limit, let name, _, _): (self.limit, folder) = (limit, name)
    case .immediate, .asynchronous, .deferred: limit = Self.discardLimit
    }
    switch body {
    case .none: framing = .sized(remaining: 0)
    case .chunked: framing = .chunked(ChunkedDecoder(maximumChunkSize: limit))
    case .sized(let size):
      framing = .sized(remaining: size)
      guard size <= limit else { throw .bodyTooLarge(limit: limit) }
    }
    if let folder { file = try BodyFile(in: folder) } else { file = nil }
  }

  var isComplete: Bool {
    switch framing {
    case .sized(let remaining): remaining == 0
    case .chunked(let decoder): decoder.isComplete
    }
  }

  /// The body's file, closed; nil if the plan does not save it.
  func finishFile() -> SavedBody? { file?.finish(size: size) }

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
      try file.write(piece)
    } else if case .collectingBody = plan {
      bytes.append(contentsOf: piece)
    }
  }
}

/// A new file that a body is written to, deleted unless it is finished.
private final class BodyFile {
  private let path: String
  /// Nil once the file is finished.
  private var descriptor: FileDescriptor?

  init(in folder: String) throws(HTTPError) {
    path = "\(folder)/upload-\(UInt64.random(in: .min ... .max))"
    do throws(Errno) {
      descriptor = try FileDescriptor(path, O_WRONLY | O_CREAT | O_EXCL)
    } catch {
      throw [EMFILE, ENFILE].contains(error.rawValue) ? .noDescriptor : Self.cannotWrite
    }
  }

  deinit { if descriptor != nil { unlink(path) } }

  // Blocks for as long as the page cache takes the bytes, on the event loop: they are not synchronized.
  func write(_ piece: UnsafeRawBufferPointer) throws(HTTPError) {
    do throws(Errno) { try descriptor?.write(piece) } catch { throw Self.cannotWrite }
  }

  /// Closes the file: who reads it may check that no process has it open for writing.
  func finish(size: Int) -> SavedBody {
    descriptor = nil
    return SavedBody(path: path, size: size)
  }

  private static let cannotWrite = HTTPError(
    507, "The body cannot be saved: no file could be written.")
}
