import FoundationEssentials
import Media
import PluginHost
package import RichPushAPI
import Store
import Synchronization
import Primitives

/// Checks every file of a folder as a server would, without a server: a dry run.
///
/// It uses the server's own code with a temporary store, so that both have the same result.
package final class FolderCheck: Sendable {
  private let assets: AssetIntake
  private let renderer: Renderer
  private let data: String
  /// Files checked concurrently; the store has a copy of each.
  private static let width = 8

  /// Prepares to check a drop folder, or a folder with the files of one rich type.
  ///
  /// `programs` is the folder of `richpush-exec` and the built-in plugins' executables; `plugins` are
  /// the folders of plugins, of which the first one with a plugin for a rich type counts.
  ///
  /// - Throws: `invalidRequest` if `richType` cannot be a rich type.
  package init(
    folder: String, richType: String?, plugins: [String], programs: String
  ) throws {
    guard richType.map(Plugin.isValidName) != false else {
      throw ServiceError(
        .invalidRequest, "--type must be a rich type such as img, not \((richType ?? "").quoted)")
    }
    data = FileManager.default.temporaryDirectory.path + "/richpush-check-" + UUID().uuidString
    let store = try Store(folder: data)
    var configuration = PluginConfiguration(
      folder: plugins.first ?? "", executables: programs, launcher: programs + "/richpush-exec",
      temporaryFolder: store.temporaryFolder)
    configuration.scratchFolder = data + "/scratch"
    configuration.furtherFolders = Array(plugins.dropFirst())
    let host = try PluginHost(configuration: configuration)
    let foreground = ForegroundLoad()
    assets = AssetIntake(
      store: store, folder: DropFolder(path: folder, only: richType),
      validator: PayloadValidator(host: host), foreground: foreground, log: .silent)
    renderer = Renderer(
      store: store, host: host, queues: RenderQueues(concurrency: configuration.concurrency),
      foreground: foreground, counts: RenditionCounts())
  }

  deinit { try? FileManager.default.removeItem(atPath: data) }

  /// Calls `report` with each asset, by rich type and name.
  ///
  /// - Throws: why the folder cannot be read.
  package func run(
    _ report: @Sendable (_ asset: Asset) -> Void
  ) async throws(ServiceError) {
    let found = try assets.folder.richTypes()
    for entry in found.others { report(assets.misplaced(entry).message()) }
    let unsent = assets.folder.unsentWithoutPublisher.sorted { $0.key < $1.key }
    for (name, reason) in unsent {
      report(AssetIntake.refused(DropFolder.publishFolderName, name, reason).message())
    }
    for richType in found.types { try await check(richType, report) }
  }

  private func check(
    _ richType: String, _ report: @Sendable (_ asset: Asset) -> Void
  ) async throws(ServiceError) {
    let entries: [FolderEntry]
    do throws(ServiceError) {
      entries = try assets.folder.entries(richType).map(\.entry).filter { !$0.isForeign }
    } catch {
      if error.code == .notFound { return }
      return report(
        AssetIntake.refused(richType, Reconciliation.root, error.reason).message())
    }
    let names = assets.folder.names(richType, for: entries.compactMap(\.spelling))
    let files = entries.compactMap { entry -> File? in
      let kind = assets.folder.kind(of: entry, richType, among: names, publishes: false)
      return kind.shown.map { File(entry: entry, kind: kind, shown: $0) }
    }
    let twins = Dictionary(grouping: files.map(\.shown), by: AssetRecord.folded)
    var rest = files.sorted { $0.shown < $1.shown }[...]
    while !rest.isEmpty {
      let batch = rest.prefix(Self.width)
      rest = rest.dropFirst(batch.count)
      let checked = await withTaskGroup(of: (Int, AssetRecord).self) { group in
        for (index, file) in batch.enumerated() {
          group.addTask { (index, await self.check(file, richType)) }
        }
        var found: [Int: AssetRecord] = [:]
        for await (index, asset) in group { found[index] = asset }
        return found.sorted { $0.key < $1.key }.map(\.value)
      }
      for var asset in checked {
        asset.lookAlike = twins[AssetRecord.folded(asset.name)]?.filter { $0 != asset.name }
          .min()
        report(asset.message())
      }
      // The copies are removed after each batch: the disk may be smaller than the folder.
      var retention = Retention()
      (retention.blobGrace, retention.renditionGrace, retention.renditionBytes) = (0, 0, 0)
      try await ServiceError.mapping { _ = try await assets.store.collect(retention) }
    }
  }

  /// A name in a rich type's folder that a server lists.
  private struct File {
    let entry: FolderEntry
    let kind: EntryKind
    let shown: String
  }

  private func check(_ file: File, _ richType: String) async -> AssetRecord {
    let name: AssetName
    switch file.kind {
    case .asset(let found): name = found
    case .refused(_, let reason): return AssetIntake.refused(richType, file.shown, reason)
    case .sidecar, .description, .ignored: return AssetIntake.refused(richType, file.shown, "")
    }
    do throws(ServiceError) {
      var asset = try await assets.check(richType, name, spelling: file.entry.spelling).asset
      if asset.state == .preparing, asset.blob != nil {
        let preparation = try Preparation(asset, in: assets.store, assets.validator)
        asset.reason = try await preparation.advice { request async throws(ServiceError) in
          DeviceRendition(try await self.renderer.rendition(request, for: nil))
        }
        asset.state = .ready
      }
      return asset
    } catch {
      return AssetIntake.refused(richType, name.value, error.reason)
    }
  }
}
