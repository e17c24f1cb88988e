import FoundationEssentials
import Glibc
import MediaTypes
import PluginHost
import Store

extension Assets {
  /// Puts a file into the drop folder, when its plugin takes it.
  ///
  /// - Throws: `Refusal` with the plugin's sentence; then nothing has changed.
  func put(_ path: String, _ richType: String, _ name: AssetName) async throws(Refusal) -> Asset {
    try await Crew.intake.run { () async throws(Refusal) in
      let (pinned, _) = try await pin(AssetFile(folder: AT_FDCWD, name: path))
      _ = try await check(
        Subject(richType: richType, message: "", payload: name.value, pinned: pinned))
      try folder.put(path, richType, name)
    }
    return try await look(richType, name, closed: true)
  }

  /// What the plugin says of a file; the thread waits for it.
  func check(_ subject: Subject) async throws(Refusal) -> String? {
    try await Refusal.mapping {
      try await Patience.$isEndless.withValue(true) { try await validation.details(subject) }
    }
  }

  /// Keeps the file's bytes, tells their type, and whether nobody had the same before.
  ///
  /// The thread waits while they are copied.
  func pin(
    _ file: borrowing AssetFile
  ) async throws(Refusal) -> (pinned: Pinned, isNew: Bool) {
    try checkSpace(for: file.size)
    let type = MediaType.sniff(file.prefix(MediaType.prefixLength)).value
    let descriptor = file.descriptor
    let (blob, isNew) = try await Refusal.mapping {
      try await store.blobs.addHere(copying: descriptor, limit: Self.largest)
    }
    let pinned = Pinned(
      digest: blob.digest, size: blob.size, type: type, path: store.blobs.path(of: blob.digest))
    return (pinned, isNew)
  }

  /// Content never takes the room that the tables need: what came before must stay usable.
  private func checkSpace(for bytes: Int) throws(Refusal) {
    var status = statvfs()
    guard statvfs(store.temporaryFolder, &status) == 0 else { return }
    let free = Int(clamping: status.f_bavail) * Int(clamping: status.f_frsize)
    guard free - Self.reserve < bytes else { return }
    throw Refusal(507, Self.isFull)
  }

  /// What is said of a file for which there is no room.
  static let isFull =
    "The server's disk is full: the file is taken as soon as there is room for it."

  private static var reserve: Int { 16 << 20 }

  func keep(_ asset: Asset, insteadOf known: Asset?) async throws(Refusal) {
    if asset.isSame(as: known) { return }
    try await Refusal.mapping {
      try await store.putAsset(asset, event: asset.event, company: turns.count)
    }
    if asset.looksNew(after: known) { log(asset.logLine) }
  }

  static func refused(
    _ richType: String, _ name: String, _ sentence: String, stamp: String = ""
  ) -> Asset {
    var asset = Asset(
      richType: richType, name: name, state: .refused, bytes: 0,
      modified: Date(timeIntervalSince1970: 0), stamp: stamp)
    asset.reason = sentence
    return asset
  }
}

extension Asset {
  /// Whether there is nothing new to write down.
  fileprivate func isSame(as known: Asset?) -> Bool {
    guard let known else { return false }
    return known.stamp == stamp && !looksNew(after: known)
  }

  /// Whether a reader of the catalogue learns anything.
  fileprivate func looksNew(after known: Asset?) -> Bool {
    known?.state != state || known?.reason != reason || known?.blob != blob
  }

  /// The same while its file has a new content on which the plugin fails.
  ///
  /// Without a stamp: the plugin is asked again at every look at the folder.
  func unchecked(_ sentence: String) -> Asset {
    var asset = self
    asset.stamp = ""
    asset.reason = "Its new content is not used: \(sentence) What was there before still is."
    return asset
  }

  /// Whether its file has a content that could not be checked.
  var isUnchecked: Bool { stamp.isEmpty }

  /// What the log says of it.
  var logLine: String {
    "\(richType)/\(name) is \(state.rawValue)" + (reason.map { ": " + $0 } ?? "")
  }

  /// What those hear who listen.
  ///
  /// Nothing that the plugin said takes the place of what every event has.
  var event: String {
    guard case .object(let members) = json else { return "{}" }
    return JSONValue.object(members.filter { !["type", "id", "time"].contains($0.key) }).text
  }

  /// The same for a name that is gone.
  static func removalEvent(_ richType: String, _ name: String) -> String {
    JSONValue.object([
      "richType": .string(richType), "name": .string(name), "state": .string("removed"),
    ]).text
  }
}
