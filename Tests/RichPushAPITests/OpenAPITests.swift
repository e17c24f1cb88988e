import Foundation
import Testing

@testable import RichPushAPI

/// The schemas of `Sources/Origin/openapi.json` beside the messages.
@Suite struct OpenAPITests {
  /// A message with every member, and one with as few as possible.
  private static let messages:
    [(schema: String, full: any Encodable & Sendable, least: any Encodable & Sendable)] = [
      ("Notification", notification(true), notification(false)),
      ("NotificationDetails", details(true), details(false)),
      ("Inbox", inbox(true), inbox(false)),
      ("NewNotification", newNotification(true), newNotification(false)),
      ("NotificationPatch", amendment(), Amendment()),
      ("Registration", registration, registration),
      ("Deliverability", deliverability(true), deliverability(false)),
      ("Asset", asset(true), asset(false)),
      ("AssetVersion", version(true), version(false)),
      (
        "AssetVersionList", AssetVersionList(versions: [version(true)]),
        AssetVersionList(versions: [])
      ),
      (
        "RemovedAssetPage", RemovedAssetPage(assets: [version(true)], next: "1/img/a"),
        RemovedAssetPage(assets: [], next: nil)
      ),
      ("AssetRestoration", AssetRestoration(sha256: "00"), AssetRestoration()),
      (
        "AssetLabelList", AssetLabelList(labels: [AssetLabel("a", count: 1)]),
        AssetLabelList(labels: [])
      ),
      ("AssetRenaming", AssetRenaming(name: "a"), AssetRenaming(name: "a")),
      ("AssetUses", uses, AssetUses(notifications: [], next: nil)),
      (
        "AssetPatch", AssetAmendment(alt: "a", focus: Asset.Focus(x: 0, y: 1), labels: ["b"]),
        AssetAmendment()
      ),
      ("AssetList", page(true), page(false)),
      ("PluginReport", report(true), report(false)),
      ("RichTypeList", richTypes(true), richTypes(false)),
      ("SentPage", sentPage(true), sentPage(false)),
      ("NotificationStatistics", statistics, statistics),
      ("WeekStatistics", weeks, WeekStatistics(weeks: [])),
      ("ImportReport", importReport, ImportReport()),
      ("ReceiptPage", receiptPage(true), receiptPage(false)),
      ("DeliveryPage", deliveryPage(true), deliveryPage(false)),
      ("AudienceSize", audience(true), audience(false)), ("DryRun", dryRun(true), dryRun(false)),
      ("OutboxPage", outbox(true), outbox(false)), ("Replayed", replayed, replayed),
      ("Resumed", resumed, resumed), ("Restored", restored, restored),
      ("LaneReport", lanes(true), lanes(false)), ("UserPage", users(true), users(false)),
      (
        "UserChange",
        UserChange(role: "admin", password: "p", endRegistrations: true, maxDevices: 65),
        UserChange(role: "admin")
      ),
      ("DeviceList", devices(true), devices(false)),
      ("DevicePatch", deviceChange, DeviceChange()), ("ReadMark", readMark, readMark),
      ("UnreadCount", UnreadCount(unread: 1), UnreadCount(unread: 0)),
      ("FailedLoginReport", refusals(true), refusals(false)),
      ("StatusReport", status(true), status(false)),
      ("AuditPage", auditPage(true), auditPage(false)),
      ("StorageReport", storage, storage), ("SignIn", signIn, signIn),
      ("SignedIn", signedIn(1), signedIn(nil)),
      ("SignInState", signInState, signInState), ("SignedOut", signedOut, signedOut),
      ("PasswordChange", password, password),
      ("AudienceNames", names, names), ("Interaction", reply, Interaction.displayed),
      ("InteractionPage", interactionPage(true), interactionPage(false)),
      ("Approval", approval, Approval(.awaiting, people: 3)),
      ("AmendmentList", amendments("u"), amendments(nil)),
      ("WebhookList", webhooks(true), webhooks(false)),
      ("NewWebhook", newWebhook(true), newWebhook(false)),
      ("FailedDeliveryList", failedDeliveries, FailedDeliveryList(deliveries: [])),
      ("WebhookResult", WebhookResult(.sent, 1), WebhookResult(.ignored)),
    ]

