import FoundationEssentials
package import Intake
import Media
import Primitives
import RichPushAPI
import Store

/// Turns a dropped file with a sidecar into a notification, exactly once.
///
/// Its idempotency key is made of the file's content and the sidecar, and is stored with the notification:
/// a server that was killed in between finds it, and only writes the result again.
package struct SidecarPublisher: SidecarPublishing {
  let assets: AssetIntake
  private let publisher: Publisher
  /// The user in whose name files are sent.
  private let sender: String
  private let isDemo: Bool
  /// Whether the files are in the publish folder: they need no sidecar of their own and are no assets.
  private let isPublishFolder: Bool
  private let names = KeyedSemaphore<String>()

  /// Creates a publisher; with `isDemo` the sender needs no password.
  package init(
    _ assets: AssetIntake, _ publisher: Publisher, sender: String, isDemo: Bool,
    isPublishFolder: Bool
  ) {
    (self.assets, self.publisher, self.sender) = (assets, publisher, sender)
    (self.isDemo, self.isPublishFolder) = (isDemo, isPublishFolder)
  }

  /// Sends a file as its sidecar says, and writes the result beside it; true if it must be tried again.
  package func publish(_ richType: String, _ file: String) async -> Bool {
    let names = names
    let work = Task(executorPreference: BlockingExecutor.intake) {
      await names.withPermit(richType + "/" + file) { await publishOnce(richType, file) }
    }
    return await work.value
  }

  private func publishOnce(_ richType: String, _ file: String) async -> Bool {
    let folder = assets.folder
    var sidecar = NotifySidecar.name(for: file)
    if isPublishFolder, folder.stamp(richType, named: sidecar) == nil {
      sidecar = NotifySidecar.standard
    }
    let stamps = [file, sidecar].map { folder.stamp(richType, named: $0) ?? "-" }
    if stamps[0] == "-" && isPublishFolder || stamps[1] == "-" && !isPublishFolder { return false }
    // A result with this mark was written for just this state of file and sidecar.
    let mark = String(Digest(of: stamps.joined(separator: "\n")).hex.prefix(16))
    let (sent, failed) = (NotifySidecar.sent(for: file), NotifySidecar.error(for: file))
    for result in [sent, failed] {
      let text = try? folder.read(richType, result, limit: NotifySidecar.largest)
      if let text, String(decoding: text, as: UTF8.self).contains(mark) { return false }
    }
    do throws(ServiceError) {
      let (answer, isNew) = try await notification(richType, file, sidecar)
      // A file that was merely touched was sent, and logged, before.
      let isLogged = !isNew && folder.stamp(richType, named: sent) != nil
      try folder.put(text: answer.with("mark", .string(mark)).text + "\n", richType, sent)
      folder.removeResult(richType, failed)
      if !isLogged { assets.log("\(richType)/\(file) is sent") }
      return false
    } catch {
      switch error.code {
      case .busy, .unavailable, .incomplete, .diskFull: return true
      default:
        writeError(error.reason, mark, richType, failed)
        return false
      }
    }
  }

  private func writeError(_ reason: String, _ mark: String, _ richType: String, _ result: String) {
    let text = """
      \(reason)

      Nothing was sent. Change the file or its .notify.json, or delete this note, to try again.
      [\(mark)]

      """
    do throws(ServiceError) {
      try assets.folder.put(text: text, richType, result)
    } catch { assets.log("\(richType)/\(result) cannot be written: \(error.reason)") }
    assets.log("\(richType)/\(result): \(reason)")
  }

  /// The notification, created unless the same file and sidecar were sent before.
  private func notification(
    _ richType: String, _ file: String, _ sidecarName: String
  ) async throws(ServiceError) -> (JSON, isNew: Bool) {
    guard let name = AssetName(file) else {
      throw ServiceError(.rejected, AssetName.problem(with: file) ?? "It is not a file's name.")
    }
    let sidecar = try read(sidecarName, richType)
    let found =
      isPublishFolder
      ? try await assets.check(richType, name, spelling: file)
      : try await assets.examine(richType, name, spelling: file)
    if let pending = found.pending { throw pending }
    let asset = found.asset
    guard asset.state != .refused, !asset.isUnchecked, let blob = asset.blob else {
      throw ServiceError(.rejected, asset.reason ?? "The file cannot be used.")
    }
    // Previous content stays usable while new content arrives, but the sidecar is not meant for it.
    let stamp = assets.folder.stamp(richType, name, spelling: file) ?? ""
    guard asset.stamp.hasPrefix(stamp + " ") else { throw .incompleteFile }
    let text = "\(richType)\n\(blob.hex)\n\(Digest(of: sidecar).hex)"
    let key = "drop:" + Digest(of: text).hex
    let request = Array(text.utf8)
    let sender = try await senderID()
    // Before the sidecar is read: what was sent stays sent, even if its `expires` is over by now.
    if let sent = try ServiceError.mapping({
      try assets.store.notification(for: IdempotencyKey(key, request: request), sender: sender)
    }) {
      return (sent.json(isRead: false), false)
    }
    var draft = try Draft(
      NotifySidecar.request(sidecar, richType: richType, file: name.value).bytes, now: Date())
    draft.idempotencyKey = key
    let published = try await ServiceError.mapping {
      try await publisher.publish(draft, sender: sender, request: request, asset: asset)
    }
    return (published.notification.json(isRead: false), true)
  }

  /// The sender's ID now: since the start, the name may have been given to another user.
  private func senderID() async throws(ServiceError) -> UserID {
    let id = try await ServiceError.mapping {
      guard isDemo else {
        return try assets.store.user(named: sender).flatMap { $0.role == .device ? nil : $0.id }
      }
      return try await assets.store.userIDs(of: [sender], allowingPasswordless: true)[sender]
    }
    if let id { return id }
    throw ServiceError(
      .rejected, "\(sender.quoted), in whose name files are sent, is no publisher any more.")
  }

  private func read(_ sidecar: String, _ richType: String) throws(ServiceError) -> [UInt8] {
    if let text = try assets.folder.read(richType, sidecar, limit: NotifySidecar.largest) {
      return text
    }
    throw ServiceError(
      .rejected,
      "Nothing says to whom it goes: put a .notify.json beside it, or \(NotifySidecar.standard).")
  }
}

extension NotifySidecar {
  /// The body of the `POST /api/notifications` that is equivalent to a sidecar.
  ///
  /// Without a message, the file's name without its extension is the message.
  fileprivate static func request(
    _ sidecar: [UInt8], richType: String, file: String
  ) throws(ServiceError) -> JSON {
    guard let value = JSON(sidecar), case .object(var members) = value else {
      throw ServiceError(
        .invalidRequest, "The .notify.json is not a JSON object, such as {\"to\": \"news\"}.")
    }
    for name in ["richType", "payload", "idempotencyKey"] where members[name] != nil {
      throw ServiceError(
        .invalidRequest, "\(name) does not belong into a .notify.json: the file says it.")
    }
    let stem = file.split(separator: ".").dropLast().joined(separator: ".")
    members["message"] = members["message"] ?? .string(stem.isEmpty ? file : stem)
    members["richType"] = .string(richType)
    members["payload"] = .string(file)
    return .object(members)
  }
}
