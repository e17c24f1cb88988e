import Glibc
import Synchronization

/// A fixed number of threads that may block for long, so that the threads of Swift's cooperative pool do not.
///
/// Use it as a task executor for work that waits for the disk or for a process from its first step to its
/// last: for small files, a hop from thread to thread costs more than the work.
package final class BlockingExecutor: TaskExecutor {
  private struct Queue {
    /// New jobs, and the batch being worked through, its first job last: each is appended or popped in
    /// constant time.
    var arrivals: [UnownedJob] = []
    var batch: [UnownedJob] = []
    var sleeping = 0
    /// Whether a thread was woken that has not looked at the queue yet.
    var isWaking = false

    mutating func next() -> UnownedJob? {
      if batch.isEmpty {
        swap(&batch, &arrivals)
        batch.reverse()
      }
      return batch.popLast()
    }

    /// Whether to wake one more thread.
    ///
    /// Each thread that wakes wakes the next if there is work for it, so that a short job does not wake all
    /// of them.
    mutating func mustWake() -> Bool {
      guard !isWaking, sleeping > 0, !(batch.isEmpty && arrivals.isEmpty) else { return false }
      isWaking = true
      sleeping -= 1
      return true
    }
  }

  private let queue = Mutex(Queue())
  // A POSIX semaphore: plugins link this module, and linking Dispatch would slow their start.
  nonisolated(unsafe) private let wake = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

  /// Starts `threads` threads, which run until the process ends.
  package init(threads: Int) {
    sem_init(wake, 0, 0)
    for _ in 0..<threads { DetachedThread.start(named: "blocking") { self.run() } }
  }

  /// Queues a job (`TaskExecutor`).
  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let mustWake = queue.withLock { queue in
      queue.arrivals.append(job)
      return queue.mustWake()
    }
    if mustWake { sem_post(wake) }
  }

  /// Runs `body` on these threads; it and what it calls may block.
  ///
  /// It is `@concurrent` because it would else stay on the caller's thread until it first waits.
  package func run<R: Sendable, E>(
    _ body: @concurrent () async throws(E) -> R
  ) async throws(E) -> R {
    let result = await withTaskExecutorPreference(self) { () async -> Result<R, E> in
      do throws(E) { return .success(try await body()) } catch { return .failure(error) }
    }
    return try result.get()
  }

  private func run() -> Never {
    while true {
      let (job, mustWake) = queue.withLock { queue in
        let job = queue.next()
        if job == nil { queue.sleeping += 1 }
        return (job, queue.mustWake())
      }
      if mustWake { sem_post(wake) }
      if let job {
        job.runSynchronously(on: asUnownedTaskExecutor())
      } else {
        while sem_wait(wake) != 0 {}  // a signal interrupted it
        queue.withLock { $0.isWaking = false }
      }
    }
  }
}
