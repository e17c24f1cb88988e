package import FoundationEssentials
import PluginHost
package import Push
package import RichPushAPI
package import Store

/// A request for a notification, parsed and checked without the store and plugins.
@dynamicMemberLookup
package struct Draft: Sendable {
  private var new: NewNotification
  /// Tags, of which a device must have at least one; or one tag expression.
  let audience: TagExpression
  /// The audience, if the server finds it when the notification is sent.
  package let namedAudience: NamedAudience?
  /// The audience as the sender wrote it.
  package let to: [String]

  /// The longest literal payload, in bytes.
  static let longestPayload = 65_536

  /// A member of the message.
  package subscript<Value>(dynamicMember member: WritableKeyPath<NewNotification, Value>) -> Value {
    get { new[keyPath: member] }
    set { new[keyPath: member] = newValue }
  }

  /// Checks everything about a new notification that depends on nothing else, at a time; without one, only the audience.
  ///
  /// `allowing` are the URL schemes that its links may have beside `https`.
  ///
  /// - Throws: all faults.
  package init(
    _ new: NewNotification, allowing linkSchemes: Set<String> = [], now: Date? = nil
  ) throws(ServiceError) {
    self.new = new
    switch new.audience {
    case .tags(let expression): to = [expression]
    case .anyTag(let tags): to = tags
    }
    var faults = now.map { Self.faults(in: new, allowing: linkSchemes, now: $0) } ?? []
    do throws(ServiceError) { (audience, namedAudience) = try Self.audience(to) } catch {
      throw ServiceError(error.faults + faults) ?? error
    }
    if namedAudience != nil, new.values != nil {
      faults.append(
        .init(
          "values", .rejected,
          "values is for recipients that are named one by one; others have attributes."))
    }
    if let error = ServiceError(faults) { throw error }
  }

  /// The audience with at least one of the tags, or that of a single tag expression; `named` if it is one that the
  /// server finds itself.
  package static func audience(
    _ to: [String]
  ) throws(ServiceError) -> (expression: TagExpression, named: NamedAudience?) {
    let expression = try expression(to)
    return (expression, try NamedAudience(expression))
  }

  /// The audience of tags alone.
  package static func tags(_ to: [String]) throws(ServiceError) -> TagExpression {
    let (expression, named) = try audience(to)
    guard named == nil else {
      throw ServiceError(
        .init("to", .rejected, "A segment's to has tags and names of people, and no segment."))
    }
    return expression
  }

  private static func expression(_ to: [String]) throws(ServiceError) -> TagExpression {
    let fault: ServiceError.Fault
    do {
      if to.count > 1 { return try TagExpression(anyOf: to.map { tag in try Tag(tag) }) }
      if let expression = to.first { return try TagExpression(expression) }
      fault = ServiceError.Fault("to", .invalidRequest, "There are no recipients: to is empty.")
    } catch {
      fault = ServiceError.Fault("to", .rejected, "The recipients are not valid: \(error)")
    }
    throw ServiceError(fault)
  }

  /// Reads the JSON form of `POST /api/notifications`, which is to go after so many seconds or, without `delay`, when it says.
  package init(
    _ body: [UInt8], delay: Int? = nil, allowing linkSchemes: Set<String>, now: Date
  ) throws(ServiceError) {
    var new = try JSONCoding.request(NewNotification.self, from: body)
    if let delay {
      for (name, isThere) in [
        ("notBefore", new.notBefore != nil), ("localTime", new.localTime != nil),
      ] where isThere {
        throw ServiceError(
          .init(name, .rejected, "There is a delay already: leave \(name) out."))
      }
      new.notBefore = now.addingTimeInterval(Double(delay))
    }
    try self.init(new, allowing: linkSchemes, now: now)
  }

  /// A notification, changed by a JSON merge patch (RFC 7396).
  package init(
    _ old: StoredNotification, changedBy body: [UInt8], allowing linkSchemes: Set<String>, now: Date
  ) throws(ServiceError) {
    let before = NewNotification(old)
    let new = try before.changed(by: body)
    let name =
      new.localTime != before.localTime
      ? "localTime" : new.perMinute != before.perMinute ? "perMinute" : "notBefore"
    let isSameTime =
      new.notBefore == before.notBefore && new.localTime == before.localTime
      && new.perMinute == before.perMinute
    guard isSameTime || old.isHeld(at: now) else {
      throw ServiceError(
        .conflict, "\(name) cannot be changed any more: pushes have been sent.")
    }
    try self.init(new, allowing: linkSchemes, now: now)
  }

  /// The members of a notification that differ here, with their earlier values, as a JSON object.
  func members(changedFrom old: StoredNotification) -> String {
    JSONCoding.text(NewNotification(old).members(changedIn: new))
  }

  /// A notification for one user.
  package init(message: String, richType: String, payload: String, user: String)
    throws(ServiceError)
  {
    try self.init(
      NewNotification(
        NotificationMessage(PlaceholderText.escaped(message)), richType: richType,
        payload: payload, to: .users([user])))
  }

  /// Sets the key to the field's value, bare or a quoted string (RFC 8941, section 3.3.3).
  package mutating func setIdempotencyKey(_ field: String?) throws(ServiceError) {
    guard let field else { return }
    let isQuoted = field.count >= 2 && field.hasPrefix("\"") && field.hasSuffix("\"")
    let key = isQuoted ? String(field.dropFirst().dropLast()) : field
    guard new.idempotencyKey == nil || new.idempotencyKey == key else {
      throw ServiceError(.rejected, "Idempotency-Key and idempotencyKey differ.")
    }
    new.idempotencyKey = key
    if let fault = Self.fault(inKey: key) { throw ServiceError(fault) }
  }

  private static func fault(inKey key: String) -> ServiceError.Fault? {
    (1...256).contains(key.utf8.count)
      ? nil
      : .init(
        "idempotencyKey", .invalidRequest, "An idempotency key must have from 1 to 256 bytes.")
  }

  /// - Throws: `forbidden` if only an admin may send it.
  package func requireAllowed(for role: Role) throws(ServiceError) {
    guard case .critical = new.message.sound, role != .admin else { return }
    throw ServiceError(
      .init(
        "sound", .forbidden,
        "Only an admin may send a sound that is heard although the device is muted."))
  }

  /// All that is wrong with a notification, but for its recipients.
  private static func faults(
    in new: NewNotification, allowing linkSchemes: Set<String>, now: Date
  ) -> [ServiceError.Fault] {
    var faults = new.message.faults(allowing: linkSchemes) + new.valueFaults
    func require(
      _ isRight: Bool, _ member: String, _ reason: String, _ code: ServiceError.Code = .rejected
    ) {
      if !isRight { faults.append(.init(member, code, reason)) }
    }
    let key = new.idempotencyKey ?? ""
    require(
      !key.utf8.contains(0), "idempotencyKey", "idempotencyKey must not hold a NUL character.",
      .invalidRequest)
    let form = new.effectiveForm
    faults += new.message.overrideFaults(in: form, countsUnread: new.badge ?? false)
    if let richType = new.richType, let payload = new.payload {
      require(!payload.utf8.contains(0), "payload", "payload must not hold a NUL character.")
      require(
        payload.utf8.count <= longestPayload, "payload",
        "payload must have at most \(longestPayload) bytes.", .tooLarge)
      require(
        Plugin.isValidName(richType), "richType",
        "\(richType.quoted) cannot be a rich type: [a-z][a-z0-9-]{0,31}.")
    } else if new.payload != nil {
      require(false, "richType", "richType is missing: it says what payload is.")
    } else if let richType = new.richType {
      require(
        false, "payload", "payload is missing: it is the \(richType) to show.")
    } else {
      require(
        new.message.isShown, "message",
        "The notification says nothing: it needs a message, a title, or media (richType and payload)."
      )
      require(form != .legacy, "form", "The form legacy announces media; there is none.")
    }
    require(
      [.silent, .legacy].contains(form) || new.richType == nil || new.message.isShown, "message",
      "message is empty, but the form \(form.rawValue) shows it.")
    require(
      new.message.replaces == nil
        || new.notBefore == nil && new.localTime == nil && new.perMinute == nil, "replaces",
      "replaces is for notifications that are sent at once, without notBefore, localTime and perMinute."
    )
    require(
      new.perMinute.map { (1...1_000_000).contains($0) } ?? true, "perMinute",
      "perMinute must be from 1 to 1000000 devices.")
    require(
      form != .legacy || new.message == NotificationMessage(new.message.text), "form",
      "The form legacy has a message only.")
    if let expires = new.expires {
      require(expires > now, "expires", "expires is in the past.")
      require(
        expires <= now || expires > new.notBefore ?? now, "expires",
        "expires is not later than notBefore.")
    }
    if let time = new.localTime {
      require(
        new.notBefore == nil, "localTime",
        "localTime is instead of notBefore: leave one of them out.")
      require(
        time.last != nil, "localTime",
        "at of localTime must be a time without a time zone, such as 2026-12-01T09:00, in a year from 2000 to 2099."
      )
      require(
        time.timeZone != nil, "localTime",
        "zone of localTime must be the name of a time zone, such as Europe/Berlin.")
      if let expires = new.expires, let last = time.last {
        require(
          expires > last, "expires",
          "expires must be later than localTime in every time zone, which is \(last.formatted(.iso8601))."
        )
      }
    }
    return faults + (new.idempotencyKey.flatMap { fault(inKey: $0) }.map { [$0] } ?? [])
  }

  /// The error if `to` matches nobody; `unknown` are the users in it that do not exist.
  func noRecipientsError(_ unknown: [String]) -> ServiceError {
    if !unknown.isEmpty {
      let names = unknown.prefix(10).map(\.quoted)
      let more = unknown.count > names.count ? " and \(unknown.count - names.count) others" : ""
      return noRecipients(
        unknown.count == 1
          ? "There is no user \(names[0])."
          : "There are no users \(names.joined(separator: ", "))\(more).")
    }
    if namedAudience != nil { return noRecipients("Nobody is in \(to[0].quoted) now.") }
    let tags = to.count > 3 ? "these \(to.count) tags" : to.map(\.quoted).joined(separator: " or ")
    let hint = to.first(where: UserName.isValid).map { " For one user write username:\($0)." }
    return noRecipients("Nobody matches \(tags)." + (hint ?? ""))
  }

  private func noRecipients(_ reason: String) -> ServiceError {
    ServiceError(.init("to", .noRecipients, reason))
  }

  /// Takes the alternative text of its asset; false if it has one of its own, or there is none.
  mutating func take(alt: String?) -> Bool {
    guard let alt, new.message.alt == nil else { return false }
    // It has no placeholders.
    new.message.alt = PlaceholderText.escaped(alt)
    return true
  }

  /// The form of the push that announces it.
  var form: PushForm { new.effectiveForm }

  /// Whether the push sets the app's icon to the unread count.
  var badge: Bool { new.badge ?? false }

  /// Whether its pushes do not wait for the end of a device's quiet hours.
  var isUrgent: Bool { new.message.importance == .urgent }

  /// The form and the badge, as stored.
  var storedForm: String { form.rawValue + (badge ? " badge" : "") }

  /// The media, if it has any.
  var media: (richType: String, payload: String)? {
    guard let richType = new.richType, let payload = new.payload else { return nil }
    return (richType, payload)
  }

  /// The collapse ID of pushes that take the place of the sender's earlier ones about the same; nil for those that
  /// replace only what their own notification said before.
  func collapseID(from sender: UserID?) -> String? {
    new.message.replaces.map { subject in
      "replaces-" + Digest(of: "\(sender?.rawValue ?? 0) \(subject)").hex.prefix(32)
    }
  }

  /// What the push for the notification with this ID announces; `details` are those of its media.
  func pushMessage(
    _ id: Int, from sender: UserID?, media: MediaLink?, details: String? = nil
  ) -> PushMessage {
    var message = PushMessage(id, new.message, richType: new.richType, form: form)
    (message.countsUnread, message.media) = (badge, media)
    message.thumbHash = ThumbHashText(details: details)?.text
    message.collapseID = collapseID(from: sender) ?? PushInsert.collapseID(ofNotification: id)
    return message
  }
}

