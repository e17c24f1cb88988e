import FoundationEssentials
import Testing

@testable import Store

/// A function of the records that writes, and what has to follow its commit.
struct WritingFunction: Sendable {
  /// A call, and the effects that it must have.
  struct Call: Sendable {
    let effects: Set<Effect>
    let body: @Sendable (Store) async throws -> Void

    init(
      effects: Set<Effect>, _ body: @escaping @Sendable (Store) async throws -> Void
    ) { (self.effects, self.body) = (effects, body) }
  }

  let name: String
  /// Makes what the call needs.
  let prepare: @Sendable (Store, Scratch) async throws -> Call

  private init(
    _ name: String, _ prepare: @escaping @Sendable (Store) async throws -> Call
  ) { self.init(name) { store, _ in try await prepare(store) } }

  /// One that depends on the time.
  private init(
    _ name: String, _ prepare: @escaping @Sendable (Store, Scratch) async throws -> Call
  ) { (self.name, self.prepare) = (name, prepare) }

  /// One that needs nothing.
  private init(
    _ name: String, effects: Set<Effect>, _ body: @escaping @Sendable (Store) async throws -> Void
  ) {
    self.init(name) { _ in Call(effects: effects, body) }
  }

  /// Effects of a function that has none, beside events for publishers, of which everybody hears after each commit.
  private static let none: Set<Effect> = []

  // MARK: - The table

  /// Every function that writes; those that have two outcomes are in it twice.
  static let all =
    accounts + sessions + identities + accessTokens + webhooks + drafts + segments + pairings
    + notifications
    + outbox
    + events
    + assets
    + audit
    + upkeep

  /// The functions that take space and can wait until there is some, except to repeat what was done already.
  static let needingSpace: Set = [
    "addDraft", "addWebhook", "amend", "announce", "changeDraft", "completeAudience", "create",
    "eraseRecords", "keep", "putSegment", "releaseHeldEvents", "setAttributes", "signUp",
    "writeNextParts",
  ]

