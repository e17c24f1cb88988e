#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif
public import RichPushAPI

/// Requests of an admin.
extension RichPushClient {
  // MARK: Push services

  /// The push services with their queues.
  ///
  /// ```swift
  /// for lane in try await client.lanes().lanes { print(lane.name, lane.state, lane.queued) }
  /// ```
  public func lanes() async throws -> LaneReport {
    try await value(request("GET", ["api", "lanes"]))
  }

  /// Pushes, newest first, in a state (`queued`, `sent`, `failed`, `expired` or `cancelled`) or in any; `after`
  /// takes the `next` of a page.
  ///
  /// ```swift
  /// for job in try await client.outbox(state: "failed", limit: 10).jobs {
  ///   print(job.id, job.lane, job.reason ?? "")
  /// }
  /// ```
  public func outbox(
    state: String? = nil, lane: String? = nil, after: Int? = nil, limit: Int? = nil
  ) async throws -> OutboxPage {
    let query = Self.query([
      ("state", state), ("lane", lane), ("after", after.map(String.init)),
      ("limit", limit.map(String.init)),
    ])
    return try await value(request("GET", ["api", "outbox"], query: query))
  }

  /// Sends a failed push again.
  ///
  /// ```swift
  /// for job in try await client.outbox(state: "failed").jobs { try await client.replay(job.id) }
  /// ```
  public func replay(_ job: Int) async throws {
    try await send(request("POST", ["api", "outbox", String(job), "replay"]))
  }

  /// Sends all failed pushes again, or those of a lane, and returns how many.
  ///
  /// ```swift
  /// print(try await client.replayAll(lane: "apns"))
  /// ```
  @discardableResult
  public func replayAll(lane: String? = nil) async throws -> Int {
    let query = Self.query([("lane", lane)])
    let result: Replayed = try await value(
      request("POST", ["api", "outbox", "replay"], query: query))
    return result.replayed
  }

  /// Ends the pause of a lane, or of all, and returns how many pushes that its service refused are due again.
  ///
  /// ```swift
  /// print(try await client.resume(lane: "apns"))
  /// ```
  @discardableResult
  public func resume(lane: String? = nil) async throws -> Int {
    let result: Resumed = try await value(
      request("POST", ["api", "lanes", "resume"], query: Self.query([("lane", lane)])))
    return result.resumed
  }

  /// Brings back the registrations that a lane has ended since a time, and returns their number.
  ///
  /// ```swift
  /// print(try await client.restoreRegistrations(endedBy: "apns", since: Date() - 86_400))
  /// ```
  @discardableResult
  public func restoreRegistrations(endedBy lane: String, since: Date) async throws -> Int {
    let query = Self.query([("lane", lane), ("since", since.formatted(.iso8601))])
    let result: Restored = try await value(
      request("POST", ["api", "lanes", "restore"], query: query))
    return result.restored
  }

  /// Cancels a push that has not been sent.
  ///
  /// ```swift
  /// for job in try await client.outbox(state: "queued").jobs { try await client.cancelPush(job.id) }
  /// ```
  public func cancelPush(_ job: Int) async throws {
    try await send(request("DELETE", ["api", "outbox", String(job)]))
  }

  // MARK: People

  /// The users by name; `after` takes the `next` of a page.
  ///
  /// ```swift
  /// for user in try await client.users().users { print(user.username, user.role, user.devices) }
  /// ```
  public func users(after name: String? = nil, limit: Int? = nil) async throws -> UserPage {
    let query = Self.query([("after", name), ("limit", limit.map(String.init))])
    return try await value(request("GET", ["api", "users"], query: query))
  }

  /// Adds a user with a role (`device`, `publisher` or `admin`) and a password, or changes the role and, unless
  /// nil, the password and the most devices that the user can register.
  ///
  /// A new password ends the user's sessions and the tokens of the user's devices and, with `endRegistrations`,
  /// the registrations of the devices.
  ///
  /// ```swift
  /// try await client.putUser("dora", role: "publisher", password: "correct horse")
  /// ```
  public func putUser(
    _ name: String, role: String, password: String? = nil, endRegistrations: Bool = false,
    maxDevices: Int? = nil
  ) async throws {
    let change = UserChange(
      role: role, password: password, endRegistrations: endRegistrations ? true : nil,
      maxDevices: maxDevices)
    try await send(request("PUT", ["api", "users", name], json: change))
  }

  /// What is known of a user, for placeholders such as `{{name}}`; for publishers.
  ///
  /// ```swift
  /// print(try await client.attributes(of: "dora")["city"] ?? "")
  /// ```
  public func attributes(of name: String) async throws -> [String: String] {
    let attributes: UserAttributes = try await value(
      request("GET", ["api", "users", name, "attributes"]))
    return attributes.values
  }

