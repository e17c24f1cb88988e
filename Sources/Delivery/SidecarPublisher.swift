package import FoundationEssentials
package import Intake
import Media
import Primitives
import RichPushAPI
import Store

/// Creates a notification from a dropped file with a sidecar, exactly once.
///
/// Its idempotency key, a hash of the file's content and the sidecar, is stored with the notification. If
/// the server is killed before it writes the result, it finds the notification later by that key. What the file held is
/// stored as well, and outlives the notification.
package struct SidecarPublisher: SidecarPublishing {
  let assets: AssetIntake
  let publisher: Publisher
  /// The user in whose name files are published.
  private let sender: String
  private let isDemo: Bool
  /// Whether the files are in the publish folder, where they are not assets and may share a sidecar.
  private let isPublishFolder: Bool
  private let names = KeyedSemaphore<String>()
  private let settling: SettlingFiles
  private let now: @Sendable () -> Date

  /// Creates a publisher; with `isDemo` the sender needs no password.
  ///
  /// A file is published when it was not changed for `settle` seconds; see ``SettlingFiles``.
  package init(
    _ assets: AssetIntake, _ publisher: Publisher, sender: String, isDemo: Bool,
    isPublishFolder: Bool, settle: Double, now: @escaping @Sendable () -> Date = { Date() }
  ) {
    (self.assets, self.publisher, self.sender) = (assets, publisher, sender)
    (self.isDemo, self.isPublishFolder, self.now) = (isDemo, isPublishFolder, now)
    settling = SettlingFiles(settle: settle, now: now)
  }

  /// Publishes a file as its sidecar specifies, and writes the result next to it; returns after what time it must be
  /// retried, or nil.
  package func publish(
    _ richType: String, _ file: String, _ report: PendingChanges.Report, ofSidecar: Bool
  ) async -> Duration? {
    let names = names
    let work = Task(executorPreference: BlockingExecutor.intake) {
      await names.withPermit(richType + "/" + file) {
        await publishOnce(richType, file, report, ofSidecar: ofSidecar)
      }
    }
    return await work.value
  }

  /// The names on disk of a file, and of what belongs to it.
  private struct Spellings {
    let file: String
    let sidecar: String
    let sent: String
    let error: String

    /// Each may be in another of Unicode's forms.
    init(_ file: String, in folder: DropFolder, _ richType: String) {
      let names = folder.names(richType, for: [file])
      let spelled = names.spelling(of: file)
      self.file = spelled
      sidecar = names.spelling(of: NotifySidecar.name(for: spelled))
      sent = names.spelling(of: NotifySidecar.sent(for: spelled))
      error = names.spelling(of: NotifySidecar.error(for: spelled))
    }
  }

  private func publishOnce(
    _ richType: String, _ file: String, _ report: PendingChanges.Report, ofSidecar: Bool
  ) async -> Duration? {
    let folder = assets.folder
    let names = Spellings(file, in: folder, richType)
    var sidecar = names.sidecar
    if isPublishFolder, folder.stamp(richType, named: sidecar) == nil {
      sidecar = NotifySidecar.standard
    }
    let stamps = [names.file, sidecar].map { folder.stamp(richType, named: $0) ?? "-" }
    if stamps[0] == "-" && isPublishFolder || stamps[1] == "-" && !isPublishFolder { return nil }
    // A result with this mark was written for exactly this state of file and sidecar.
    let mark = String(Digest(of: stamps.joined(separator: "\n")).hex.prefix(16))
    for result in [names.sent, names.error] {
      let text = try? folder.read(richType, result, limit: NotifySidecar.largest)
      if let text, String(decoding: text, as: UTF8.self).contains(mark) { return nil }
    }
    if stamps[0] != "-" {
      let own = sidecar == NotifySidecar.standard ? nil : sidecar
      let observation = SettlingFiles.Observation(
        path: path(richType, file), stamp: stamps[0],
        changed: folder.changeTime(richType, named: names.file),
        sidecarChanged: own.flatMap { folder.changeTime(richType, named: $0) },
        report: report, isOfSidecar: ofSidecar)
      if let delay = settling.delay(observation) { return delay }
    }
    do throws(ServiceError) {
      let (notification, isNew) = try await notification(richType, names.file, sidecar, stamps[0])
      // A file that was only touched was sent and logged before.
      let isLogged = !isNew && folder.stamp(richType, named: names.sent) != nil
      var text = notification.map { JSONCoding.encode($0) }
      if text == nil {
        text = try folder.read(richType, names.sent, limit: NotifySidecar.largest)
      }
      var result = text.flatMap { JSONValue($0)?.members } ?? [:]
      result["mark"] = .string(mark)
      try folder.put(text: JSONCoding.text(result) + "\n", richType, names.sent)
      folder.removeResult(richType, names.error)
      let state =
        notification?.approval == nil ? "is sent" : "awaits the approval of another publisher"
      if !isLogged { assets.log(.info, "assets", "\(richType)/\(names.file) \(state)") }
      return nil
    } catch {
      switch error.code {
      // Of many files that are dropped at once, the sender's renditions of the first ones are under way.
      case .busy, .unavailable, .incomplete, .diskFull, .tooManyRequests:
        return PendingChanges.retryInterval
      default:
        writeError(error.reason, mark, richType, names.error)
        return nil
      }
    }
  }

  /// The path of a file in the drop folder.
  private func path(_ richType: String, _ file: String) -> String {
    let name = AssetName(file)?.value ?? file
    return (isPublishFolder ? DropFolder.publishFolderName + "/" : "") + richType + "/" + name
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

  /// The notification, created unless the same file and sidecar were sent before; nil if they were, and it is gone.
  private func notification(
    _ richType: String, _ file: String, _ sidecarName: String, _ observed: String
  ) async throws(ServiceError) -> (RichNotification?, isNew: Bool) {
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
    let digest = Digest(of: sidecar)
    let text = "\(richType)\n\(blob.hex)\n\(digest.hex)"
    let key = "drop:" + Digest(of: text).hex
    let request = Array(text.utf8)
    let sender = try await senderID()
    let draft = { () throws(ServiceError) in
      var draft = try Draft(
        NotifySidecar.request(sidecar, richType: richType, file: name.value),
        allowing: publisher.linkSchemes, now: Date())
      try draft.requireAllowed(for: .publisher)
      draft.idempotencyKey = key
      return draft
    }
    let published = PublishedFile(
      folder: assets.folder.identity ?? "", path: path(richType, file), sidecar: digest)
    if let earlier = try await earlier(of: published, sender: sender),
      earlier.publication.content != blob,
      try await isContinued(
        earlier, in: asset,
        changed: changeTime(richType, file, observed, after: earlier.publication.published))
    {
      return (
        RichNotification(
          try await replace(earlier, draft(), with: asset, file: published, request: request),
          isRead: false), false
      )
    }
    // Before the sidecar is parsed: it was valid when it was sent, but its `expires` may be past now.
    if let sent = try await ServiceError.mapping({
      try await assets.store.notifications.notification(
        for: IdempotencyKey(key, request: request), sender: sender)
    }) {
      return (RichNotification(sent, isRead: false), false)
    }
    // Long ago.
    if let publication = try await publication(of: published), publication.content == blob {
      let sent = try await ServiceError.mapping {
        try await assets.store.notifications.notification(publication.notification)
      }
      return (sent.map { RichNotification($0, isRead: false) }, false)
    }
    let new = try draft()
    if let due = new.notBefore, due < writtenTime(of: sidecarName, richType) {
      throw ServiceError(
        .rejected,
        "notBefore was already past when the .notify.json was written. Write a later time, or none to send it at once."
      )
    }
    let created = try await ServiceError.mapping {
      try await publisher.publish(
        new, sender: sender, request: request, using: .all, asset: asset, file: published)
    }
    return (RichNotification(created.notification, isRead: false), true)
  }

  /// When a file came to its present state, which was seen after a time.
  private func changeTime(
    _ richType: String, _ file: String, _ observed: String, after published: Date
  ) -> Date {
    let (now, seen) = (now(), settling.firstSeen(path(richType, file), observed))
    // After a restart only the file tells; a time from before is of a file that was moved here.
    let changed = assets.folder.changeTime(richType, named: file)?.date
    let times = [seen, changed].compactMap(\.self).filter { $0 > published && $0 <= now }
    return times.min() ?? now
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
  /// With neither message nor title, the file's name without its extension is the message.
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
    if [members["message"], members["title"]].allSatisfy({ $0 == nil || $0 == .null }) {
      let stem = file.split(separator: ".").dropLast().joined(separator: ".")
      members["message"] = .string(PlaceholderText.escaped(stem.isEmpty ? file : stem))
    }
    members["richType"] = .string(richType)
    members["payload"] = .string(file)
    return JSONCoding.encode(members)
  }
}
