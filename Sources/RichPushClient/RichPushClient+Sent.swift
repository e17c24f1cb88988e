public import RichPushAPI

/// Requests of those who follow what they send.
extension RichPushClient {
  /// What this user has sent, newest first, with counts; `before` takes the `next` of a page.
  ///
  /// With `ofAll` an admin gets what everybody has sent. With a `search` only what has all its words in message, name of
  /// the content or recipients; a page may then have few notifications though there is a `next`.
  ///
  /// ```swift
  /// let page = try await client.sent(limit: 20)
  /// for one in page.notifications { print(one.id, one.counts.fetched, one.counts.recipients) }
  /// ```
  public func sent(
    limit: Int? = nil, before: Int? = nil, ofAll: Bool = false, search: String? = nil
  ) async throws -> SentPage {
    let query = Self.query([
      ("sent", ""), ("limit", limit.map(String.init)), ("before", before.map(String.init)),
      ("sender", ofAll ? "*" : nil), ("search", search),
    ])
    return try await value(request("GET", ["api", "notifications"], query: query))
  }

  /// How far a notification has come with its recipients, for its sender and admins; `after` takes the `next` of
  /// a page.
  ///
  /// Of one `user` it is that user's receipt, or nothing.
  ///
  /// ```swift
  /// var page = try await client.receipts(of: 7, state: "queued")
  /// while let next = page.next {
  ///   print(page.receipts.compactMap(\.user))
  ///   page = try await client.receipts(of: 7, state: "queued", after: next)
  /// }
  /// ```
  public func receipts(
    of id: Int, state: String? = nil, user: String? = nil, after: Int? = nil, limit: Int? = nil
  ) async throws -> ReceiptPage {
    let query = Self.query([
      ("state", state), ("user", user), ("after", after.map(String.init)),
      ("limit", limit.map(String.init)),
    ])
    return try await value(
      request("GET", ["api", "notifications", String(id), "receipts"], query: query))
  }

  /// The pushes of a notification, for its sender and admins; `after` takes the `next` of a page.
  ///
  /// The `state` `sent` includes receipts that are fetched or read by now.
  ///
  /// ```swift
  /// for one in try await client.deliveries(of: 7, state: "failed").deliveries {
  ///   print(one.user ?? "", one.lane, one.reason ?? "")
  /// }
  /// ```
  public func deliveries(
    of id: Int, state: String? = nil, lane: String? = nil, after: Int? = nil, limit: Int? = nil
  ) async throws -> DeliveryPage {
    let query = Self.query([
      ("state", state), ("lane", lane), ("after", after.map(String.init)),
      ("limit", limit.map(String.init)),
    ])
    return try await value(
      request("GET", ["api", "notifications", String(id), "deliveries"], query: query))
  }

  /// The buttons that recipients of a notification pressed, and their replies, in the order in which they came, for
  /// its sender and admins; `after` takes the `next` of a page.
  ///
  /// ```swift
  /// for one in try await client.interactions(of: 7).interactions where one.event == .reply {
  ///   print(one.user, one.text ?? "")
  /// }
  /// ```
  public func interactions(
    of id: Int, after: Int? = nil, limit: Int? = nil
  ) async throws -> InteractionPage {
    let query = Self.query([("after", after.map(String.init)), ("limit", limit.map(String.init))])
    return try await value(
      request("GET", ["api", "notifications", String(id), "interactions"], query: query))
  }

  /// What people have changed of a notification, the last change first, for its sender and admins.
  ///
  /// ```swift
  /// for change in try await client.amendments(of: 7) {
  ///   print(change.editor ?? "somebody", change.earlier.keys.sorted())
  /// }
  /// ```
  public func amendments(of id: Int) async throws -> [RecordedAmendment] {
    let list: AmendmentList = try await value(
      request("GET", ["api", "notifications", String(id), "amendments"]))
    return list.amendments
  }

