import FoundationEssentials
import Media
package import Primitives
package import Store
import Synchronization

/// Work after commits: writing large audiences, finding due ones, announcing due notifications, publishers' event streams, and the webhook.
package final class CommitWorkers: Sendable {
  private let workers: [CommitWorker]
  private let tasks = Mutex<[Task<Void, Never>]>([])

  /// Creates workers that have not started; `notifyStreams` is called after every commit.
  package init(
    store: Store, publisher: Publisher, webhook: WebhookDelivery, log: Log,
    notifyStreams: @escaping @Sendable () -> Void
  ) {
    let announcements = CommitWorker {
      do {
        return try await store.events.releaseHeldEvents()
      } catch let error as StoreError where error.code == .full {
        // The log has that already; they follow when there is space.
        return nil
      } catch {
        log(.error, "push", "due notifications could not be announced: \(error.logDescription)")
        return nil
      }
    }
    let audiences = CommitWorker {
      do {
        // With the last part and the sync to disk, the writer is held for less than 20 ms.
        while !Task.isCancelled,
          try await store.notifications.writeNextParts(within: .milliseconds(8))
        {}
      } catch let error as StoreError where error.code == .full {
        // The log has that already; the rest follows when there is space.
      } catch {
        log(.error, "push", "an audience could not be written: \(error.logDescription)")
      }
      return nil
    }
    let dueAudiences = CommitWorker {
      // Nodes that did it at once would do the same.
      guard store.observers.lead.isHeld else { return nil }
      do {
        return try await publisher.announceDue { log(.error, "push", $0) }
      } catch {
        log(
          .error, "push",
          "the recipients of due notifications could not be found: \(error.logDescription)")
        return nil
      }
    }
    let streams = CommitWorker {
      notifyStreams()
      return nil
    }
    let delivery = CommitWorker {
      if store.observers.lead.isHeld { return await webhook.deliver() }
      await webhook.passOn()
      return nil
    }
    workers = [audiences, dueAudiences, announcements, streams, delivery]
    store.observers.onCommit.add { [workers] in
      for worker in workers { worker.signal.send() }
    }
    // The rest is done by the node that has committed.
    store.observers.onOthersCommit.add {
      for worker in [dueAudiences, streams, delivery] { worker.signal.send() }
    }
  }

  /// Starts.
  package func start() {
    tasks.withLock { tasks in
      tasks += workers.map { worker in Task { await worker.run() } }
    }
  }

  /// Stops; undelivered events stay in the store.
  package func stop() {
    tasks.withLock { tasks in
      for task in tasks { task.cancel() }
      tasks = []
    }
  }
}

/// Works after every commit, when more is due, and every few seconds for commits of other processes.
private struct CommitWorker: Sendable {
  let signal = WakeSignal()
  private let work: @Sendable () async -> Date?
  private static let pollInterval: TimeInterval = 5

  /// `work` does all work that is due, and returns when more will be due, if known.
  init(_ work: @escaping @Sendable () async -> Date?) { self.work = work }

  func run() async {
    while !Task.isCancelled {
      let next = await work()?.timeIntervalSinceNow ?? Self.pollInterval
      let pause = Duration.seconds(max(0, min(next, Self.pollInterval)))
      await signal.wait { try await Task.sleep(for: pause) }
    }
  }
}
