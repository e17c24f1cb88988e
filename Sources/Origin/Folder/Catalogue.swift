import FoundationEssentials
import Store
import Synchronization

/// Keeps the catalogue of assets equal to the drop folder, while the server runs.
final class Catalogue: Sendable {
  private let store: Store
  private let folder: DropFolder
  private let assets: Assets
  private let log: Log
  private let arrivals: AsyncStream<Set<FolderWatch.Sight>>
  private let sights: AsyncStream<Set<FolderWatch.Sight>>.Continuation
  private let isLookPlanned = Mutex(false)
  private let work = Mutex<[Task<Void, Never>]>([])
  private let watch = Mutex<FolderWatch?>(nil)
  /// How often everything is looked at anyway: for network shares, which tell of no events.
  private static let interval = Duration.seconds(30)

  init(store: Store, folder: DropFolder, assets: Assets, log: Log) {
    (self.store, self.folder, self.assets, self.log) = (store, folder, assets, log)
    (arrivals, sights) = AsyncStream.makeStream()
  }

  /// Begins to look: at everything once, then at what changes.
  func start() {
    let watch = FolderWatch(folder.path) { [sights] in sights.yield($0) }
    if watch == nil {
      log(
        "the folder \(folder.path) is looked at every \(Self.interval): inotify has no watch left")
    }
    self.watch.withLock { $0 = watch }
    work.withLock { work in
      work.append(
        Task.detached(priority: .utility) {
          for await sights in self.arrivals {
            for case .name(let name, let richType) in sights { await self.look(richType, name) }
            if sights.contains(.everything) { await self.reconcile() }
            if sights.contains(.begun) { self.lookAgainSoon() }
          }
        })
      work.append(
        Task.detached(priority: .utility) {
          repeat {
            self.sights.yield([.everything])
            try? await Task.sleep(for: Self.interval)
          } while !Task.isCancelled
          self.sights.finish()
        })
    }
  }

  /// Ends the looking; what is being checked is finished first.
  func stop() {
    watch.withLock { $0.take() }?.stop()
    for task in work.withLock({ $0 }) { task.cancel() }
  }

  /// Looks at every file, and forgets the names whose files are gone.
  func reconcile() async {
    let richTypes = folder.richTypes()
    watch.withLock { $0?.follow(richTypes) }
    var present: Set<String> = []
    for richType in richTypes {
      for name in folder.names(richType) {
        guard !Task.isCancelled else { return }
        if let shown = await look(richType, name, isEvent: false) {
          present.insert(richType + "/" + shown)
        }
      }
    }
    await forget(except: present)
  }

  /// Looks at one name; gives the name under which the catalogue shows it, if it does.
  @discardableResult private func look(
    _ richType: String, _ name: String, isEvent: Bool = true
  ) async -> String? {
    if AssetName.isTemporary(name) { return nil }
    guard let assetName = AssetName(name) else {
      let shown = String(name.quoted.dropFirst().dropLast())
      await assets.refuse(richType, shown, "The name holds characters that hide what it says.")
      return shown
    }
    // A file that was written a moment ago may grow; its closing is an event of its own.
    if !isEvent, folder.isFresh(richType, assetName) {
      lookAgainSoon()
      return assetName.value
    }
    do throws(Refusal) {
      _ = try await assets.look(richType, assetName)
      return assetName.value
    } catch {
      if error.status != 404 { log("\(richType)/\(assetName.value): \(error.sentence)") }
      return error.status == 404 ? nil : assetName.value
    }
  }

  /// Looks at everything once what is being written now has had the time to be complete.
  private func lookAgainSoon() {
    guard
      isLookPlanned.withLock({ isPlanned in
        defer { isPlanned = true }
        return !isPlanned
      })
    else { return }
    Task.detached(priority: .utility) {
      try? await Task.sleep(for: .seconds(2))
      self.isLookPlanned.withLock { $0 = false }
      self.sights.yield([.everything])
    }
  }

  private func forget(except present: Set<String>) async {
    var after: (richType: String, name: String)?
    while let page = try? store.assets(limit: 500, after: after), let last = page.last {
      for asset in page where !present.contains(asset.richType + "/" + asset.name) {
        _ = try? await store.removeAsset(asset.richType, asset.name)
      }
      after = (last.richType, last.name)
    }
  }
}