  private static let accounts = [
    Self("addUser", effects: none) {
      try await $0.accounts.addUser("new", hash: "", role: .device)
    },
    // In place of a user without a password, whose credentials end.
    Self("addUser") { store in
      let user = try await store.guest("guest")
      return Call(effects: [.credentialsEnded(user)]) {
        try await $0.accounts.addUser("guest", hash: "", role: .device)
      }
    },
    Self("setPassword") { store in
      let user = try await store.user("word")
      return Call(effects: [.credentialsEnded(user)]) {
        _ = try await $0.accounts.setPassword(of: "word", hash: "")
      }
    },
    Self("changePassword") { store in
      let user = try await store.user("changing")
      let old = try await store.accounts.user(named: "changing")?.hash ?? ""
      let current = try await store.addSession(of: user)
      return Call(effects: [.credentialsEnded(user)]) {
        let session = SessionRenewal(current: current, next: Digest(of: "next"), userAgent: "")
        _ = try await $0.accounts.changePassword(of: user, from: old, to: "2", renewing: session)
      }
    },
    Self("setMaxDevices", effects: none) {
      _ = try await $0.accounts.setMaxDevices(of: "alice", to: 99)
    },
    Self("setAttributes", effects: none) {
      _ = try await $0.accounts.setAttributes(["alice": ["city": "Bern"]])
    },
    Self("removeUser") { store in
      let user = try await store.user("gone")
      return Call(effects: [.credentialsEnded(user)]) {
        _ = try await $0.accounts.removeUser("gone")
      }
    },
    Self("userIDs", effects: none) {
      _ = try await $0.accounts.userIDs(
        of: ["later"], allowingPasswordless: true, addingPasswordless: true)
    },
    // Calls `userIDs`, which adds nobody for it.
    Self("audience", effects: none) {
      _ = try await $0.accounts.audience(
        named: ["alice"], allowingPasswordless: true, matching: [], withZones: true)
    },
    Self("registration", effects: none) {
      _ = try await $0.accounts.registration(forHandle: "AA", user: alice)
    },
    Self("putRegistration", effects: none) {
      try await $0.register("phone", of: alice)
    },
    // The device was another user's, and is sent by another lane now.
    Self("putRegistration") { store in
      try await store.register("hers", of: alice, handle: "same")
      return Call(effects: [.credentialsEnded(alice), .jobs(lane: "webpush:a")]) { store in
        var change = RegistrationChange(platform: "fcm", handle: "same")
        change.lane = "webpush:a"
        try await store.events.push("{}", to: [], pushes: [.toAudience("webpush:a")])
        _ = try await store.accounts.putRegistration("his", user: bob, change)
      }
    },
    // What waits for the end of quiet hours is looked at again.
    Self("changeSettings") { store in
      try await store.register("quiet", of: alice)
      let minute = Int(store.now().timeIntervalSince1970) / 60 % 1440
      _ = try await store.accounts.changeSettings(of: "quiet", user: alice) {
        $0.quietPeriod = QuietPeriod(from: minute, until: (minute + 1439) % 1440)
      }
      try await store.events.push("{}", to: [], pushes: [.to("quiet")])
      _ = try await store.outbox.lease(lane: "fcm", until: store.now() + 9)
      return Call(effects: [.jobs(lane: "fcm")]) {
        _ = try await $0.accounts.changeSettings(of: "quiet", user: alice) { $0.quietPeriod = nil }
      }
    },
    Self("removeRegistration") { store in
      try await store.register("old", of: alice)
      return Call(effects: [.credentialsEnded(alice)]) {
        _ = try await $0.accounts.removeRegistration("old", user: alice)
      }
    },
    Self("addToken") { store in
      try await store.register("first", of: alice)
      return Call(effects: none) { try await $0.addToken("first", of: alice) }
    },
    // The third token of a device ends the first.
    Self("addToken") { store in
      try await store.register("third", of: alice)
      for _ in 0..<2 { try await store.addToken("third", of: alice) }
      return Call(effects: [.credentialsEnded(alice)]) {
        try await $0.addToken("third", of: alice)
      }
    },
    Self("device") { store in
      try await store.register("seen", of: alice)
      let token = try await store.addToken("seen", of: alice)
      return Call(effects: none) { _ = try await $0.accounts.device(withToken: token) }
    },
    Self("removeTokens") { store in
      try await store.register("lost", of: alice)
      return Call(effects: [.credentialsEnded(alice)]) {
        _ = try await $0.accounts.removeTokens(of: "lost", user: alice)
      }
    },
    Self("addLinkKey", effects: [.everything]) { _ = try await $0.accounts.addLinkKey() },
    Self("removeLinkKey") { store in
      let keys = try await store.accounts.linkKeys()
      _ = try await store.accounts.addLinkKey()
      return Call(effects: [.everything]) {
        _ = try await $0.accounts.removeLinkKey(keys[0].id)
      }
    },
    Self("ticketKeys", effects: [.ticketKeys]) { _ = try await $0.tickets.ticketKeys() },
    // The newest is used on.
    Self("ticketKeys") { store in
      _ = try await store.tickets.ticketKeys()
      return Call(effects: none) { _ = try await $0.tickets.ticketKeys() }
    },
    Self("removeTicketKeys", effects: [.ticketKeys]) { try await $0.tickets.removeTicketKeys() },
    Self("putUser") { store in
      let user = try await store.user("former")
      return Call(effects: [.credentialsEnded(user)]) {
        _ = try await $0.administration.putUser("former", role: .publisher, hash: nil)
      }
    },
    Self("removeUserUnlessLastAdmin") { store in
      let user = try await store.user("unwanted")
      return Call(effects: [.credentialsEnded(user)]) {
        _ = try await $0.administration.removeUserUnlessLastAdmin("unwanted")
      }
    },
    Self("endCredentials", effects: [.credentialsEnded(bob)]) {
      _ = try await $0.administration.endCredentials(of: bob)
    },
    // The device may register again with its token.
    Self("endSilentRegistrations", effects: none) {
      _ = try await $0.administration.endSilentRegistrations(since: .distantPast)
    },
  ]