  @Test(arguments: messages.map(\.schema))
  func `a message has the members of its schema, all that are required, and no others`(
    name: String
  ) throws {
    let document = try Document()
    let message = try #require(Self.messages.first { $0.schema == name })
    let schema = document.schemas[dynamicMember: name]
    let (full, least) = (
      try #require(JSONValue(JSONCoding.encode(message.full))),
      try #require(JSONValue(JSONCoding.encode(message.least)))
    )
    #expect(document.problems(of: full, schema, everyMember: true) == [])
    #expect(document.problems(of: least, schema, everyMember: false) == [])
    #expect(document.problems(of: .object(["unheardOf": .null]), schema, everyMember: true) != [])
  }

  @Test func `a request may have the members of its schema and must have the required ones`()
    throws
  {
    try expectMembers(of: "NewNotification", NewNotification.self)
    try expectMembers(of: "NotificationPatch", Amendment.self)
    try expectMembers(of: "AssetPatch", AssetAmendment.self)
    try expectMembers(of: "Registration", Registration.self)
    try expectMembers(of: "SignIn", SignIn.self)
    try expectMembers(of: "UserChange", UserChange.self)
    try expectMembers(of: "PasswordChange", PasswordChange.self)
    try expectMembers(of: "Interaction", Interaction.self)
    try expectMembers(of: "DevicePatch", DeviceChange.self)
    try expectMembers(of: "ReadMark", ReadMark.self)
    try expectMembers(of: "NewWebhook", NewWebhook.self)
  }

