import Foundation
import PluginHost
import Store
import Synchronization

/// Says of every file of a folder what a server would make of it, without one: a dry run.
///
/// It is the server's own code over a store of a moment, so that both say the same.
package final class FolderCheck: Sendable {
  private let assets: Assets
  private let renderer: Renderer
  private let data: String
  /// As many files are looked at together; copies of them are kept meanwhile.
  private static let width = 8

  /// Looks at a drop folder, or at a folder of one rich type's files.
  ///
  /// `programs` holds `richpush-exec` and the plugins that ship.
  package init(folder: String, richType: String?, plugins: String, programs: String) throws {
    data = FileManager.default.temporaryDirectory.path + "/richpush-check-" + UUID().uuidString
    let store = try Store(folder: data)
    var configuration = PluginConfiguration(
      folder: plugins, binaries: programs, launcher: programs + "/richpush-exec",
      temporaryFolder: store.temporaryFolder)
    configuration.scratchFolder = data + "/scratch"
    let host = try PluginHost(configuration: configuration)
    let bustle = Bustle()
    assets = Assets(
      store: store, folder: DropFolder(path: folder, only: richType),
      validation: Validation(host: host), bustle: bustle, log: Log { _ in })
    renderer = Renderer(
      store: store, host: host, lines: RenderLines(concurrency: configuration.concurrency),
      bustle: bustle, counts: RenditionCounts())
  }

  deinit { try? FileManager.default.removeItem(atPath: data) }

  /// Calls `report` with each asset as the API would show it, by rich type and name.
  ///
  /// - Throws: an error with a sentence when the folder cannot be read.
  package func run(_ report: @Sendable (_ asset: [UInt8]) -> Void) async throws {
    do throws(Refusal) {
      let found = try assets.folder.richTypes()
      for entry in found.others { report(Reconciliation.misplaced(entry).json.bytes) }
      for richType in found.types {
        let entries = try assets.folder.entries(richType).map(\.entry)
        try await check(
          entries.filter { !$0.isTemporary }.sorted { $0.shown < $1.shown }, richType, report)
      }
    } catch { throw ConfigurationError(error.sentence) }
  }

  private func check(
    _ entries: [FolderEntry], _ richType: String, _ report: @Sendable (_ asset: [UInt8]) -> Void
  ) async throws(Refusal) {
    var rest = entries[...]
    while !rest.isEmpty {
      let batch = rest.prefix(Self.width)
      rest = rest.dropFirst(batch.count)
      let checked = await withTaskGroup(of: (Int, Asset).self) { group in
        for (index, entry) in batch.enumerated() {
          group.addTask { (index, await self.check(entry, richType)) }
        }
        var found: [Int: Asset] = [:]
        for await (index, asset) in group { found[index] = asset }
        return found.sorted { $0.key < $1.key }.map(\.value)
      }
      for asset in checked { report(asset.json.bytes) }
      // What was looked at is not needed any more: the disk may be smaller than the folder.
      var nothing = Retention()
      (nothing.blobGrace, nothing.renditionGrace, nothing.renditionBytes) = (0, 0, 0)
      try await Refusal.mapping { _ = try await assets.store.collect(nothing) }
    }
  }

  private func check(_ entry: FolderEntry, _ richType: String) async -> Asset {
    guard let name = entry.name else {
      return Assets.refused(richType, entry.shown, entry.problem)
    }
    do throws(Refusal) {
      var asset = try await assets.examine(richType, name, nil, entry.spelling, false)
      if asset.state == .preparing, asset.blob != nil {
        let preparation = try Preparation(asset, in: assets.store, assets.validation)
        asset.reason = try await preparation.advice { wish async throws(Refusal) in
          Served(try await self.renderer.rendered(wish))
        }
        asset.state = .ready
      }
      return asset
    } catch {
      return Assets.refused(richType, name.value, error.sentence)
    }
  }
}