  private static let sessions = [
    Self("addSession", effects: none) { _ = try await $0.addSession(of: alice) },
    // The oldest of too many ends.
    Self("addSession") { store in
      for _ in 0..<Session.most { try await store.addSession(of: bob) }
      return Call(effects: [.credentialsEnded(bob)]) { _ = try await $0.addSession(of: bob) }
    },
    Self("sessionUser") { store in
      let token = try await store.addSession(of: alice)
      return Call(effects: none) { _ = try await $0.sessions.sessionUser(withToken: token) }
    },
    Self("removeSession") { store in
      try await store.addSession(of: carol)
      let session = try await store.sessions.sessions(of: carol)[0]
      return Call(effects: [.credentialsEnded(carol)]) {
        _ = try await $0.sessions.removeSession(session.id, user: carol)
      }
    },
  ]

  private static func signIn(_ name: String, _ beginning: String = "s") -> ProviderSignIn {
    var new = ProviderSignIn(
      Digest(of: name + beginning), of: Identity(issuer: "https://a", subject: name),
      beginning: .session(Digest(of: name + beginning), userAgent: ""))
    new.newName = name
    return new
  }

  private static let identities = [
    Self("signIn", effects: none) { _ = try await $0.identities.signIn(signIn("ida")) },
    // The user's role is another from then on.
    Self("signIn") { store in
      let user = try await store.user("igor")
      _ = try await store.identities.link(
        "igor", with: Identity(issuer: "https://a", subject: "igor"))
      return Call(effects: [.credentialsEnded(user)]) { store in
        var new = signIn("igor")
        new.role = .publisher
        _ = try await store.identities.signIn(new)
      }
    },
    Self("link") { store in
      _ = try await store.user("ines")
      return Call(effects: none) {
        _ = try await $0.identities.link(
          "ines", with: Identity(issuer: "https://a", subject: "ines"))
      }
    },
    Self("unlink") { store in
      let user = try await store.user("iris")
      _ = try await store.identities.link(
        "iris", with: Identity(issuer: "https://a", subject: "iris"))
      return Call(effects: [.credentialsEnded(user)]) {
        _ = try await $0.identities.unlink("iris")
      }
    },
    Self("endSessions") { store in
      _ = try await store.identities.signIn(signIn("ivan"))
      let user = try #require(try await store.accounts.user(named: "ivan")).id
      return Call(effects: [.credentialsEnded(user)]) {
        _ = try await $0.identities.endSessions(
          at: "https://a", subject: "ivan", session: nil)
      }
    },
  ]

  private static let accessTokens = [
    Self("addAccessToken", effects: none) { try await $0.addAccessToken("added", of: alice) },
    Self("recordUse") { store in
      let id = try await store.addAccessToken("used", of: alice)
      return Call(effects: none) { $0.accessTokens.recordUse(ofAccessToken: id, from: "::1") }
    },
    Self("removeAccessToken") { store in
      let id = try await store.addAccessToken("removed", of: carol)
      return Call(effects: [.credentialsEnded(carol)]) {
        _ = try await $0.accessTokens.removeAccessToken(id, of: carol)
      }
    },
  ]

  private static let webhooks = [
    Self("addWebhook", effects: none) { try await $0.addWebhook("heard", of: alice) },
    Self("keep") { store in
      let id = try await store.addWebhook("failed", of: alice)
      return Call(effects: none) { try await $0.keepDelivery("failed", of: id) }
    },
    Self("removeDelivery") { store in
      let id = try await store.addWebhook("succeeded", of: alice)
      try await store.keepDelivery("succeeded", of: id)
      return Call(effects: none) {
        $0.webhooks.removeDelivery(Digest(of: "succeeded"), of: id)
      }
    },
  ]

  private static let drafts = [
    Self("addDraft", effects: none) { _ = try await $0.addDraft("added", by: alice) },
    Self("changeDraft") { store in
      let id = try await store.addDraft("changed", by: alice).id
      return Call(effects: none) {
        _ = try await $0.drafts.changeDraft(
          id, DraftChange(name: "new", content: "{}", isTemplate: true), version: 1, by: bob)
      }
    },
    Self("removeDraft") { store in
      let id = try await store.addDraft("removed", by: alice).id
      return Call(effects: none) { _ = try await $0.drafts.removeDraft(id, version: nil) }
    },
  ]