  private func expectMembers<Message: RequestMessage>(
    of name: String, _ message: Message.Type
  ) throws {
    let schema = try Document().schemas[dynamicMember: name]
    let properties = try #require(schema.properties.members)
    #expect(throws: Never.self) { try Message.check(members: Array(properties.keys)) }
    let sample = try #require(Self.messages.first { $0.schema == name })
    let members = try #require(JSONValue(JSONCoding.encode(sample.full))?.members)
    // A registration without a platform is rejected by the route, with the platforms there are.
    guard case .array(let required) = schema.required, name != "Registration" else { return }
    for member in required.compactMap(\.text) {
      let rest = members.filter { $0.key != member }
      #expect(throws: ServiceError.self, "\(member)") {
        try JSONCoding.decode(Message.self, from: JSONCoding.encode(rest))
      }
    }
  }

  @Test func `a generated client may send every default of a query`() throws {
    let document = try JSONSerialization.jsonObject(with: Data(contentsOf: Document.file))
    var found: Set<String> = []
    func search(_ value: Any) {
      if let members = value as? [String: Any] {
        if members["in"] as? String == "query", members["required"] as? Bool != true,
          let schema = members["schema"] as? [String: Any], schema["default"] != nil
        {
          found.insert(members["name"] as? String ?? "")
        }
        members.values.forEach(search)
      }
      (value as? [Any])?.forEach(search)
    }
    search(document)
    // These are valid together with all other parameters of their operations.
    #expect(found == ["limit", "weeks", "for"])
  }

  // MARK: - Messages

  private static let importReport = {
    var report = ImportReport()
    report.add([ImportReport.Line(2, "bob", .refused, "There is no user “bob”.")])
    return report
  }()

  private static let weeks = WeekStatistics(weeks: [WeekStatistics.Week(start: date)])

  private static let statistics = NotificationStatistics(
    id: 1, state: .sent, counted: date, users: funnel, interactions: (1, 2),
    unreachable: [NotificationStatistics.Unreachable(cause: "failed", reason: "r", users: 1)],
    groups: (
      [NotificationStatistics.Group(names: ["apns"], users: funnel)],
      [NotificationStatistics.Group(names: [], users: funnel)]
    ), course: NotificationStatistics.Course(start: date, length: 10) { _ in [1] },
    hasReceipts: true)
  private static let funnel = Funnel(recipients: 3, waiting: 1, unreachable: 1, sent: 1)

  private static let date = Date(timeIntervalSince1970: 1_800_000_000)

  /// With every member.
  private static let message: NotificationMessage = {
    var message: NotificationMessage = "m"
    (message.title, message.subtitle, message.alt) = ("t", "s", "a")
    (message.link, message.icon, message.colour) = (
      "https://a.example", "https://a.example", "#00aa77"
    )
    var action = MessageAction("a", label: "A")
    (action.link, action.input, action.dismiss, action.destructive) = ("l", "i", true, true)
    message.actions = [action]
    (message.category, message.thread, message.channel, message.label) = ("c", "t", "c", "l")
    message.replaces = "r"
    (message.sound, message.importance, message.relevance) = (.default, .high, 0.5)
    (message.lockScreen, message.data) = (.private, .object(["a": .number(1)]))
    var translation = MessageTranslation("m")
    (translation.title, translation.subtitle, translation.alt) = ("t", "s", "a")
    (translation.link, translation.actions) = ("https://a.example", ["a": "A"])
    (message.language, message.languages) = ("en", ["de-CH": translation])
    message.variables = ["name": "n"]
    let override = JSONValue.object(["aps": .object([:])])
    (message.apns, message.fcm, message.webpush) = (override, override, override)
    return message
  }()

  private static func notification(_ isFull: Bool) -> RichNotification {
    let (richType, payload) = isFull ? ("img", "p") : (nil, nil)
    var notification = RichNotification(
      id: 0, message: isFull ? message : "m", richType: richType, payload: payload, to: ["a"],
      isRead: false, created: date,
      notBefore: isFull ? date : nil, expires: isFull ? date : nil, media: "/",
      details: .object([:]))
    if isFull {
      notification.reach = RichNotification.Reach(
        users: 1, devices: 2, unknown: ["b"], devicesWithoutLane: 1)
      notification.reach?.skipped = 1
      (notification.held, notification.replacedBy) = (true, 1)
      (notification.localTime, notification.perMinute) = (localTime, 100)
      notification.approval = approval
    }
    return notification
  }

  private static var approval: Approval {
    var approval = Approval(.refused, people: 3)
    (approval.version, approval.sender, approval.user) = ("v", "s", "u")
    (approval.reason, approval.time) = ("r", date)
    return approval
  }

  private static func details(_ isFull: Bool) -> RichNotification {
    var details = notification(isFull)
    details.receipts = [receipt(isFull)]
    if isFull {
      details.deliveries = [delivery(true)]
      details.interactions = interactionPage(true).interactions
      details.counts = counts
      (details.form, details.badge, details.state) = (.alert, true, .sent)
      details.platforms = [members]
      details.first = RichNotification.FirstTimes(sent: date, fetched: nil, read: nil)
      details.replaced = RichNotification.Replacement(time: date, count: 1, users: ["t"])
    }
    (details.renditions, details.links) = (["ios": "/"], ["ios": "/"])
    return details
  }

  private static func receipt(_ isFull: Bool) -> RichNotification.Receipt {
    let time = isFull ? date : nil
    return RichNotification.Receipt(
      user: isFull ? "t" : nil, state: "queued", sent: time, fetched: time, read: time,
      devices: [.init(registration: "r", state: "read", fetched: time, read: time)])
  }

  private static func delivery(_ isFull: Bool) -> RichNotification.Delivery {
    let text = isFull ? "t" : nil
    var delivery = RichNotification.Delivery(
      job: 1, lane: "l", user: text, registration: text, state: "queued", attempts: 1,
      updated: date, reference: text, reason: text)
    if isFull { delivery.due = date }
    return delivery
  }

  private static func receiptPage(_ isFull: Bool) -> ReceiptPage {
    ReceiptPage(receipts: [receipt(isFull)], next: isFull ? 1 : nil)
  }

  private static func deliveryPage(_ isFull: Bool) -> DeliveryPage {
    DeliveryPage(deliveries: [delivery(isFull)], next: isFull ? 1 : nil)
  }

  private static let readMark = ReadMark(until: 7)

  private static let reply = Interaction.reply("t", to: "a", key: "k")

  private static func interactionPage(_ isFull: Bool) -> InteractionPage {
    let text = isFull ? "t" : nil
    return InteractionPage(
      interactions: [
        RecordedInteraction(
          id: 1, user: "u", device: text, event: isFull ? .reply : .action, action: "a", text: text,
          time: date)
      ], next: isFull ? 1 : nil)
  }

  private static func amendments(_ editor: String?) -> AmendmentList {
    AmendmentList(amendments: [
      RecordedAmendment(editor: editor, time: date, earlier: ["title": .null])
    ])
  }

  private static func webhooks(_ isFull: Bool) -> WebhookList {
    var one = WebhookList.Webhook(id: 1, name: "a", user: "u", created: date)
    (one.template, one.to) = (.string("github"), ["a"])
    if isFull { (one.rate, one.expires, one.used, one.address) = (1, date, date, "::1") }
    return WebhookList(isServed: true, webhooks: [one])
  }

  private static func newWebhook(_ isFull: Bool) -> NewWebhook {
    var new = NewWebhook("a", template: .string("github"), to: .anyTag(["a"]))
    guard isFull else { return new }
    (new.signingSecret, new.rate, new.expires, new.user) = ("s", 1, date, "u")
    return new
  }

  private static let failedDeliveries = FailedDeliveryList(
    deliveries: [.init(id: 1, failed: date, reason: "r")])

  private static let counts = DeliveryCounts(
    recipients: 1, queued: 2, sent: 3, failed: 4, fetched: 5, read: 6)

  private static func sentPage(_ isFull: Bool) -> SentPage {
    let (richType, payload) = isFull ? ("img", "p") : (nil, nil)
    var entry = SentPage.Entry(
      id: 0, message: isFull ? message : "m", richType: richType, payload: payload, created: date,
      audience: ["a"], state: .scheduled, counts: counts)
    (entry.sender, entry.notBefore) = (isFull ? "alice" : nil, isFull ? date : nil)
    (entry.expires, entry.localTime) = (isFull ? date : nil, isFull ? localTime : nil)
    entry.approval = isFull ? approval : nil
    return SentPage(notifications: [entry], next: isFull ? 0 : nil)
  }

  private static let members = PlatformMembers(
    platform: "apns", shown: ["message"], carried: [], dropped: [], reports: [.opened])

  private static func dryRun(_ isFull: Bool) -> DryRun {
    var rendition = DryRun.Rendition(profile: "ios", status: .ready, limit: 1)
    if isFull {
      (rendition.reason, rendition.contentType) = ("r", "image/png")
      (rendition.bytes, rendition.url, rendition.data) = (1, "/", "AA==")
    }
    var text = DryRun.Text(
      platform: "apns", body: "m", bytes: 1, limit: 2, cut: false, members: members,
      payload: .object([:]))
    text.language = isFull ? "de" : nil
    var result = DryRun(
      audience: audience(isFull), renditions: [rendition], texts: [text], warnings: [])
    result.times = isFull ? DryRun.Times(first: date, last: date, passed: 1) : nil
    result.skipped =
      isFull ? DryRun.Skipped(count: 1, users: [.init(username: "u", placeholder: "p")]) : nil
    return result
  }

  private static func richTypes(_ isFull: Bool) -> RichTypeList {
    var field = RichTypeList.Field(
      name: "place", label: ["en": "Place"], kind: "choice", required: true,
      choices: isFull ? [.init(value: "shop", label: ["en": "Shop"])] : [])
    if isFull {
      (field.example, field.minimum, field.maximum, field.maxLength) = (.string("shop"), 1, 2, 3)
    }
    let type = RichTypeList.RichType(
      richType: "coupon", label: isFull ? ["en": "Coupon"] : [:], form: isFull ? [field] : nil)
    return RichTypeList(types: [type])
  }

  private static let localTime = LocalTime(at: "2026-12-01T09:00", zone: "Europe/Berlin")

  private static func audience(_ isFull: Bool) -> AudienceSize {
    var size = AudienceSize(users: 1, devices: ["apns": 2], unknown: ["u"])
    size.needsApproval = isFull ? true : nil
    size.quietHours = isFull ? QuietHours(from: "22:00", until: "07:00") : nil
    return size
  }

  private static func inbox(_ isFull: Bool) -> Inbox {
    Inbox(notifications: [notification(isFull)], unread: 1, next: isFull ? "/" : nil)
  }

  private static func newNotification(_ isFull: Bool) -> NewNotification {
    var new = NewNotification("m", to: .users(["alice"]))
    if isFull {
      (new.message, new.richType, new.payload) = (message, "img", "p")
      (new.notBefore, new.expires, new.idempotencyKey) = (date, date, "k")
      (new.form, new.badge, new.localTime) = (.alert, true, localTime)
      new.perMinute = 100
      (new.values, new.onMissing) = (["username:alice": ["name": "n"]], .skip)
    }
    return new
  }

  private static func amendment() -> Amendment {
    var amendment = Amendment(
      message: "m", richType: "img", payload: "p", notBefore: date, expires: date)
    (amendment.form, amendment.badge) = (.value(.alert), .value(true))
    (amendment.localTime, amendment.perMinute) = (.value(localTime), .value(100))
    (amendment.title, amendment.subtitle, amendment.alt) = (.value("t"), .value("s"), .removal)
    (amendment.link, amendment.icon, amendment.colour) = (.removal, .removal, .value("#00aa77"))
    amendment.actions = .value(message.actions ?? [])
    (amendment.category, amendment.thread, amendment.channel) = (.removal, .removal, .removal)
    (amendment.sound, amendment.importance) = (.value(.critical(volume: 0.5)), .value(.low))
    (amendment.relevance, amendment.lockScreen) = (.value(1), .value(.secret))
    (amendment.data, amendment.label) = (.value(.object([:])), .value("l"))
    (amendment.language, amendment.languages) = (.value("en"), .value([:]))
    (amendment.variables, amendment.values) = (.removal, .value([:]))
    (amendment.apns, amendment.fcm) = (.value(.object(["a": .null])), .value(.object([:])))
    amendment.webpush = .removal
    return amendment
  }

  private static let registration: Registration = {
    var registration = Registration(
      platform: "webpush", handle: "AB", tags: ["news"],
      keys: Registration.Keys(p256dh: "AB", auth: "AB"), name: "n", language: "de",
      timeZone: "UTC")
    registration.quietHours = QuietHours(from: "22:00", until: "07:00")
    return registration
  }()

  private static let deviceChange: DeviceChange = {
    var change = DeviceChange()
    (change.name, change.tags) = (.value("n"), .value(["news"]))
    (change.language, change.timeZone) = (.value("de"), .value("UTC"))
    change.quietHours = .value(QuietHours(from: "22:00", until: "07:00"))
    change.platform = .removal
    return change
  }()

  private static func deliverability(_ isFull: Bool) -> Deliverability {
    Deliverability(
      platform: "apns", service: isFull ? "embedded" : nil, reason: isFull ? nil : "none")
  }

  private static func asset(_ isFull: Bool) -> Asset {
    var asset = Asset(
      richType: "img", name: "a", state: .preparing, reason: isFull ? "r" : nil,
      advice: isFull ? "a" : nil, contentType: isFull ? "image/png" : nil, bytes: 1,
      sha256: isFull ? "00" : nil, progress: isFull ? .init(made: 1, total: 6) : nil,
      details: .object(isFull ? ["width": .number(1)] : [:]))
    asset.modified = isFull ? date : nil
    (asset.alt, asset.focus) = isFull ? ("a", Asset.Focus(x: 0.5, y: 0.3)) : (nil, nil)
    asset.labels = isFull ? ["l"] : []
    return asset
  }

  private static func version(_ isFull: Bool) -> AssetVersion {
    var version = AssetVersion(
      richType: "img", name: "a", sha256: "00", bytes: 1, modified: date, ended: date, until: date)
    if isFull {
      (version.contentType, version.alt) = ("image/png", "a")
      version.focus = Asset.Focus(x: 0.5, y: 0.3)
    }
    return version
  }

  private static let uses = {
    var uses = AssetUses(notifications: sentPage(true).notifications, next: 1)
    (uses.count, uses.drafts) = (2, [AssetUses.Draft(id: 1, name: "n", isTemplate: true)])
    return uses
  }()

  private static func page(_ isFull: Bool) -> AssetPage {
    AssetPage(
      assets: [asset(isFull)], next: isFull ? "img/a" : nil,
      counts: isFull ? AssetCounts(ready: 1, preparing: 2, refused: 3) : nil)
  }

  private static func report(_ isFull: Bool) -> PluginReport {
    var plugin = PluginReport.Plugin(
      richType: "img", version: "1", mode: "fastcgi", verbs: ["validate"],
      problem: isFull ? "p" : nil, confinement: "c", processes: .init(idle: 1, busy: 0, most: 2),
      calls: 1, failures: 0, medianSeconds: isFull ? 0.5 : nil, slowestSeconds: isFull ? 1 : nil)
    plugin.lastFailure = isFull ? "f" : nil
    plugin.lastFailureTime = isFull ? date : nil
    plugin.lastFailureOutput = isFull ? "e" : nil
    return PluginReport(plugins: [plugin], sandbox: .init(level: "strict", gaps: ["g"]))
  }

  private static func outbox(_ isFull: Bool) -> OutboxPage {
    var job = OutboxPage.Job(
      id: 1, lane: "apns", state: "failed", attempts: 1, due: date, updated: date)
    (job.notification, job.user, job.reason) = isFull ? (0, "alice", "r") : (nil, nil, nil)
    return OutboxPage(jobs: [job], next: isFull ? 1 : nil)
  }

  private static let replayed = Replayed(replayed: 1)
  private static let resumed = Resumed(resumed: 1)
  private static let restored = Restored(restored: 1)

  private static func lanes(_ isFull: Bool) -> LaneReport {
    var lane = LaneReport.Lane(
      name: "apns", state: "paused", queued: 1, sent: 2, failed: 3, retried: 4)
    if isFull { (lane.reason, lane.until, lane.oldestWaiting) = ("r", date, date) }
    return LaneReport(lanes: [lane])
  }

  private static func users(_ isFull: Bool) -> UserPage {
    var user = UserPage.User(
      username: "alice", role: "device", created: date, devices: 1, maxDevices: 64,
      lastSeen: isFull ? date : nil)
    if isFull { user.identities = [.init(provider: "https://login.example", subject: "s-1")] }
    return UserPage(users: [user], next: isFull ? "alice" : nil)
  }

  private static func auditPage(_ isFull: Bool) -> AuditPage {
    guard isFull else { return AuditPage(entries: [], next: nil) }
    var actor = AuditPage.Actor(kind: "user", number: 1, name: "alice")
    (actor.credential, actor.credentialID, actor.address) = ("session", "7", "192.0.2.1")
    let entry = AuditPage.Entry(
      number: 1, time: date, action: "user.added", actor: actor,
      object: AuditPage.Object(kind: "user", id: "2", name: "bob", owner: 2, ownerName: "bob"),
      detail: "admin", count: 1, request: "r")
    return AuditPage(entries: [entry], next: 1)
  }

  private static func devices(_ isFull: Bool) -> DeviceList {
    var device = DeviceList.Device(
      registration: "r", platform: isFull ? "apns" : nil, tags: ["t"], updated: date)
    if isFull {
      (device.name, device.created, device.lastContact, device.ended) = ("n", date, date, date)
      (device.credential, device.userAgent) = ("password", "app/1")
      (device.language, device.timeZone) = ("de", "UTC")
      device.quietHours = QuietHours(from: "22:00", until: "07:00")
    }
    var list = DeviceList(devices: [device], next: isFull ? "r" : nil)
    if isFull {
      list.others = [.init(name: "o", platform: "apns", lastContact: date, ended: date)]
    }
    return list
  }

  private static func refusals(_ isFull: Bool) -> FailedLoginReport {
    FailedLoginReport(refused: [
      .init(
        address: isFull ? "::1" : nil, username: isFull ? "alice" : nil, failures: 10, until: date)
    ])
  }

  private static func status(_ isFull: Bool) -> StatusReport {
    var attention = StatusReport.Attention("certificate.expires", .warning, "It expires.")
    if isFull {
      (attention.name, attention.user, attention.count) = ("n", "u", 1)
      (attention.since, attention.until, attention.reason) = (date, date, "r")
    }
    var report = StatusReport(
      attention: [attention],
      server: .init(
        version: "0.2.0", node: "n", started: date, database: "SQLite", schema: 1, hasLead: true),
      disks: [.init(folders: ["data"], path: "/", free: 1, total: 2)],
      caches: [.init(name: "renditions", size: 1, limit: 2)],
      certificates: [.init(file: "f", expires: date)],
      errors: [.init(time: date, level: "error", area: "push", text: "t", count: 2)])
    if isFull {
      report.records = .init(
        users: .init(device: 1, publisher: 2, admin: 3),
        devices: [.init(platform: "apns", service: "apns", count: 1)], lanes: lanes(true).lanes,
        scheduled: 1, awaitingApproval: 2,
        accessTokens: [.init(name: "ci", user: "shop", expires: date, isWebhook: true)],
        databaseSize: 3)
    }
    return report
  }

  private static let storage = StorageReport(database: 1, blobs: 2, renditions: 3, free: 4)

  private static let signIn = SignIn(username: "alice", password: "p")
  private static let signInState = SignInState(
    signedIn: false, demo: true, singleSignOn: nil, passwords: true)
  private static let signedOut = SignedOut(location: "https://login.example/logout")
  private static let password = PasswordChange(old: "o", new: "n")
  private static let names = AudienceNames(users: ["alice"], tags: ["news"])

  private static func signedIn(_ current: Int?) -> SignedIn {
    SignedIn(
      username: "alice", role: "publisher", demo: false, password: true, current: current,
      sessions: [.init(id: 1, created: date, used: date, userAgent: "a")])
  }

  // MARK: - Schemas

  /// The part of JSON Schema that the document uses for responses.
  private struct Document {
    let schemas: JSONValue

    static let file = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Sources/Origin/openapi.json")

    init() throws {
      let document = try #require(JSONValue(Data(contentsOf: Self.file)))
      schemas = document.components.schemas
    }

    /// Where a value does not follow a schema; with `everyMember` also where a member is missing that it may have.
    func problems(of value: JSONValue, _ schema: JSONValue, everyMember: Bool) -> [String] {
      var schema = schema.members ?? [:]
      if let name = schema["$ref"]?.text?.split(separator: "/").last {
        return problems(of: value, schemas[dynamicMember: String(name)], everyMember: everyMember)
      }
      for case .array(let choices)? in [schema["oneOf"], schema["anyOf"]] {
        let all = choices.map { problems(of: value, $0, everyMember: everyMember) }
        return all.min { $0.count < $1.count } ?? []
      }
      if case .array(let parts)? = schema["allOf"] {
        let parts = parts.map { part in
          part.members?["$ref"]?.text.flatMap { $0.split(separator: "/").last }
            .map { schemas[dynamicMember: String($0)] } ?? part
        }
        schema["properties"] = .object(
          parts.reduce(into: [:]) { $0.merge($1.properties.members ?? [:]) { $1 } })
        schema["required"] = .array(parts.flatMap { items($0.required) })
        schema["type"] = .string("object")
      }
      if let type = schema["type"] {
        let types = type.text.map { [$0] } ?? items(type).compactMap(\.text)
        guard types.contains(where: { isType(value, $0) }) else {
          return ["\(value) is no \(types)"]
        }
      }
      if case .array(let values)? = schema["enum"], !values.contains(value) {
        return ["\(value) is not in \(values)"]
      }
      switch value {
      case .array(let values):
        return values.flatMap {
          problems(of: $0, schema["items"] ?? .null, everyMember: everyMember)
        }
      case .object(let members):
        return problems(of: members, schema, everyMember: everyMember)
      default: return []
      }
    }

    private func problems(
      of members: [String: JSONValue], _ schema: [String: JSONValue], everyMember: Bool
    ) -> [String] {
      let properties = schema["properties"]?.members ?? [:]
      let required = items(schema["required"] ?? .null).compactMap(\.text)
      let missing = (everyMember ? Array(properties.keys) : required).filter { members[$0] == nil }
      return missing.map { "\($0) is missing" }
        + members.sorted { $0.key < $1.key }.flatMap { name, value -> [String] in
          if let property = properties[name] {
            return problems(of: value, property, everyMember: everyMember).map { "\(name): \($0)" }
          }
          switch schema["additionalProperties"] {
          case .bool(true): return []
          case .object?:
            return problems(of: value, schema["additionalProperties"] ?? .null, everyMember: true)
          default: return properties.isEmpty ? [] : ["\(name) is not described"]
          }
        }
    }

    private func items(_ value: JSONValue) -> [JSONValue] {
      if case .array(let items) = value { items } else { [] }
    }

    private func isType(_ value: JSONValue, _ type: String) -> Bool {
      switch (value, type) {
      case (.null, "null"), (.bool, "boolean"), (.number, "number"), (.string, "string"),
        (.array, "array"), (.object, "object"):
        true
      case (.number, "integer"): value.integer != nil
      default: false
      }
    }
  }
}
