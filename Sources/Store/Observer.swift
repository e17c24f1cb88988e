import Synchronization

/// Somebody who wants to hear of commits, if anybody does.
///
/// The closure lies in a struct: taken out of a `Mutex` bare, it would be wrapped anew every time.
final class Observer<News: Sendable>: Sendable {
  private struct Ear {
    let hear: @Sendable (News) -> Void
  }

  private let ear = Mutex<Ear?>(nil)

  /// Tells `body` from now on; whoever was told before is told no more.
  func observe(_ body: @escaping @Sendable (News) -> Void) {
    ear.withLock { $0 = Ear(hear: body) }
  }

  func tell(_ news: News) {
    ear.withLock { $0 }?.hear(news)
  }
}