  private static let segments = [
    Self("putSegment", effects: none) { store in
      _ = try await store.segments.putSegment("added", "{}", version: nil, by: alice)
    },
    Self("putSegment") { store in
      _ = try await store.segments.putSegment("changed", "{}", version: nil, by: alice)
      return Call(effects: none) {
        _ = try await $0.segments.putSegment("changed", "{ }", version: 1, by: bob)
      }
    },
    Self("removeSegment") { store in
      _ = try await store.segments.putSegment("removed", "{}", version: nil, by: alice)
      return Call(effects: none) {
        _ = try await $0.segments.removeSegment("removed", version: nil)
      }
    },
  ]

  private static let pairings = [
    Self("addPairing", effects: none) { try await $0.addPairing("added", of: alice) },
    Self("endPairing") { store in
      let id = try await store.addPairing("ended", of: carol)
      return Call(effects: none) { _ = try await $0.pairings.endPairing(id, user: carol) }
    },
    Self("redeemPairing") { store in
      try await store.addPairing("redeemed", of: alice)
      return Call(effects: none) { try await $0.redeem("redeemed", as: "paired") }
    },
    // In place of an earlier device, whose token ends.
    Self("redeemPairing") { store in
      try await store.register("replaced", of: alice)
      try await store.addToken("replaced", of: alice)
      try await store.addPairing("again", of: alice)
      return Call(effects: [.credentialsEnded(alice)]) {
        try await $0.redeem("again", as: "replaced")
      }
    },
    Self("forwardPairing") { store in
      try await store.addPairing("forwarded", of: bob)
      return Call(effects: none) {
        _ = try await $0.pairings.forwardPairing(
          Digest(of: "forwarded"), to: Digest(of: "next"))
      }
    },
    Self("signUp", effects: none) { try await $0.signUp("guest-a") },
    Self("approveSignUp") { store in
      try await store.signUp("guest-b")
      return Call(effects: none) { _ = try await $0.signUps.approveSignUp(of: "guest-b") }
    },
    Self("refuseSignUp") { store in
      let user = try await store.signUp("guest-c")
      return Call(effects: [.credentialsEnded(user)]) {
        _ = try await $0.signUps.refuseSignUp(of: "guest-c")
      }
    },
  ]

