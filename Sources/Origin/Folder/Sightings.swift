import Synchronization

/// Gathers what was seen in the folder until somebody has the time to look.
final class Sightings: Sendable {
  /// A name in a rich type's folder.
  struct Place: Hashable {
    let richType: String
    let entry: FolderEntry
  }

  /// What there is to look at.
  struct Work {
    /// The names, and whether the kernel told that their writers are through.
    var names: [Place: Bool] = [:]
    var isEverything = false
  }

  private struct State {
    var work = Work()
    /// Names that appeared and have not been told complete: links and pipes never are.
    var begun: [Place: ContinuousClock.Instant] = [:]
    var isTimed = false
  }

  /// Speaks up when there is something to look at.
  let arrivals: AsyncStream<Void>
  private let wake: AsyncStream<Void>.Continuation
  private let state = Mutex(State())
  /// What is soon complete, or a link or a pipe that never is, can be told this much later.
  private static let patience = Duration.milliseconds(500)
  /// What has to wait, as for the rest of its bytes or for room on the disk, is looked at this often.
  private static let pause = Duration.seconds(2)

  init() { (arrivals, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

  /// Notes what the kernel told, in its order.
  func see(_ sights: [FolderWatch.Sight]) {
    let mustTime = state.withLock { state in
      for sight in sights {
        switch sight {
        case .everything, .lost: state.work.isEverything = true
        case .complete(let place):
          state.work.names[place] = true
          state.begun[place] = nil
        case .begun(let place): state.begun[place] = .now + Self.patience
        }
      }
      defer { if !state.begun.isEmpty { state.isTimed = true } }
      return !state.begun.isEmpty && !state.isTimed
    }
    if mustTime { time() }
    wake.yield()
  }

  /// Asks for another look at what could not be taken yet.
  func seeAgain(_ place: Place) {
    let mustTime = state.withLock { state in
      state.begun[place] = .now + Self.pause
      defer { state.isTimed = true }
      return !state.isTimed
    }
    if mustTime { time() }
  }

  /// Asks for a look at everything.
  func seeEverything() { see([.everything]) }

  /// Takes what there is to look at.
  func take() -> Work {
    state.withLock { state in
      defer { state.work = Work() }
      return state.work
    }
  }

  /// Nothing more is to come.
  func finish() { wake.finish() }

  /// Looks at what was begun once it has had the time to be complete.
  private func time() {
    Task.detached(priority: .utility) { [weak self] in
      try? await Task.sleep(for: Self.patience)
      guard let self else { return }
      let isMore = state.withLock { state in
        for (place, due) in state.begun where due <= .now {
          state.begun[place] = nil
          state.work.names[place] = false
        }
        state.isTimed = !state.begun.isEmpty
        return state.isTimed
      }
      wake.yield()
      if isMore { time() }
    }
  }
}
