import CLinux
import Glibc

/// Hears of changes in folders (inotify): twice, so that who looks takes nothing from who waits.
final class ChangeWatch: Sendable {
  /// Becomes readable with a change; nil when the system has no more of its kind.
  let queue: Descriptor?
  private let news: Descriptor?

  init() {
    queue = Descriptor(cinotify_open())
    news = Descriptor(cinotify_open())
  }

  /// Hears of a folder from now on; what is no folder, or no longer there, is left out.
  func add(_ folder: String) {
    // Asked again even for a known path: another folder may have come in its place.
    for queue in [queue, news] {
      if let queue { _ = cinotify_watch_content(queue.number, folder) }
    }
  }

  /// Whether anything has changed since this was asked last; true when that cannot be told.
  var hasChanged: Bool {
    guard let news else { return true }
    // A few changes at a time: what is left is heard of next.
    return withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 16) { buffer in
      if case .notYet = news.read(into: buffer) { false } else { true }
    }
  }

  /// Empties ``queue``.
  func settle() { _ = queue?.drain { _ in } }
}