extension NewNotification {
  /// The form of its pushes: as it says, or an alert if it has something to show and no form, or nothing to fetch.
  var effectiveForm: PushForm {
    if let form { return form }
    let isShown =
      message.title != nil || message.subtitle != nil || message.actions?.isEmpty == false
      || message.sound != nil || message.importance != nil || message.link != nil
    return isShown || richType == nil ? .alert : .silent
  }

  /// What a stored notification was created as, without what it has of its asset.
  init(_ stored: StoredNotification) {
    var said = stored.said
    if stored.hasAssetAlt { said.alt = nil }
    self.init(said, to: .anyTag(stored.to), expires: stored.expires)
    (richType, payload) = (stored.media?.richType, stored.media?.payload)
    // One that is held gets another time when it is released, unless it awaits approval.
    let keepsTime = stored.held == nil || stored.awaitsApproval
    localTime = keepsTime ? stored.localTime.flatMap(LocalTime.init(text:)) : nil
    let planned = stored.awaitsApproval ? stored.plannedTime : stored.notBefore
    notBefore = localTime == nil ? planned : nil
    perMinute = stored.perMinute
    let (form, badge) = stored.version.pushForm
    (self.form, self.badge) = (form, badge ? true : nil)
  }
}

extension NotificationMessage {
  /// Whether an alert has something to show.
  fileprivate var isShown: Bool { ((title ?? "") + text).contains { !$0.isWhitespace } }
}