  /// What became of a notification with how many of its recipients, when, on which platforms and why not, for its
  /// sender and admins; with a segment, of the recipients who belong to it now.
  ///
  /// ```swift
  /// let found = try await client.statistics(of: 7)
  /// print(found.users.opened, found.users.recipients, found.course.opened)
  /// ```
  public func statistics(
    of id: Int, segment: String? = nil
  ) async throws -> NotificationStatistics {
    let query = Self.query([("segment", segment)])
    return try await value(
      request("GET", ["api", "notifications", String(id), "statistics"], query: query))
  }

  /// What this user has sent by week, the earliest week first, with what became of it.
  ///
  /// Without `first`, a date such as `2026-11-30` that is in the first week, the last of them is the present one. Weeks
  /// begin in a time zone, or in UTC. With `ofAll` an admin gets what everybody has sent.
  ///
  /// ```swift
  /// for week in try await client.weeks(4, zone: "Europe/Zurich").weeks {
  ///   print(week.start, week.notifications, week.opened)
  /// }
  /// ```
  public func weeks(
    _ count: Int? = nil, from first: String? = nil, zone: String? = nil, ofAll: Bool = false
  ) async throws -> WeekStatistics {
    let query = Self.query([
      ("weeks", count.map(String.init)), ("from", first), ("zone", zone),
      ("sender", ofAll ? "*" : nil),
    ])
    return try await value(request("GET", ["api", "statistics"], query: query))
  }

  /// How many users and devices an audience has now.
  ///
  /// ```swift
  /// let size = try await client.size(of: .tags("news && !muted"))
  /// print(size.users, size.devices["apns"] ?? 0)
  /// ```
  public func size(of audience: NewNotification.Audience) async throws -> AudienceSize {
    let query = audience.tags.map { (name: "to", value: $0) }
    return try await value(request("GET", ["api", "audience"], query: query))
  }

  /// The first users and tags whose names begin with a text, for completing an audience.
  ///
  /// ```swift
  /// let names = try await client.audienceNames(startingWith: "al")
  /// print(names.users, names.tags)
  /// ```
  public func audienceNames(
    startingWith prefix: String, limit: Int? = nil
  ) async throws -> AudienceNames {
    let query = Self.query([("prefix", prefix), ("limit", limit.map(String.init))])
    return try await value(request("GET", ["api", "audience", "names"], query: query))
  }

  /// Checks and renders a notification without storing or sending it.
  ///
  /// ```swift
  /// let new = NewNotification("Hi", richType: "img", payload: "beach.jpg", to: .users(["alice"]))
  /// let result = try await client.dryRun(new)
  /// print(result.audience.users, result.texts.filter(\.cut).map(\.platform))
  /// ```
  public func dryRun(_ notification: NewNotification) async throws -> DryRun {
    try await value(
      request(
        "POST", ["api", "notifications"], query: [(name: "dry-run", value: "")], json: notification)
    )
  }

  /// Who this user is, and the web pages on which the user is signed in.
  ///
  /// ```swift
  /// for session in try await client.signedIn().sessions { print(session.id, session.userAgent) }
  /// ```
  public func signedIn() async throws -> SignedIn {
    try await value(request("GET", ["api", "session"]))
  }

  /// Signs this user out of one web page.
  ///
  /// ```swift
  /// for session in try await client.signedIn().sessions { try await client.endSession(session.id) }
  /// ```
  public func endSession(_ id: Int) async throws {
    try await send(request("DELETE", ["api", "session", String(id)]))
  }

  /// Changes this user's password, which ends its sessions and the tokens of its devices.
  ///
  /// ```swift
  /// try await client.changePassword(from: "correct horse", to: "battery staple")
  /// ```
  public func changePassword(from old: String, to new: String) async throws {
    try await send(request("PUT", ["api", "password"], json: PasswordChange(old: old, new: new)))
  }

  /// The parameters of a query that have a value.
  static func query(_ values: [(String, String?)]) -> [(name: String, value: String)] {
    values.compactMap { name, value in value.map { (name, $0) } }
  }
}
