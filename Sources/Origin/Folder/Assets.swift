import FoundationEssentials
import Glibc
import MediaTypes
import PluginHost
import Store

/// Looks at files of the drop folder through their type's plugin, and keeps what was found.
struct Assets: Sendable {
  let store: Store
  var folder: DropFolder
  let validation: Validation
  let bustle: Bustle
  let log: Log
  let turns = Turns()
  private let checks = Turns()

  init(store: Store, folder: DropFolder, validation: Validation, bustle: Bustle, log: Log) {
    (self.store, self.folder, self.validation) = (store, folder, validation)
    (self.bustle, self.log) = (bustle, log)
  }

  /// The largest file that is taken, in bytes.
  static let largest = 1 << 30

  /// The asset as the folder has it now; its bytes are only read when the file has changed.
  ///
  /// `spelling` is the name on the disk where it is known, and `closed` that its writer is through.
  ///
  /// - Throws: `Refusal` 404 when there is no such file, 503 when nothing can be said now. A file
  ///   that its content refuses is an asset in the state `refused`.
  func look(
    _ richType: String, _ name: AssetName, spelling: String? = nil, closed: Bool = false
  ) async throws(Refusal) -> Asset {
    try await turns.takeToTheEnd(richType + "/" + name.value) { () async throws(Refusal) in
      try await lookInTurn(richType, name, spelling, closed)
    }
  }

  /// The same for callers on the crew, whom nobody cancels.
  func lookHere(
    _ richType: String, _ name: AssetName, spelling: String?, closed: Bool
  ) async throws(Refusal) -> Asset {
    try await turns.take(richType + "/" + name.value) { () async throws(Refusal) in
      try await lookInTurn(richType, name, spelling, closed)
    }
  }

  private func lookInTurn(
    _ richType: String, _ name: AssetName, _ spelling: String?, _ closed: Bool
  ) async throws(Refusal) -> Asset {
    let known = try Refusal.mapping { try store.asset(richType, name.value) }
    let found: Asset
    do throws(Refusal) {
      found = try await examineHere(richType, name, known, spelling, closed)
    } catch {
      switch error.status {
      case 404:
        if known != nil { try await forget(richType, name.value) }
        throw error
      case 422:
        let stamp = folder.stamp(richType, name, spelling: spelling) ?? ""
        found = Self.refused(
          richType, name.value, error.sentence, stamp: stamp + " " + validation.identity(richType))
      case 507: found = Self.refused(richType, name.value, error.sentence)
      default:
        let isFailure = [500, 502, 504].contains(error.status)
        // What is known stays usable while the folder is away or new content is still coming.
        if let known, known.blob != nil {
          guard isFailure else { return known }
          found = known.unchecked(error.sentence)
          break
        }
        guard isFailure else { throw error }
        // Without a stamp: the plugin is asked again at every look at the folder.
        found = Self.refused(richType, name.value, error.sentence)
      }
    }
    try await keep(found, insteadOf: known)
    return found
  }

  /// Shows a name that cannot be an asset's among the refused ones.
  func refuse(_ richType: String, _ name: String, _ sentence: String, stamp: String) async {
    let known = try? store.asset(richType, name)
    try? await keep(Self.refused(richType, name, sentence, stamp: stamp), insteadOf: known)
  }

  /// Removes what is known of a name whose file is gone; notifications keep its content.
  ///
  /// With a stamp only what was known under it.
  func forget(_ richType: String, _ name: String, stamp: String? = nil) async throws(Refusal) {
    _ = try await Refusal.mapping {
      try await store.removeAsset(
        richType, name, stamp: stamp, event: Asset.removalEvent(richType, name),
        company: turns.count)
    }
  }

  /// What a file is, by its bytes and its plugin; nothing is written down.
  func examine(
    _ richType: String, _ name: AssetName, _ known: Asset?, _ spelling: String?, _ closed: Bool
  ) async throws(Refusal) -> Asset {
    try await Crew.intake.run { () async throws(Refusal) in
      try await examineHere(richType, name, known, spelling, closed)
    }
  }

  private func examineHere(
    _ richType: String, _ name: AssetName, _ known: Asset?, _ spelling: String?, _ closed: Bool
  ) async throws(Refusal) -> Asset {
    let file = try folder.open(richType, name, spelling: spelling)
    let plugin = try validation.plugin(richType)
    let stamp = file.stamp + " " + plugin.identity
    if let known, known.stamp == stamp { return known }
    guard file.size <= Self.largest else {
      throw Refusal(422, "The file is larger than \(Self.largest >> 20) MiB, which is the most.")
    }
    if file.isBeingWritten(closed: closed) { return try awaiting(richType, name, known, file) }
    guard file.size > 0 else { throw Refusal(422, "The file is empty.") }
    let (pinned, isNew) = try await pin(file)
    var asset = Asset(
      richType: richType, name: name.value, state: .ready, bytes: pinned.size,
      modified: file.modified, stamp: stamp)
    (asset.blob, asset.type) = (pinned.digest, pinned.type)
    // The same content under the same plugin was checked before, here or under another name.
    if !isNew,
      let twin = try? store.asset(richType, with: pinned.digest, stampEnding: plugin.identity)
    {
      (asset.state, asset.reason, asset.details) = (twin.state, twin.reason, twin.details)
      return asset
    }
    do throws(Refusal) {
      let subject = Subject(
        richType: richType, message: "", payload: name.value, pinned: pinned)
      // A whole folder leaves a plugin room for others.
      let width = min(4, plugin.manifest.workers.max ?? 4)
      asset.details = try await checks.take(richType, width: width) { () async throws(Refusal) in
        try await bustle.during { () async throws(Refusal) in
          try await check(subject)
        }
      }
      // What a whole folder brings takes no memory from what phones ask for.
      if turns.count > 1 { store.blobs.leaveToDisk(pinned.digest) }
      if !plugin.manifest.perUser { asset.state = .preparing }
    } catch {
      guard (400..<500).contains(error.status) else { throw error }
      // What nobody can use need not be kept either.
      (asset.state, asset.reason, asset.blob) = (.refused, error.sentence, nil)
    }
    return asset
  }

  /// A file whose bytes are still coming: shown while it is a new name, waited for in any case.
  private func awaiting(
    _ richType: String, _ name: AssetName, _ known: Asset?, _ file: borrowing AssetFile
  ) throws(Refusal) -> Asset {
    if let known, known.blob != nil { return known }
    var asset = Asset(
      richType: richType, name: name.value, state: .preparing, bytes: file.size,
      modified: file.modified, stamp: "")
    asset.reason = Self.isComing
    return asset
  }

  /// What is said of a file that somebody still writes to.
  static let isComing = "Its bytes are still coming."
}
