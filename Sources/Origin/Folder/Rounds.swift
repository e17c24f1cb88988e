import Store
import Synchronization

/// What is done with the names of a drop folder.
protocol FolderReader: Sendable {
  /// Asks for another look at a file whose bytes are still coming.
  typealias Again = @Sendable (Sightings.Place) -> Void

  var folder: DropFolder { get }
  /// Looks at these names; the values tell whether their writers are known to be through.
  func look(at names: [Sightings.Place: Bool], again: @escaping Again) async
  /// Looks at everything; gives the trouble it had with the folder.
  func lookAtEverything(again: @escaping Again) async -> String?
}

/// Keeps an eye on a drop folder while the server runs: looks at all of it, then at what changes.
final class Rounds: Sendable {
  private let reader: any FolderReader
  private let log: Log
  private let sightings = Sightings()
  private let work = Mutex<[Task<Void, Never>]>([])
  private let watch = Mutex<FolderWatch?>(nil)
  private let pace: Mutex<Pace>

  init(_ reader: any FolderReader, log: Log) {
    (self.reader, self.log) = (reader, log)
    pace = Mutex(Pace(isShare: Pace.isShare(reader.folder.path)))
  }

  /// Begins to look: at everything once, then at what changes.
  func start() {
    watch.withLock {
      $0 = FolderWatch(reader.folder.path) { [sightings, reader, log] sights in
        if sights.contains(.lost) {
          log("\(reader.folder.path) is looked at as a whole: too much happened to tell it apart")
        }
        sightings.see(sights)
      }
    }
    let looking = Task.detached(executorPreference: Crew.intake, priority: .utility) {
      for richType in self.richTypes { self.reader.folder.sweep(richType) }
      for await _ in self.sightings.arrivals where !Task.isCancelled {
        let seen = self.sightings.take()
        await self.reader.look(at: seen.names, again: self.again)
        if seen.isEverything { await self.lookAtEverything() }
      }
    }
    let asking = Task.detached(priority: .utility) {
      repeat {
        self.sightings.seeEverything()
        try? await Task.sleep(for: self.pace.withLock { $0.interval })
      } while !Task.isCancelled
      self.sightings.finish()
    }
    work.withLock { $0 = [looking, asking] }
  }

  /// Ends the looking; what is being checked is finished first.
  func stop() {
    watch.withLock { $0.take() }?.stop()
    for task in work.withLock({ $0 }) { task.cancel() }
  }

  private var richTypes: [String] { (try? reader.folder.richTypes().types) ?? [] }

  private var again: FolderReader.Again {
    { [sightings] in sightings.seeAgain($0) }
  }

  private func lookAtEverything() async {
    let start = ContinuousClock.now
    // A folder is watched before it is looked at: what comes in between is seen twice, not missed.
    let isWatched = watch.withLock { $0?.follow(richTypes) ?? false }
    let trouble = await reader.lookAtEverything(again: again)
    let was = pace.withLock { pace in
      defer { pace.note(ContinuousClock.now - start, isWatched: isWatched, trouble: trouble) }
      return pace
    }
    if let trouble, trouble != was.trouble { log(trouble) }
    if !isWatched, was.isWatched {
      log("\(reader.folder.path) is looked at again and again: the kernel grants no watch")
    }
  }
}
