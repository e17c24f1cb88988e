package import Intake
import RichPushAPI

/// The folder `outbox/<richType>/` in the drop folder: every file in it becomes a notification.
package struct PublishFolder: FolderProcessor {
  private let publisher: SidecarPublisher

  /// Creates the processor of a publish folder.
  package init(publisher: SidecarPublisher) { self.publisher = publisher }

  /// The publish folder.
  package var folder: DropFolder { publisher.assets.folder }

  /// The rich types' folders.
  package var watchedFolders: [String] { (try? folder.richTypes().types) ?? [] }

  /// Publishes files whose names changed.
  package func process(
    _ names: [PendingChanges.Location: PendingChanges.Report], retry: @escaping Retry
  ) async {
    await Array(names).forEachConcurrently(Reconciliation.width) { location, report in
      if let delay = await publish(location, report, retry) { retry(location, delay) }
    }
  }

  /// Publishes all files that have not been sent.
  package func processAll(retry: @escaping Retry) async -> String? {
    do throws(ServiceError) {
      for richType in try folder.richTypes().types { try await publishAll(richType, retry) }
      await publisher.assets.recordUnsent(try folder.unsent(reason))
      return nil
    } catch { return error.code == .notFound ? nil : error.reason }
  }

  private func publishAll(_ richType: String, _ retry: @escaping Retry) async throws(ServiceError) {
    let locations = try folder.entries(richType)
      .filter { $0.entry.spelling != NotifySidecar.standard }
      .map {
        (
          PendingChanges.Location(richType: richType, entry: $0.entry), PendingChanges.Report.none
        )
      }
    // A folder that changes while it is read may have a name twice.
    await process(Dictionary(locations) { report, _ in report }, retry: retry)
  }

  private func publish(
    _ location: PendingChanges.Location, _ report: PendingChanges.Report, _ retry: @escaping Retry
  ) async -> Duration? {
    let (richType, entry) = (location.richType, location.entry)
    if entry.isForeign || entry.isDescription { return nil }
    // The folder's sidecar applies to every file in it.
    if entry.spelling == NotifySidecar.standard {
      let isRead = (try? await publishAll(richType, retry)) != nil
      return isRead ? nil : PendingChanges.retryInterval
    }
    // A file whose name is not UTF-8 cannot have a sidecar.
    guard let spelling = entry.spelling else {
      await recordResult(richType, [entry], among: FolderNames.none)
      return nil
    }
    let sidecarOf = NotifySidecar.file(for: entry)
    let file = sidecarOf ?? spelling
    // What was reported of another file with this name does not concern the one that counts.
    let names = folder.names(richType, for: [file])
    let counts = sidecarOf != nil || names.forms(of: file).first.map { $0 == entry } ?? true
    let delay = await publisher.publish(
      richType, file, counts ? report : PendingChanges.Report.none, ofSidecar: sidecarOf != nil)
    let forms = names.forms(of: file)
    let own = FolderEntry(Array(file.utf8))
    await recordResult(richType, forms.contains(own) ? forms : forms + [own], among: names)
    return delay
  }

  /// Lists entries that are not sent, with the reason, and no others of them.
  private func recordResult(
    _ richType: String, _ entries: [FolderEntry], among names: FolderNames
  ) async {
    let assets = publisher.assets
    for entry in entries {
      let exists = folder.stamp(richType, entry) != nil
      let isShadowed = exists && names.isShadowed(entry)
      if entry.escaped != entry.shown {
        await assets.recordUnsent(
          richType + "/" + entry.escaped, isShadowed ? FolderNames.shadowed : nil)
      }
      // Another entry with the name shown may count.
      if isShadowed || !exists && !names.forms(of: entry.shown).isEmpty { continue }
      await assets.recordUnsent(
        richType + "/" + entry.shown, exists ? reason(richType, entry) : nil)
    }
  }

  /// The reason in the error note beside a file; nil if there is none.
  private func reason(_ richType: String, _ entry: FolderEntry) -> String? {
    guard let file = entry.spelling else { return entry.problem }
    let error = NotifySidecar.error(for: file)
    let name = folder.names(richType, for: [error]).spelling(of: error)
    guard let note = try? folder.read(richType, name, limit: NotifySidecar.largest) else {
      return nil
    }
    let text = String(decoding: note, as: UTF8.self)
    return text.split(separator: "\n").first.map { String($0.prefix(1000)) }
  }
}