  /// Replaces what is known of a user: at most 32 texts of 256 bytes; for publishers.
  ///
  /// ```swift
  /// try await client.setAttributes(["name": "Dora", "city": "Bern"], of: "dora")
  /// ```
  public func setAttributes(_ attributes: [String: String], of name: String) async throws {
    try await send(
      request("PUT", ["api", "users", name, "attributes"], json: UserAttributes(attributes)))
  }

  /// Replaces what is known of many users, by name, all of it or nothing; for publishers.
  ///
  /// A request has at most 4 MiB.
  ///
  /// ```swift
  /// let report = try await client.importAttributes(["dora": ["city": "Bern"]])
  /// print(report.changed, report.unknown)
  /// ```
  @discardableResult
  public func importAttributes(_ users: [String: [String: String]]) async throws -> AttributeReport
  {
    try await value(request("POST", ["api", "attributes"], json: AttributeImport(users)))
  }

  /// Replaces what is known of the users in a CSV file (RFC 4180), or only says what that would do; for publishers.
  ///
  /// The first line names the columns: `username`, and attributes. All attributes of a user are replaced; an empty field
  /// is none. Nobody is added. Lines that are wrong are left out, and reported. The file has at most 16 MiB and 200,000
  /// lines.
  ///
  /// ```swift
  /// let report = try await client.importAttributes(csv: Data("username,city\ndora,Bern\n".utf8))
  /// print(report.changed, report.lines.map { "line \($0.line): \($0.reason ?? "")" })
  /// ```
  @discardableResult
  public func importAttributes(csv: Data, dryRun: Bool = false) async throws -> ImportReport {
    var request = try request(
      "POST", ["api", "attributes", "import"], query: Self.query([("dry-run", dryRun ? "" : nil)]))
    request.fields["Content-Type"] = "text/csv"
    request.body = .data(csv)
    // The answer comes when all is done.
    request.timeout = 600
    return try await value(request)
  }

  /// Removes a user with all devices; if asked to, erases everything that is stored about the user, which the server
  /// ends within minutes.
  ///
  /// ```swift
  /// try await client.removeUser("dora")
  /// try await client.removeUser("emil", erasing: true)
  /// ```
  public func removeUser(_ name: String, erasing: Bool = false) async throws {
    let query = erasing ? [(name: "erase", value: "")] : []
    try await send(request("DELETE", ["api", "users", name], query: query))
  }

  /// The devices of a user by their registrations; `after` takes the `next` of a page.
  ///
  /// ```swift
  /// print(try await client.devices(of: "alice").devices.map(\.registration))
  /// ```
  public func devices(
    of name: String, after registration: String? = nil, limit: Int? = nil
  ) async throws -> DeviceList {
    let query = Self.query([("after", registration), ("limit", limit.map(String.init))])
    return try await value(request("GET", ["api", "users", name, "devices"], query: query))
  }

  /// Ends a user's sessions, access tokens and the tokens of the user's devices and, with `endRegistrations`, the
  /// registrations of the devices, which then get no pushes.
  ///
  /// ```swift
  /// try await client.endCredentials(of: "alice", endRegistrations: true)
  /// ```
  public func endCredentials(of name: String, endRegistrations: Bool = false) async throws {
    let query = endRegistrations ? [(name: "registrations", value: "")] : []
    try await send(request("DELETE", ["api", "users", name, "tokens"], query: query))
  }

  /// The addresses and names whose passwords are not checked now, because too many were wrong.
  ///
  /// ```swift
  /// for one in try await client.failedLogins().refused { print(one.address ?? "", one.until) }
  /// ```
  public func failedLogins() async throws -> FailedLoginReport {
    try await value(request("GET", ["api", "failed-logins"]))
  }

  /// Who did what, the last first.
  ///
  /// All, or what a user, by name or number, did and what was done to the user or to something of the user's; only
  /// actions that begin with a text; only from a time on, or before one. `before` takes the `next` of a page.
  ///
  /// ```swift
  /// for entry in try await client.audit(action: "user.", since: Date() - 86_400).entries {
  ///   print(entry.time, entry.action, entry.actor.name ?? entry.actor.kind)
  /// }
  /// ```
  public func audit(
    user: String? = nil, action: String? = nil, since: Date? = nil, until: Date? = nil,
    before number: Int? = nil, limit: Int? = nil
  ) async throws -> AuditPage {
    let query = Self.query([
      ("user", user), ("action", action), ("since", since?.formatted(.iso8601)),
      ("until", until?.formatted(.iso8601)), ("before", number.map(String.init)),
      ("limit", limit.map(String.init)),
    ])
    return try await value(request("GET", ["api", "audit"], query: query))
  }

  // MARK: The server

  /// How the server is, and what needs attention.
  ///
  /// ```swift
  /// for one in try await client.status().attention { print(one.level, one.text) }
  /// ```
  public func status() async throws -> StatusReport {
    try await value(request("GET", ["api", "status"]))
  }

  /// What the server's data takes on its disk.
  ///
  /// ```swift
  /// print(try await client.storage().free)
  /// ```
  public func storage() async throws -> StorageReport {
    try await value(request("GET", ["api", "storage"]))
  }
}
