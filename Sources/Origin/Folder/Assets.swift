import FoundationEssentials
import Glibc
import MediaTypes
import PluginHost
import Store

/// Looks at files of the drop folder through their type's plugin, and keeps what was found.
struct Assets: Sendable {
  let store: Store
  let folder: DropFolder
  let validation: Validation
  let log: Log

  /// The largest file that is taken, in bytes.
  static let largest = 1 << 30

  /// The asset as the folder has it now; its bytes are only read when the file has changed.
  ///
  /// - Throws: `Refusal` 404 when there is no such file, 503 when nothing can be said now. A file
  ///   that its content refuses is an asset in the state `refused`.
  func look(_ richType: String, _ name: AssetName) async throws(Refusal) -> Asset {
    let known = try Refusal.mapping { try store.asset(richType, name.value) }
    let found: Asset
    do throws(Refusal) {
      found = try await examine(richType, name, known)
    } catch {
      guard error.status == 422 else {
        if error.status == 404, known != nil { try await forget(richType, name) }
        throw error
      }
      found = Self.refused(richType, name.value, error.sentence)
    }
    try await keep(found, insteadOf: known)
    return found
  }

  /// Shows a name that cannot be an asset's among the refused ones.
  func refuse(_ richType: String, _ name: String, _ sentence: String) async {
    let known = try? store.asset(richType, name)
    try? await keep(Self.refused(richType, name, sentence), insteadOf: known)
  }

  /// Removes what is known of a name whose file is gone; notifications keep its content.
  func forget(_ richType: String, _ name: AssetName) async throws(Refusal) {
    _ = try await Refusal.mapping { try await store.removeAsset(richType, name.value) }
  }

  private func examine(
    _ richType: String, _ name: AssetName, _ known: Asset?
  ) async throws(Refusal) -> Asset {
    let plugin = try validation.plugin(richType)
    let file = try folder.open(richType, name)
    let stamp = file.stamp + " " + plugin.identity
    if let known, known.stamp == stamp, known.state != .preparing { return known }
    guard file.size > 0 else { throw Refusal(422, "The file is empty.") }
    guard file.size <= Self.largest else {
      throw Refusal(422, "The file is larger than \(Self.largest >> 20) MiB, which is the most.")
    }
    let pinned = try await pin(file)
    var asset = Asset(
      richType: richType, name: name.value, state: .ready, bytes: pinned.size,
      modified: file.modified, stamp: stamp)
    (asset.blob, asset.type) = (pinned.digest, pinned.type)
    do throws(Refusal) {
      asset.details = try await validation.details(
        Subject(richType: richType, message: "", payload: name.value, pinned: pinned))
    } catch {
      guard (400..<500).contains(error.status) else { throw error }
      (asset.state, asset.reason) = (.refused, error.sentence)
    }
    return asset
  }

  /// Puts a file into the drop folder, when its plugin takes it.
  ///
  /// - Throws: `Refusal` with the plugin's sentence; then nothing has changed.
  func put(_ path: String, _ richType: String, _ name: AssetName) async throws(Refusal) -> Asset {
    let pinned = try await pin(AssetFile(folder: AT_FDCWD, name: path))
    _ = try await validation.details(
      Subject(richType: richType, message: "", payload: name.value, pinned: pinned))
    try folder.put(path, richType, name)
    return try await look(richType, name)
  }

  /// Keeps the file's bytes, and tells their type.
  private func pin(_ file: borrowing AssetFile) async throws(Refusal) -> Pinned {
    let type = MediaType.sniff(file.prefix(MediaType.prefixLength)).value
    let descriptor = file.descriptor
    let blob = try await Refusal.mapping {
      try await store.blobs.add(copying: descriptor, limit: Self.largest)
    }
    return Pinned(
      digest: blob.digest, size: blob.size, type: type, path: store.blobs.path(of: blob.digest))
  }

  private func keep(_ asset: Asset, insteadOf known: Asset?) async throws(Refusal) {
    if asset.isSame(as: known) { return }
    try await Refusal.mapping { try await store.putAsset(asset) }
    let reason = asset.reason.map { ": " + $0 } ?? ""
    log("\(asset.richType)/\(asset.name) is \(asset.state.rawValue)\(reason)")
  }

  private static func refused(_ richType: String, _ name: String, _ sentence: String) -> Asset {
    var asset = Asset(
      richType: richType, name: name, state: .refused, bytes: 0,
      modified: Date(timeIntervalSince1970: 0), stamp: "")
    asset.reason = sentence
    return asset
  }
}

extension Asset {
  /// Whether there is nothing new to write down.
  fileprivate func isSame(as known: Asset?) -> Bool {
    guard let known else { return false }
    return known.state == state && known.stamp == stamp && known.reason == reason
  }
}
