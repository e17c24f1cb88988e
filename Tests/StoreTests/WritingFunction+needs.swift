import FoundationEssentials
import Testing

@testable import Store

// MARK: - What they need

extension Store {
  /// Adds a user with a password.
  func user(_ name: String) async throws -> UserID {
    try await accounts.addUser(name, hash: "", role: .device)
    return try #require(try await accounts.user(named: name)).id
  }

  /// Adds a user without a password.
  func guest(_ name: String) async throws -> UserID {
    let ids = try await accounts.userIDs(
      of: [name], allowingPasswordless: true, addingPasswordless: true)
    return try #require(ids[name])
  }

  /// Adds so many users that an audience of them is written in parts.
  func crowd() async throws -> [UserID] {
    try await accounts.userIDs(
      of: Set((0..<1100).map { "crowd \($0)" }), allowingPasswordless: true,
      addingPasswordless: true
    ).values.sorted()
  }

  func register(
    _ device: String, of user: UserID, handle: String? = nil
  ) async throws {
    _ = try await accounts.putRegistration(
      device, user: user, RegistrationChange(platform: "fcm", handle: handle ?? device))
  }

  /// Ends all registrations.
  func endRegistrations() async throws {
    _ = try await administration.endSilentRegistrations(since: .distantFuture)
  }

  @discardableResult
  func addToken(_ device: String, of user: UserID) async throws -> Digest {
    let token = Digest(of: "\(UInt64.random(in: .min ... .max))")
    _ = try await accounts.addToken(token, to: device, user: user)
    return token
  }

  @discardableResult
  func addSession(of user: UserID) async throws -> Digest {
    let token = Digest(of: "\(UInt64.random(in: .min ... .max))")
    _ = try await sessions.addSession(token, user: user, userAgent: "")
    return token
  }

  /// Adds an access token, and returns its number.
  @discardableResult
  func addAccessToken(_ name: String, of user: UserID) async throws -> Int {
    let added = try await accessTokens.addAccessToken(
      Digest(of: name), name, AccessTokenScope(), of: user)
    return try #require(added).id
  }

  /// Adds a webhook, and returns its number.
  @discardableResult
  func addWebhook(_ name: String, of user: UserID) async throws -> Int {
    let added = try await webhooks.addWebhook(
      Digest(of: name), name, AccessTokenScope(), template: "{}", secret: nil, of: user)
    return try #require(added).token.id
  }

  /// Keeps a delivery to a webhook that failed.
  func keepDelivery(_ text: String, of webhook: Int) async throws {
    try await webhooks.keep(
      WebhookPost(fields: [:], body: text), Digest(of: text), reason: "r", of: webhook)
  }

  /// Adds a draft.
  func addDraft(_ name: String, by user: UserID) async throws -> StoredDraft {
    let added = try await drafts.addDraft(
      DraftChange(name: name, content: #"{"title":"t"}"#, isTemplate: false), by: user)
    return try #require(added)
  }

  /// Adds a notification, and returns its number.
  func sent(by sender: UserID, to user: UserID) async throws -> Int {
    var new = NotificationInsert.any(to: user)
    new.sender = sender
    return try await notifications.create(new).notification.id
  }

  /// Adds a notification that is due, and whose recipients are to be found.
  func addDue() async throws -> StoredNotification {
    var new = NotificationInsert(message: "due", richType: "", payload: "")
    (new.sender, new.dueAudience) = (alice, DueAudience(segment: nil))
    return try await notifications.create(new).notification
  }

  /// Adds a code to pair a device, and returns its number.
  @discardableResult
  func addPairing(_ code: String, of user: UserID) async throws -> Int {
    let pairing = try await pairings.addPairing(
      Digest(of: code), short: Digest(of: "short \(code)"), of: user)
    return try #require(pairing).id
  }

  func redeem(_ code: String, as registration: String) async throws {
    let device = NewDevice(registration: registration, token: Digest(of: "token of \(code)"))
    _ = try await pairings.redeemPairing(Digest(of: code), for: device)
  }

  /// Adds a user who waits for approval.
  @discardableResult
  func signUp(_ name: String) async throws -> UserID {
    let device = NewDevice(registration: "of \(name)", token: Digest(of: name))
    _ = try await signUps.signUp(
      NewSignUp(user: name, hash: "", subjects: ["news"], isWaiting: true, device: device))
    return try #require(try await accounts.user(named: name)).id
  }

  /// Queues a push in a lane, which then gives an outcome.
  private func send(_ lane: String, _ outcome: JobOutcome) async throws -> Int {
    try await events.push("{}", to: [], pushes: [.toAudience(lane)])
    let jobs = try await outbox.lease(lane: lane, until: now() + 60)
    _ = try await outbox.settleAndLease(
      jobs.map { ($0.id, outcome) }, lane: lane, limit: 0, until: now())
    return jobs[0].id
  }

  /// Makes a dead letter.
  func fail(_ lane: String) async throws -> Int {
    try await send(lane, .rejected(reason: "no"))
  }

  /// Pauses a lane.
  func stop(_ lane: String) async throws {
    _ = try await send(lane, .stopped(reason: "no"))
  }
}

extension PushInsert {
  static func toAudience(_ lane: String) -> PushInsert {
    PushInsert(lane: lane, target: .audience("a"), kind: "alert")
  }

  static func to(_ device: String) -> PushInsert {
    PushInsert(lane: "fcm", target: .devices([device]), kind: "alert")
  }
}

extension NotificationInsert {
  static func any(to users: [UserID]) -> NotificationInsert {
    var new = any()
    new.recipients = users
    return new
  }

  static func withPush(to user: UserID) -> NotificationInsert {
    var new = any(to: user, message: "Other")
    new.pushes = [.toAudience("fcm")]
    return new
  }
}

extension AssetRecord {
  static func any(_ name: String, at time: Date) -> AssetRecord {
    AssetRecord(richType: "img", name: name, state: .ready, bytes: 1, modified: time, stamp: "")
  }
}