  private static let notifications = [
    Self("create", effects: [.pushEvents([alice]), .jobs(lane: "fcm")]) { store in
      var new = NotificationInsert.withPush(to: alice)
      new.sender = shop
      _ = try await store.notifications.create(new)
    },
    // Again, with the same key.
    Self("create") { store in
      var new = NotificationInsert.withPush(to: alice)
      new.idempotencyKey = IdempotencyKey("k", request: [])
      let again = new
      _ = try await store.notifications.create(again)
      return Call(effects: none) { _ = try await $0.notifications.create(again) }
    },
    // Whose recipients are found later.
    Self("announce") { store in
      let due = try await store.addDue()
      return Call(effects: [.pushEvents([alice]), .jobs(lane: "fcm"), .change(due.id)]) {
        _ = try await $0.notifications.announce(due, with: .withPush(to: alice))
      }
    },
    Self("hold") { store in
      let due = try await store.addDue()
      return Call(effects: [.change(due.id)]) { _ = try await $0.notifications.hold(due) }
    },
    Self("decide") { store in
      var new = NotificationInsert.withPush(to: alice)
      (new.recipients, new.sender, new.approvalAbove) = ([alice, bob], shop, 1)
      new.event = nil
      let waiting = try await store.notifications.create(new).notification
      return Call(effects: [.change(waiting.id), .jobs(lane: "fcm")]) {
        _ = try await $0.approvals.decide(
          waiting.id, .approve(version: waiting.contentVersion), by: news, isAdmin: false)
      }
    },
    Self("amend") { store in
      let id = try await store.sent(by: shop, to: bob)
      return Call(effects: [.change(id), .pushEvents([bob]), .jobs(lane: "fcm")]) {
        _ = try await $0.notifications.amend(id, with: .withPush(to: bob))
      }
    },
    // To what it is already.
    Self("amend") { store in
      let id = try await store.notifications.create(.any(to: bob)).notification.id
      return Call(effects: none) { _ = try await $0.notifications.amend(id, with: .any(to: bob)) }
    },
    Self("withdraw") { store in
      let id = try await store.sent(by: shop, to: bob)
      return Call(effects: [.change(id)]) { _ = try await $0.notifications.withdraw(id) }
    },
    Self("markRead") { store in
      let id = try await store.notifications.create(.any(to: bob)).notification.id
      return Call(effects: [.read(bob)]) {
        _ = try await $0.notifications.markRead(id, user: bob)
      }
    },
    // Up to one.
    Self("markRead") { store in
      let id = try await store.notifications.create(.any(to: bob)).notification.id
      return Call(effects: [.read(bob)]) {
        try await $0.notifications.markRead(upTo: id, user: bob, device: nil)
      }
    },
    Self("setHidden") { store in
      let id = try await store.notifications.create(.any(to: bob)).notification.id
      return Call(effects: none) {
        _ = try await $0.notifications.setHidden(true, id, user: bob)
      }
    },
    Self("record") { store in
      let id = try await store.notifications.create(.any(to: bob)).notification.id
      return Call(effects: none) {
        for event in ReportedEvent.allCases {
          _ = try await $0.notifications.record(event, of: id, user: bob, device: nil)
        }
      }
    },
    Self("add") { store in
      let id = try await store.notifications.create(.any(to: bob)).notification.id
      return Call(effects: none) {
        _ = try await $0.interactions.add(
          InteractionInsert(action: "yes", of: id, user: bob, device: nil))
      }
    },
    Self("recordSent", effects: none) { $0.notifications.recordSent([0], user: alice) },
    Self("recordFetched", effects: none) { $0.notifications.recordFetched(0, user: alice) },
    Self("writeNextParts") { store in
      let users = try await store.crowd()
      _ = try await store.notifications.create(.any(to: users))
      return Call(effects: [.pushEvents(users)]) {
        while try await $0.notifications.writeNextParts(within: .zero) {}
      }
    },
    Self("completeAudience") { store in
      let users = try await store.crowd()
      let id = try await store.notifications.create(.any(to: users)).notification.id
      return Call(effects: [.pushEvents(users)]) {
        try await $0.notifications.completeAudience(of: id)
      }
    },
  ]

  private static let outbox = [
    Self("settleAndLease") { store in
      try await store.register("dead", of: alice)
      try await store.events.push("{}", to: [], pushes: [.to("dead")])
      return Call(effects: none) { store in
        let jobs = try await store.outbox.lease(lane: "fcm", until: store.now() + 9)
        _ = try await store.outbox.settleAndLease(
          jobs.map { ($0.id, .deadToken(since: nil, reason: "gone")) }, lane: "fcm", limit: 9,
          until: store.now() + 9)
      }
    },
    Self("begin") { store in
      try await store.stop("begun")
      return Call(effects: none) {
        try await $0.outbox.begin(SendingLane("begun", settings: "other"))
      }
    },
    Self("failJobsOfRemovedDevices", effects: none) {
      try await $0.outbox.failJobsOfRemovedDevices(inLanesBeginningWith: "webpush:")
    },
    Self("explain", effects: none) { try await $0.outbox.explain("why", lanes: ["fcm"]) },
    Self("replay") { store in
      let job = try await store.fail("replayed")
      return Call(effects: [.jobs(lane: "replayed")]) { _ = try await $0.outbox.replay(job) }
    },
    Self("cancel") { store in
      try await store.events.push("{}", to: [], pushes: [.toAudience("fcm")])
      let job = try await store.outbox.jobs(limit: 1)[0].job
      return Call(effects: none) { _ = try await $0.outbox.cancel(job: job) }
    },
    Self("resume") { store in
      try await store.stop("stopped")
      return Call(effects: [.jobs(lane: "stopped")]) {
        _ = try await $0.outbox.resume(lane: "stopped")
      }
    },
    Self("restoreRegistrations", effects: none) {
      _ = try await $0.outbox.restoreRegistrations(endedBy: "fcm", since: .distantPast)
    },
  ]

