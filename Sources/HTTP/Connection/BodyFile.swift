import Glibc

/// A body that is written to a new file while it comes.
final class BodyFile {
  let limit: Int
  let deadline: Duration
  let work: @Sendable (SavedBody) async -> Response
  private let path: String
  private let descriptor: Int32
  private var size = 0
  private var isFinished = false

  init(
    limit: Int, folder: String, deadline: Duration,
    work: @escaping @Sendable (SavedBody) async -> Response
  ) throws(Refusal) {
    self.limit = limit
    self.deadline = deadline
    self.work = work
    path = "\(folder)/upload-\(UInt64.random(in: .min ... .max))"
    descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Self.noRoom }
  }

  deinit {
    guard !isFinished, descriptor >= 0 else { return }
    close(descriptor)
    unlink(path)
  }

  func append(_ piece: UnsafeRawBufferPointer) throws(Refusal) {
    guard size + piece.count <= limit else { throw .tooLarge(limit) }
    var rest = piece
    while !rest.isEmpty {
      let written = write(descriptor, rest.baseAddress, rest.count)
      guard written > 0 || errno == EINTR else { throw Self.noRoom }
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(max(0, written)))
    }
    size += piece.count
  }

  /// The file, whose owner is now whoever holds the result.
  func finish() -> SavedBody {
    isFinished = true
    close(descriptor)
    return SavedBody(path: path, size: size)
  }

  private static let noRoom = Refusal(507, "The body cannot be saved: no file could be written.")
}
