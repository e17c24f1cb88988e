import FoundationEssentials
import Store

/// Turns a dropped file with words beside it into a notification, exactly once.
///
/// The key that makes it once is made of the file's content and the words, and is stored with the
/// notification: whoever is killed in between finds it, and only writes the result again.
struct DropPublisher: Sendable {
  let assets: Assets
  let publisher: Publisher
  /// The user in whose name it is sent.
  let sender: String
  /// Whether the sender need not have a password.
  let isDemo: Bool
  /// Whether files need no words of their own: they lie in the outbox, and are no assets.
  let isOutbox: Bool
  private let turns = Turns()

  init(_ assets: Assets, _ publisher: Publisher, sender: String, isDemo: Bool, isOutbox: Bool) {
    (self.assets, self.publisher, self.sender) = (assets, publisher, sender)
    (self.isDemo, self.isOutbox) = (isDemo, isOutbox)
  }

  /// Sends a file that has its words beside it; true when another look is needed.
  func deliverBeside(_ richType: String, _ entry: FolderEntry) async -> Bool {
    guard let file = entry.spelling,
      assets.folder.stamp(richType, named: Slip.name(for: file)) != nil
    else { return false }
    return await deliver(richType, file)
  }

  /// Sends a file as the words beside it say, and writes the result there.
  ///
  /// - Returns: whether something is still coming, so that another look is needed.
  func deliver(_ richType: String, _ file: String) async -> Bool {
    let place = richType + "/" + file
    let isComing = try? await turns.takeToTheEnd(place) { () async throws(Refusal) in
      await deliverInTurn(richType, file)
    }
    return isComing ?? true
  }

  private func deliverInTurn(_ richType: String, _ file: String) async -> Bool {
    let folder = assets.folder
    var slipName = Slip.name(for: file)
    if isOutbox, folder.stamp(richType, named: slipName) == nil { slipName = Slip.standard }
    let stamps = [file, slipName].map { folder.stamp(richType, named: $0) ?? "-" }
    // Nothing to say, or said already of just this file and these words.
    if stamps[0] == "-" && isOutbox || stamps[1] == "-" && !isOutbox { return false }
    let mark = String(Digest(of: stamps.joined(separator: "\n")).hex.prefix(16))
    let results = [Slip.sent(for: file), Slip.error(for: file)]
    for result in results {
      let text = try? folder.read(richType, result, limit: Slip.longest)
      if let text, String(decoding: text, as: UTF8.self).contains(mark) { return false }
    }
    do throws(Refusal) {
      let (answer, isNew) = try await publish(richType, file, slipName)
      let isTold = !isNew && folder.stamp(richType, named: results[0]) != nil
      try folder.put(text: answer.with("mark", .string(mark)).text + "\n", richType, results[0])
      folder.removeResult(richType, results[1])
      // A file that was merely touched was sent before, and said to be.
      if !isTold { assets.log("\(richType)/\(file) is sent") }
      return false
    } catch {
      if [503, 507].contains(error.status) { return true }
      return !report(error.sentence, mark, richType, results[1])
    }
  }

  private func report(
    _ sentence: String, _ mark: String, _ richType: String, _ result: String
  ) -> Bool {
    let text = """
      \(sentence)

      Nothing was sent. Change the file or its .notify.json, or delete this note, to try again.
      [\(mark)]

      """
    do throws(Refusal) {
      try assets.folder.put(text: text, richType, result)
    } catch { assets.log("\(richType)/\(result) cannot be written: \(error.sentence)") }
    assets.log("\(richType)/\(result): \(sentence)")
    return true
  }

  /// The notification, and whether there was none before.
  private func publish(
    _ richType: String, _ file: String, _ slipName: String
  ) async throws(Refusal) -> (JSONValue, isNew: Bool) {
    guard let name = AssetName(file) else { throw Refusal(422, "The file's name cannot be sent.") }
    let slip = try words(richType, slipName)
    let asset =
      isOutbox
      ? try await assets.examine(richType, name, nil, file, false)
      : try await assets.look(richType, name, spelling: file)
    if asset.reason == Assets.isComing { throw Refusal(503, Assets.isComing) }
    guard asset.state != .refused, !asset.isUnchecked, let blob = asset.blob else {
      throw Refusal(422, asset.reason ?? "The file cannot be used.")
    }
    // What was there before stays usable, but is not what these words are for.
    let stamp = assets.folder.stamp(richType, name, spelling: file) ?? ""
    guard asset.stamp.hasPrefix(stamp + " ") else { throw Refusal(503, Assets.isComing) }
    let text = "\(richType)\n\(blob.hex)\n\(Digest(of: slip).hex)"
    let key = "drop:" + Digest(of: text).hex
    let request = Array(text.utf8)
    let sender = try await senderID()
    // Asked before the words are read: what was sent is sent, though its time is over by now.
    if let sent = try Refusal.mapping({
      try assets.store.notification(for: IdempotencyKey(key, request: request), sender: sender)
    }) {
      return (sent.json(isRead: false), false)
    }
    var draft = try Draft(
      Slip.request(slip, richType: richType, file: name.value).bytes, now: Date())
    draft.idempotencyKey = key
    let published = try await Refusal.mapping {
      try await publisher.publish(draft, sender: sender, request: request, asset: asset)
    }
    return (published.notification.json(isRead: false), true)
  }

  /// Who the sender is by now: the name may be another's since the start.
  private func senderID() async throws(Refusal) -> UserID {
    let id = try await Refusal.mapping {
      guard isDemo else {
        return try assets.store.user(named: sender).flatMap { $0.role == .device ? nil : $0.id }
      }
      return try await assets.store.userIDs(of: [sender], admittingGuests: true)[sender]
    }
    if let id { return id }
    throw Refusal(
      422, "\(sender.quoted), in whose name files are sent, is no publisher any more.")
  }

  private func words(_ richType: String, _ name: String) throws(Refusal) -> [UInt8] {
    if let slip = try assets.folder.read(richType, name, limit: Slip.longest) { return slip }
    throw Refusal(
      422, "Nothing says to whom it goes: put a .notify.json beside it, or \(Slip.standard).")
  }
}