  private static let events = [
    Self("push") { store in
      try await store.register("told", of: alice)
      return Call(effects: [.pushEvents([alice, bob]), .jobs(lane: "fcm")]) {
        try await $0.events.push("{}", to: [bob, alice], pushes: [.to("told")])
      }
    },
    Self("releaseHeldEvents") { store, scratch in
      var held = NotificationInsert.any(to: carol)
      held.notBefore = scratch.now + 60
      _ = try await store.notifications.create(held)
      scratch.pass(60)
      return Call(effects: [.pushEvents([carol])]) {
        _ = try await $0.events.releaseHeldEvents()
      }
    },
    Self("createCursor", effects: none) { $0.events.createCursor(of: "reader") },
    Self("setCursor", effects: none) { try await $0.events.setCursor(1, of: "reader") },
  ]

  private static let assets = [
    Self("putAsset", effects: [.assetEvent]) {
      try await $0.assets.putAsset(.any("a", at: $0.now()), event: "{}")
    },
    Self("putAsset", effects: none) { try await $0.assets.putAsset(.any("b", at: $0.now())) },
    Self("finishPreparing") { store in
      var asset = AssetRecord.any("c", at: store.now())
      asset.state = .preparing
      try await store.assets.putAsset(asset)
      asset.state = .ready
      let ready = asset
      return Call(effects: [.assetEvent]) {
        _ = try await $0.assets.finishPreparing(ready, event: "{}")
      }
    },
    Self("describe") { store in
      let asset = AssetRecord.any("e", at: store.now())
      try await store.assets.putAsset(asset)
      var described = asset
      described.alt = "a"
      return Call(effects: [.assetEvent]) { [described] in
        _ = try await $0.assets.describe(described, insteadOf: asset, event: "{}")
      }
    },
    Self("renameAsset") { store in
      try await store.assets.putAsset(.any("f", at: store.now()))
      let renamed = AssetRecord.any("g", at: store.now())
      return Call(effects: [.assetEvent]) {
        try await $0.assets.renameAsset(renamed, from: "f", event: "{}", removal: "{}")
      }
    },
    Self("removeAsset") { store in
      try await store.assets.putAsset(.any("d", at: store.now()))
      return Call(effects: [.assetEvent]) {
        _ = try await $0.assets.removeAsset("img", "d", event: "{}")
      }
    },
    Self("addFileRemoval", effects: none) {
      try await $0.assets.addFileRemoval(
        FileRemoval(folder: "f", richType: "img", name: "d", stamp: "s"))
    },
    Self("takeFileRemoval", effects: none) {
      _ = try await $0.assets.takeFileRemoval("img", "d", folder: "f")
    },
  ]

  private static let audit = [
    Self("addAuditEntries", effects: none) {
      try await $0.audit.addAuditEntries([AuditChange(.serverStarted)])
    },
    Self("addFailedSignIn", effects: none) {
      try await $0.audit.addFailedSignIn(of: alice, from: "192.0.2.1")
    },
    // The second within a minute.
    Self("addFailedSignIn") { store in
      try await store.audit.addFailedSignIn(of: bob, from: "192.0.2.1")
      return Call(effects: none) {
        try await $0.audit.addFailedSignIn(of: bob, from: "192.0.2.1")
      }
    },
  ]

