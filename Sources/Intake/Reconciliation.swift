import Media
import RichPushAPI
import Store
import Primitives

/// Publishes dropped files that have a sidecar.
package protocol SidecarPublishing: Sendable {
  /// Publishes a file as its sidecar specifies; returns after what time it must be retried, or nil.
  ///
  /// `report` is what the kernel has reported of the file, or of its sidecar.
  func publish(
    _ richType: String, _ file: String, _ report: PendingChanges.Report, ofSidecar: Bool
  ) async -> Duration?
}

/// Makes the catalogue equal to the drop folder, name by name.
package struct Reconciliation: FolderProcessor {
  let assets: AssetIntake
  /// Nil if the operator has not enabled publishing.
  let publisher: (any SidecarPublishing)?

  /// Creates the processor of a drop folder's assets.
  package init(assets: AssetIntake, publisher: (any SidecarPublishing)?) {
    (self.assets, self.publisher) = (assets, publisher)
  }

  /// The drop folder.
  package var folder: DropFolder { assets.folder }

  /// The rich types' folders; without a publisher also the publish folder, to list its files as not
  /// sent.
  package var watchedFolders: [String] {
    let types = (try? folder.richTypes().types) ?? []
    guard publisher == nil, let publishFolder = folder.publishFolder else { return types }
    let name = DropFolder.publishFolderName
    return types + [name] + ((try? publishFolder.richTypes().types) ?? []).map { name + "/" + $0 }
  }

  /// The rich type under which the catalogue lists files in the drop folder itself.
  package static let root = "."
  /// Files examined concurrently: more than threads, since most wait for fsync.
  package static let width = 256

  /// Examines every name, and removes assets whose files do not exist any more.
  package func processAll(retry: @escaping Retry) async -> String? {
    let found: (types: [String], others: [FolderEntry])
    do throws(ServiceError) {
      found = try folder.richTypes()
    } catch {
      await assets.refuse(Self.root, Self.root, error.reason, stamp: folder.unstamped)
      return error.reason
    }
    await refuseMisplaced(found.others)
    for richType in found.types { await reconcile(richType, retry) }
    if publisher == nil { await assets.recordUnsent(folder.unsentWithoutPublisher) }
    let kept = Set(found.types + [Self.root, DropFolder.publishFolderName])
    for type in (try? await assets.store.assets.assetTypes()) ?? [] where !kept.contains(type) {
      await forget(type, (try? await assets.store.assets.assetStamps(type)) ?? [:], except: [])
    }
    return nil
  }

  /// Examines these names.
  package func process(
    _ names: [PendingChanges.Location: PendingChanges.Report], retry: @escaping Retry
  ) async {
    var (names, known) = (names, [String: FolderNames]())
    let files = names.keys.filter { !$0.entry.isForeign }
    for (richType, locations) in Dictionary(grouping: files, by: \.richType) {
      assets.validator.prestart(richType, calls: locations.count)
      let found = folder.names(richType, for: locations.map(\.entry.shown))
      // What is done with one form of a name depends on the others.
      for location in locations {
        for other in found.forms(of: location.entry.shown) {
          let location = PendingChanges.Location(richType: richType, entry: other)
          names[location] = names[location] ?? PendingChanges.Report.none
        }
      }
      known[richType] = found
    }
    let byType = known
    // The author waits for the result; background renditions are made after all have been examined.
    await assets.foreground.track {
      // Recorded in the order of the catalogue, which changes fewer pages of the database.
      let sorted = names.sorted { $0.key.entry.shown > $1.key.entry.shown }
      await sorted.forEachConcurrently(Self.width) { location, report in
        await examine(
          location, report, among: byType[location.richType] ?? .none, retry)
      }
    }
  }

  private func reconcile(_ richType: String, _ retry: @escaping Retry) async {
    // Read before the folder: a file that is added in between is not known, so it is not removed.
    guard let known = try? await assets.store.assets.assetStamps(richType) else { return }
    let entries: [(entry: FolderEntry, stamp: String)]
    do throws(ServiceError) {
      entries = try folder.entries(richType)
    } catch {
      if error.code == .notFound { return await forget(richType, known, except: []) }
      return await assets.refuse(richType, Self.root, error.reason, stamp: folder.unstamped)
    }
    let identity = assets.validator.identity(richType)
    let names = folder.names(richType, for: entries.compactMap(\.entry.spelling))
    var present: Set<String> = []
    var changed: [PendingChanges.Location: PendingChanges.Report] = [:]
    let kinds = entries.map {
      folder.kind(of: $0.entry, richType, among: names, publishes: publisher != nil)
    }
    let descriptions = zip(entries, kinds).reduce(into: [String: String]()) { stamps, found in
      if case .description(let file) = found.1 { stamps[file.composed] = found.0.stamp }
    }
    for ((entry, stamp), kind) in zip(entries, kinds) {
      let location = PendingChanges.Location(richType: richType, entry: entry)
      if case .sidecar = kind { changed[location] = PendingChanges.Report.none }
      guard let shown = kind.shown else { continue }
      present.insert(shown)
      var described: String?
      if case .asset = kind { described = descriptions[shown] }
      if known[shown] != AssetRecord.stamp(stamp, described: described, by: identity) {
        changed[location] = PendingChanges.Report.none
      }
    }
    await process(changed, retry: retry)
    // What is renamed to another form of its name while a folder is read can be missing in what was read.
    let gone = known.keys.filter { !present.contains($0) }
    let now = folder.names(richType, for: gone)
    present.formUnion(gone.filter { !now.forms(of: $0).isEmpty })
    await forget(richType, known, except: present)
  }

  private func examine(
    _ location: PendingChanges.Location, _ report: PendingChanges.Report, among names: FolderNames,
    _ retry: @escaping Retry
  ) async {
    let (richType, entry) = (location.richType, location.entry)
    switch folder.kind(of: entry, richType, among: names, publishes: publisher != nil) {
    case .ignored: return
    case .description(let file):
      for refused in Set([entry.escaped, entry.shown]) {
        await forgetOwn(richType, refused)
      }
      guard let name = AssetName(file) else { return }
      await examine(name, spelling: nil, at: location, PendingChanges.Report.none, retry)
    case .sidecar(let file):
      if entry.escaped != entry.shown { await forgetOwn(richType, entry.escaped) }
      await publish(richType, file, report, ofSidecar: true, at: location, retry)
    case .refused(let shown, let reason): await refuse(richType, entry, shown, reason)
    case .asset(let name):
      // It may have been refused because of another form of its name.
      if entry.escaped != name.value { await forgetOwn(richType, entry.escaped) }
      // Another form counts now, and is among what is examined.
      if let first = names.forms(of: name.value).first, first != entry { return }
      await examine(name, spelling: entry.spelling, at: location, report, retry)
    }
  }

  /// Removes a name that was refused, unless another node has its file.
  private func forgetOwn(_ richType: String, _ name: String) async {
    guard let known = try? await assets.store.assets.asset(richType, name),
      folder.owns(known.stamp)
    else { return }
    try? await assets.forget(richType, name)
  }

  private func publish(
    _ richType: String, _ file: String, _ report: PendingChanges.Report, ofSidecar: Bool,
    at location: PendingChanges.Location, _ retry: @escaping Retry
  ) async {
    guard let publisher,
      let delay = await publisher.publish(richType, file, report, ofSidecar: ofSidecar)
    else { return }
    retry(location, delay)
  }

  private func examine(
    _ name: AssetName, spelling: String?, at location: PendingChanges.Location,
    _ report: PendingChanges.Report, _ retry: @escaping Retry
  ) async {
    let richType = location.richType
    do throws(ServiceError) {
      let found = try await assets.examineInline(
        richType, name, spelling: spelling, closed: report.isClosed)
      if found.pending != nil { return retry(location, PendingChanges.retryInterval) }
      guard publisher != nil, let file = spelling, folder.hasSidecar(richType, name) else {
        return
      }
      await publish(richType, file, report, ofSidecar: false, at: location, retry)
    } catch {
      switch error.code {
      case .notFound: break
      case .busy, .unavailable, .incomplete: retry(location, PendingChanges.retryInterval)
      default: assets.log(.error, "assets", "\(richType)/\(name.value): \(error.reason)")
      }
    }
  }

  /// Records a name that cannot be an asset; removes it if its file does not exist any more.
  private func refuse(
    _ richType: String, _ entry: FolderEntry, _ shown: String, _ reason: String
  ) async {
    guard let stamp = folder.stamp(richType, entry) else {
      guard let known = try? await assets.store.assets.asset(richType, shown),
        folder.owns(known.stamp)
      else { return }
      return _ = try? await assets.forget(richType, shown)
    }
    await assets.refuse(
      richType, shown, reason, stamp: stamp + " " + assets.validator.identity(richType))
  }

  private func refuseMisplaced(_ others: [FolderEntry]) async {
    for entry in others {
      let asset = assets.misplaced(entry)
      await assets.refuse(Self.root, asset.name, asset.reason ?? "", stamp: folder.unstamped)
    }
    let known = (try? await assets.store.assets.assetStamps(Self.root)) ?? [:]
    await forget(Self.root, known, except: Set(others.map(\.shown)))
  }

  private func forget(
    _ richType: String, _ known: [String: String], except present: Set<String>
  ) async {
    let gone = known.filter { !present.contains($0.key) && folder.owns($0.value) }
    await Array(gone).forEachConcurrently(Self.width) { name, stamp in
      try? await assets.forget(richType, name, stamp: stamp)
    }
  }
}