extension StoredNotification {
  /// What it says, as its publisher wrote it.
  package var said: NotificationMessage { version.said }

  /// What it says to who prefers some languages, the best first, and has these values.
  package func said(
    in languages: [String], values: [String: String] = [:]
  ) -> NotificationMessage {
    // The tutorial's text has no placeholders.
    guard version.pushForm.form != .legacy else { return said }
    var own = said.localized(for: languages).personalized(with: values)
    // These are for push services.
    (own.apns, own.fcm, own.webpush) = (nil, nil, nil)
    return own
  }
}

extension StoredNotification {
  /// What the plugin said of the media; without its ThumbHash if that is not for everybody's eyes.
  fileprivate var shownDetails: JSONValue {
    let details = self.details.flatMap { JSONValue($0.utf8) } ?? .object([:])
    guard (said.lockScreen ?? .public) != .public, var members = details.members else {
      return details
    }
    members["thumbHash"] = nil
    return .object(members)
  }
}

extension StoredMessage {
  /// What it says.
  var said: NotificationMessage { NotificationMessage(text, members: members) }
}

extension RichNotification {
  /// The notification in every JSON response; without a `message` as its publisher wrote it.
  package init(
    _ stored: StoredNotification, saying message: NotificationMessage? = nil, isRead: Bool
  ) {
    self.init(
      id: stored.id, message: message ?? stored.said,
      richType: stored.media?.richType, payload: stored.media?.payload, to: stored.to,
      isRead: isRead, created: stored.created, notBefore: stored.plannedTime,
      expires: stored.expires, media: "/api/notifications/\(stored.id)",
      details: stored.shownDetails)
    held = stored.held.map { _ in true }
    localTime = stored.localTime.flatMap(LocalTime.init(text:))
    perMinute = stored.perMinute
    replacedBy = stored.replacedBy
    approval = Approval(awaitedBy: stored)
  }
}

extension Approval {
  /// That a notification waits for approval; nil if it does not.
  package init?(awaitedBy stored: StoredNotification) {
    guard stored.awaitsApproval else { return nil }
    self.init(.awaiting, people: stored.people ?? 0)
    version = stored.contentVersion
  }

  /// What was decided.
  package init(_ decision: StoredApproval, people: Int) {
    self.init(decision.reason == nil ? .approved : .refused, people: people)
    (user, reason, time) = (decision.user, decision.reason, decision.time)
  }
}

extension DeliveryCounts {
  /// The counts of a stored notification; nothing waits of one that `hasEnded`.
  package init(_ counts: NotificationCounts, hasEnded: Bool = false) {
    self.init(
      recipients: counts.recipients, queued: hasEnded ? 0 : counts.queued, sent: counts.sent,
      failed: counts.failed, fetched: counts.fetched, read: counts.read)
    (displayed, opened, dismissed) = (counts.displayed, counts.opened, counts.dismissed)
    (actions, replies) = (counts.actions, counts.replies)
  }
}