  private static let upkeep = [
    Self("probe", effects: none) { try await $0.tables.probe() },
    Self("removeStamp", effects: none) {
      try await $0.tables.removeStamp("img", "a", blob: Digest(of: []))
    },
    Self("removeVersion", effects: none) {
      try await $0.tables.removeVersion("img", "a", blob: Digest(of: []))
    },
    Self("removeAssetVersions", effects: none) {
      try await $0.tables.removeAssetVersions(endedBefore: .distantPast, keepingBytes: 0)
    },
    Self("removeExpiredNotifications", effects: none) {
      _ = try await $0.tables.removeExpiredNotifications(before: .distantPast)
    },
    Self("removeEndedSessions") { store, scratch in
      scratch.pass(Session.lifetime)
      try await store.tables.removeEndedSessions()
      try await store.addSession(of: news)
      scratch.pass(Session.lifetime)
      return Call(effects: [.credentialsEnded(news)]) {
        try await $0.tables.removeEndedSessions()
      }
    },
    Self("removeEndedRegistrations") { store in
      try await store.endRegistrations()
      try await store.tables.removeEndedRegistrations(before: .distantFuture)
      try await store.register("ended", of: shop)
      try await store.endRegistrations()
      return Call(effects: [.credentialsEnded(shop)]) {
        try await $0.tables.removeEndedRegistrations(before: .distantFuture)
      }
    },
    Self("removeExpiredAccessTokens", effects: none) {
      try await $0.tables.removeExpiredAccessTokens(before: .distantFuture)
    },
    Self("removeFailedDeliveries", effects: none) {
      try await $0.tables.removeFailedDeliveries(before: .distantFuture)
    },
    Self("removeExpiredPairings", effects: none) {
      try await $0.tables.removeExpiredPairings(before: .distantFuture)
    },
    Self("removeDailyPushes", effects: none) {
      try await $0.tables.removeDailyPushes(before: .distantFuture)
    },
    Self("removeAbandonedSignUps") { store in
      try await store.tables.removeAbandonedSignUps()
      let user = try await store.signUp("guest-d")
      _ = try await store.accounts.removeRegistration("of guest-d", user: user)
      return Call(effects: [.credentialsEnded(user)]) {
        try await $0.tables.removeAbandonedSignUps()
      }
    },
    Self("removeHistory", effects: none) {
      try await $0.tables.removeHistory(before: .distantPast)
    },
    Self("removeEvents", effects: none) {
      try await $0.tables.removeEvents(before: .distantPast, keeping: 1000)
    },
    Self("removeAuditEntries", effects: none) {
      try await $0.tables.removeAuditEntries(before: .distantPast, keeping: 1_000_000)
    },
    Self("removeNotifications", effects: none) {
      _ = try await $0.tables.removeNotifications(before: .distantPast)
    },
    Self("removeReceipts", effects: none) {
      try await $0.tables.removeReceipts(before: .distantPast)
    },
    Self("beginErasure") { store in
      let user = try await store.user("erased")
      return Call(effects: [.credentialsEnded(user)]) {
        _ = try await $0.erasures.beginErasure(of: user, keepingAdmin: true)
      }
    },
    Self("eraseRecords") { store in
      let user = try await store.user("recipient")
      let id = try await store.notifications.create(.any(to: user)).notification.id
      _ = try await store.erasures.beginErasure(of: user, keepingAdmin: true)
      let erasure = try #require(try await store.erasures.erasures().first { $0.user == user })
      return Call(effects: [.change(id)]) { try await $0.erasures.eraseRecords(of: erasure) }
    },
    Self("removeUnreferencedFiles", effects: none) {
      try await $0.tables.removeUnreferencedFiles(of: [Digest(of: "nobody's")])
    },
    Self("eraseRemovedRows", effects: none) {
      _ = try await $0.tables.eraseRemovedRows(isAlone: false)
    },
    Self("addErasedObjects", effects: none) {
      try await $0.erasures.addErasedObjects([Digest(of: "nobody's")])
    },
    Self("endErasedObjects", effects: none) {
      try await $0.erasures.endErasedObjects([
        ErasedObject(source: Digest(of: "nobody's"), blob: nil, erased: .distantPast)
      ])
    },
    Self("endErasure", effects: none) { try await $0.erasures.endErasure(of: alice) },
    Self("removeErasedContent", effects: none) {
      try await $0.erasures.removeErasedContent(before: .distantPast)
    },
    // The last one: no guest is left.
    Self("removePasswordlessUsers") { store in
      let names = try await store.accounts.userNames(
        from: "", below: "~", includingPasswordless: true, limit: 10_000)
      let users = try await store.accounts.users()
      let guests = Set(names).subtracting(users.map(\.name))
      let ids = try await store.accounts.userIDs(
        of: guests, allowingPasswordless: true, addingPasswordless: false)
      return Call(effects: Set(ids.values.map(Effect.credentialsEnded))) {
        $0.accounts.removePasswordlessUsers()
      }
    },
  ]
}
