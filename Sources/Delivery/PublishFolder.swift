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
    _ names: [PendingChanges.Location: Bool], retry: @escaping Retry
  ) async {
    await Array(names).forEachConcurrently(Reconciliation.width) { location, _ in
      if await publish(location, retry) { retry(location) }
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
      .map { (PendingChanges.Location(richType: richType, entry: $0.entry), false) }
    await process(Dictionary(uniqueKeysWithValues: locations), retry: retry)
  }

  private func publish(
    _ location: PendingChanges.Location, _ retry: @escaping Retry
  ) async -> Bool {
    let (richType, entry) = (location.richType, location.entry)
    if entry.isTemporary { return false }
    // The folder's sidecar applies to every file in it.
    if entry.spelling == NotifySidecar.standard {
      return (try? await publishAll(richType, retry)) == nil
    }
    // A file whose name is not UTF-8 cannot have a sidecar.
    guard let file = NotifySidecar.file(for: entry) ?? entry.spelling else {
      await recordResult(richType, entry)
      return false
    }
    let mustRetry = await publisher.publish(richType, file)
    await recordResult(richType, FolderEntry(Array(file.utf8)))
    return mustRetry
  }

  private func recordResult(_ richType: String, _ entry: FolderEntry) async {
    let exists = folder.stamp(richType, entry) != nil
    await publisher.assets.recordUnsent(richType, entry, exists ? reason(richType, entry) : nil)
  }

  /// The reason in the error note beside a file; nil if there is none.
  private func reason(_ richType: String, _ entry: FolderEntry) -> String? {
    guard let file = entry.spelling else { return entry.problem }
    let name = NotifySidecar.error(for: file)
    guard let note = try? folder.read(richType, name, limit: NotifySidecar.largest) else {
      return nil
    }
    let text = String(decoding: note, as: UTF8.self)
    return text.split(separator: "\n").first.map { String($0.prefix(1000)) }
  }
}
