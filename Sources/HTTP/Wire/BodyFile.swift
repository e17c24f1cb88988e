import Glibc
import Primitives
import Synchronization

/// The file in which a request's body is saved; all but ``remove()`` may wait for the disk.
///
/// It is removed unless ``take(size:)`` was called.
final class BodyFile: Sendable {
  private struct State {
    var file: FileDescriptor?
    var isRemoved = false
  }

  private let path: String
  /// The bytes that must stay free on the file system.
  private let reserve: Int
  private let state = Mutex(State())

  /// A file of its own in a folder; it is not made yet.
  init(in folder: String, reserve: Int) {
    path = "\(folder)/upload-\(String.randomName())"
    self.reserve = reserve
  }

  /// Makes the file.
  ///
  /// - Parameter size: the bytes that are expected; 0 if that is not known.
  /// - Throws: 503 if no descriptor is left; 507 if there is no space for it, or it cannot be made.
  func open(expecting size: Int) throws(HTTPError) {
    try state.withLock { state throws(HTTPError) in
      guard !state.isRemoved else { return }
      try requireSpace(for: size)
      do throws(Errno) {
        state.file = try FileDescriptor(path, O_WRONLY | O_CREAT | O_EXCL)
      } catch {
        throw [EMFILE, ENFILE].contains(error.rawValue) ? .noDescriptor : Self.cannotWrite
      }
    }
  }

  /// Adds a piece to the file, as far as the page cache: it is not synchronized.
  ///
  /// - Throws: 507.
  func write(_ piece: [UInt8]) throws(HTTPError) {
    try state.withLock { state throws(HTTPError) in
      guard let file = state.file else { return }
      try requireSpace(for: piece.count)
      do throws(Errno) { try file.write(piece) } catch { throw Self.cannotWrite }
    }
  }

  /// Closes the complete file: its reader may check that no process has it open for writing.
  func close() { state.withLock { $0.file = nil } }

  /// Hands the complete file over.
  func take(size: Int) -> SavedBody {
    state.withLock { $0.isRemoved = true }
    return SavedBody(path: path, size: size)
  }

  /// Removes the file, on another thread.
  func remove() {
    Task(executorPreference: BlockingExecutor.bodies) { [self] in
      state.withLock { state in
        guard !state.isRemoved else { return }
        (state.file, state.isRemoved) = (nil, true)
        unlink(path)
      }
    }
  }

  private func requireSpace(for bytes: Int) throws(HTTPError) {
    var status = statvfs()
    guard reserve > 0, statvfs(path.folder, &status) == 0 else { return }
    let free = Int(clamping: status.f_bavail).multipliedReportingOverflow(
      by: Int(clamping: status.f_frsize))
    guard !free.overflow, free.partialValue - reserve < bytes else { return }
    throw Self.full
  }

  private static let cannotWrite = HTTPError(
    507, "The body cannot be saved: no file could be written.")
  private static let full = HTTPError(
    507, "The server's disk is full. Send the request again when there is enough space.")
}

extension String {
  /// The folder of a file's path.
  fileprivate var folder: String { lastIndex(of: "/").map { String(self[..<$0]) } ?? "." }
}
