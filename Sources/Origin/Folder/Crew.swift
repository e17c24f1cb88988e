import Foundation
import Synchronization

/// A few threads that may wait for the disk and for plugins, so that Swift's own never do.
///
/// What is done with a file is done on one of them from its first byte to its plugin's answer. The
/// longest part of taking a small file in would else be the way from thread to thread.
final class Crew: TaskExecutor {
  /// Takes in what comes into the drop folder: while two wait for plugins, the others keep all
  /// processors busy; more would only get in each other's way.
  static let intake = Crew(threads: ProcessInfo.processInfo.activeProcessorCount + 2)

  private struct Line {
    /// Those to come, and those whose turn it is, the first one last.
    var arrivals: [UnownedJob] = []
    var turn: [UnownedJob] = []
    /// How many threads sleep, and whether one was called that has not come yet.
    var asleep = 0
    var isCalled = false

    mutating func next() -> UnownedJob? {
      if turn.isEmpty {
        swap(&turn, &arrivals)
        turn.reverse()
      }
      return turn.popLast()
    }

    /// Whether to call one more: each that comes calls the next if there is more than it can do.
    mutating func mustCall() -> Bool {
      guard !isCalled, asleep > 0, !(turn.isEmpty && arrivals.isEmpty) else { return false }
      isCalled = true
      asleep -= 1
      return true
    }
  }

  private let line = Mutex(Line())
  private let bell = DispatchSemaphore(value: 0)

  /// Starts the threads, which stay for as long as the process does.
  init(threads: Int) {
    for _ in 0..<threads { Thread.detachNewThread { self.work() } }
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let mustCall = line.withLock { line in
      line.arrivals.append(job)
      return line.mustCall()
    }
    if mustCall { bell.signal() }
  }

  /// Does work on these threads: what it calls may wait there.
  func run<R, E>(_ body: () async throws(E) -> R) async throws(E) -> R {
    let result = await withTaskExecutorPreference(self) { () async -> Result<R, E> in
      do throws(E) { return .success(try await body()) } catch { return .failure(error) }
    }
    return try result.get()
  }

  private func work() {
    while true {
      let (job, mustCall) = line.withLock { line in
        let job = line.next()
        if job == nil { line.asleep += 1 }
        return (job, line.mustCall())
      }
      if mustCall { bell.signal() }
      if let job {
        job.runSynchronously(on: asUnownedTaskExecutor())
      } else {
        bell.wait()
        line.withLock { $0.isCalled = false }
      }
    }
  }
}
