import FoundationEssentials
package import Intake
import Media
import Primitives
import RichPushAPI
import Store

/// Creates a notification from a dropped file with a sidecar, exactly once.
///
/// Its idempotency key, a hash of the file's content and the sidecar, is stored with the notification. If
/// the server is killed before it writes the result, it finds the notification later by that key.
package struct SidecarPublisher: SidecarPublishing {
  let assets: AssetIntake
  private let publisher: Publisher
  /// The user in whose name files are published.
  private let sender: String
  private let isDemo: Bool
  /// Whether the files are in the publish folder, where they are not assets and may share a sidecar.
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

  /// Publishes a file as its sidecar specifies, and writes the result next to it; true if it must be
  /// retried.
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
    // A result with this mark was written for exactly this state of file and sidecar.
    let mark = String(Digest(of: stamps.joined(separator: "\n")).hex.prefix(16))
    let (sent, failed) = (NotifySidecar.sent(for: file), NotifySidecar.error(for: file))
    for result in [sent, failed] {
      let text = try? folder.read(richType, result, limit: NotifySidecar.largest)
      if let text, String(decoding: text, as: UTF8.self).contains(mark) { return false }
    }
    do throws(ServiceError) {
      let (notification, isNew) = try await notification(richType, file, sidecar)
      // A file that was only touched was sent and logged before.
      let isLogged = !isNew && folder.stamp(richType, named: sent) != nil
      var result = JSONValue(JSONCoding.encode(notification))?.members ?? [:]
      result["mark"] = .string(mark)
      try folder.put(text: JSONCoding.text(result) + "\n", richType, sent)
      folder.removeResult(richType, failed)
      if !isLogged { assets.log(.info, "assets", "\(richType)/\(file) is sent") }
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

      Nothing was sent. To try again, change the file or its .notify.json, or delete this note.
      [\(mark)]

      """
    do throws(ServiceError) {
      try assets.folder.put(text: text, richType, result)
    } catch {
      assets.log(.error, "assets", "\(richType)/\(result) cannot be written: \(error.reason)")
    }
    assets.log(.warning, "assets", "\(richType)/\(result): \(reason)")
  }

  /// The notification, created unless the same file and sidecar were sent before.
  private func notification(
    _ richType: String, _ file: String, _ sidecarName: String
  ) async throws(ServiceError) -> (RichNotification, isNew: Bool) {
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
    // The sidecar is not meant for previous content, which stays usable while new content is written.
    let stamp = assets.folder.stamp(richType, name, spelling: file) ?? ""
    guard asset.stamp.hasPrefix(stamp + " ") else { throw .incompleteFile }
    let text = "\(richType)\n\(blob.hex)\n\(Digest(of: sidecar).hex)"
    let key = "drop:" + Digest(of: text).hex
    let request = Array(text.utf8)
    let sender = try await senderID()
    // Before the sidecar is parsed: it was valid when it was sent, but its `expires` may be past now.
    if let sent = try await ServiceError.mapping({
      try await assets.store.notifications.notification(
        for: IdempotencyKey(key, request: request), sender: sender)
    }) {
      return (RichNotification(sent, isRead: false), false)
    }
    var draft = try Draft(
      NotifySidecar.request(sidecar, richType: richType, file: name.value), now: Date())
    if let due = draft.notBefore, due < writtenTime(of: sidecarName, richType) {
      throw ServiceError(
        .rejected,
        "notBefore was already past when the .notify.json was written. Write a later time, or none to send it at once."
      )
    }
    draft.idempotencyKey = key
    let published = try await ServiceError.mapping {
      try await publisher.publish(
        draft, sender: sender, request: request, using: .all, asset: asset)
    }
    return (RichNotification(published.notification, isRead: false), true)
  }

  /// The sender's ID now: the name may belong to another user than at the start.
  private func senderID() async throws(ServiceError) -> UserID {
    let accounts = assets.store.accounts
    let id = try await ServiceError.mapping { () async throws -> UserID? in
      guard isDemo else {
        let user = try await accounts.user(named: sender)
        return user?.role == .device ? nil : user?.id
      }
      return try await accounts.userIDs(of: [sender], allowingPasswordless: true)[sender]
    }
    if let id { return id }
    throw ServiceError(
      .rejected, "\(sender.quoted), in whose name files are published, is not a publisher any more."
    )
  }

  /// When a sidecar was written, apart from a minute that clocks may differ and writing takes: a time that was future
  /// then and passes while the server is stopped is a time to send at once.
  private func writtenTime(of sidecar: String, _ richType: String) -> Date {
    (assets.folder.modified(richType, named: sidecar) ?? .distantPast).addingTimeInterval(-60)
  }

  private func read(_ sidecar: String, _ richType: String) throws(ServiceError) -> [UInt8] {
    if let text = try assets.folder.read(richType, sidecar, limit: NotifySidecar.largest) {
      return text
    }
    throw ServiceError(
      .rejected,
      "There are no recipients: add a .notify.json for the file, or \(NotifySidecar.standard).")
  }
}

extension NotifySidecar {
  /// The body of the `POST /api/notifications` that is equivalent to a sidecar.
  ///
  /// Without a message, the file's name without its extension is the message.
  fileprivate static func request(
    _ sidecar: [UInt8], richType: String, file: String
  ) throws(ServiceError) -> [UInt8] {
    guard var members = JSONValue(sidecar)?.members else {
      throw ServiceError(
        .invalidRequest, "The .notify.json is not a JSON object, such as {\"to\": \"news\"}.")
    }
    for name in ["richType", "payload", "idempotencyKey"] where members[name] != nil {
      throw ServiceError(
        .invalidRequest, "\(name) must not be in a .notify.json: it is determined by the file.")
    }
    let stem = file.split(separator: ".").dropLast().joined(separator: ".")
    members["message"] = members["message"] ?? .string(stem.isEmpty ? file : stem)
    members["richType"] = .string(richType)
    members["payload"] = .string(file)
    return JSONCoding.encode(members)
  }
}
