public import RichPushAPI

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Requests of a device.
extension RichPushClient {
  /// Registers this device in the tutorial's two steps, and returns the registration's ID.
  ///
  /// Pushes come in the first of ``RichPushClient/languages``, if the notification has it.
  /// The same handle always gets the same ID, so an app can call this at every start. The user sees the `name`
  /// in lists of devices. Without `tags` the device keeps its own.
  ///
  /// ```swift
  /// client.device = try await client.register(handle: deviceToken, tags: ["news"])
  /// ```
  @discardableResult
  public func register(
    handle: String, platform: String = "apns", tags: [String]? = nil, name: String? = nil
  ) async throws -> String {
    let query = [(name: "handle", value: handle)]
    let id: String = try await value(request("POST", ["api", "register"], query: query))
    let registration = Registration(
      platform: platform, handle: handle, tags: tags, name: name, language: languages.first,
      timeZone: TimeZone.current.identifier)
    try await send(request("PUT", ["api", "register", id], json: registration))
    return id
  }

  /// Registers a Web Push subscription as a device with an ID of its own choice, from 1 to 64 letters, digits
  /// and “-”.
  ///
  /// After the endpoint has changed, the same ID gets what was not sent to the old one. Without `tags` the device keeps
  /// its own.
  ///
  /// ```swift
  /// try await client.register("desktop-1", endpoint: endpoint, p256dh: publicKey, auth: secret)
  /// ```
  public func register(
    _ id: String, endpoint: String, p256dh: String, auth: String, tags: [String]? = nil,
    name: String? = nil
  ) async throws {
    let registration = Registration(
      platform: "webpush", handle: endpoint, tags: tags,
      keys: Registration.Keys(p256dh: p256dh, auth: auth), name: name, language: languages.first,
      timeZone: TimeZone.current.identifier)
    try await send(request("PUT", ["api", "register", id], json: registration))
  }

  /// Tells the server where this device gets its pushes, for a device that was added by a code
  /// (``use(code:name:)``), or whose push token has changed.
  ///
  /// ```swift
  /// try await client.register("phone-1", handle: deviceToken)
  /// ```
  public func register(
    _ id: String, handle: String, platform: String = "apns"
  ) async throws {
    // Without tags and name, which stay as they are.
    var registration = [
      "Platform": platform, "Handle": handle, "TimeZone": TimeZone.current.identifier,
    ]
    registration["Language"] = languages.first
    try await send(request("PUT", ["api", "register", id], json: registration))
  }

  /// The device's token, for an app to keep in its keychain and give to
  /// ``RichPushClient/init(endpoint:user:device:token:)``; a new one if there is none.
  ///
  /// ```swift
  /// client.device = try await client.register(handle: deviceToken)
  /// let token = try await client.deviceToken()
  /// ```
  public func deviceToken() async throws -> String {
    guard let device else {
      throw RichPushError(.notFound, "The client has no device; register one first.")
    }
    return try await token(of: device)
  }

  /// Changes settings of a device of this user: its name, tags, language, time zone and quiet hours; returns it as it is
  /// then.
  ///
  /// A client with a device's token changes only that device.
  ///
  /// ```swift
  /// var change = DeviceChange()
  /// change.quietHours = .value(QuietHours(from: "22:00", until: "07:00"))
  /// let device = try await client.updateDevice("phone-1", change)
  /// print(device.tags, device.quietHours?.until ?? "")
  /// ```
  @discardableResult
  public func updateDevice(
    _ id: String, _ change: DeviceChange
  ) async throws -> DeviceList.Device {
    try await value(request("PATCH", ["api", "register", id], json: change))
  }

  /// A page of this user's devices; for a client with a device's token that device, and what it may know of the others.
  ///
  /// `after` takes the `next` of a page.
  ///
  /// ```swift
  /// for device in try await client.registrations().devices { print(device.name ?? device.registration) }
  /// ```
  public func registrations(
    after registration: String? = nil, limit: Int? = nil
  ) async throws -> DeviceList {
    let query = Self.query([("after", registration), ("limit", limit.map(String.init))])
    return try await value(request("GET", ["api", "registrations"], query: query))
  }

  /// Removes a registration of this user; for an admin, of any user.
  ///
  /// ```swift
  /// if let device = client.device { try await client.unregister(device) }
  /// ```
  public func unregister(_ id: String) async throws {
    try await send(request("DELETE", ["api", "register", id]))
  }

  /// The user's notifications, newest first.
  ///
  /// With a `subject`, only notifications whose audience names that tag; with a `search`, only those with all its words
  /// in title, subtitle or text. A page may then have few notifications though there is a `next`.
  ///
  /// ```swift
  /// let inbox = try await client.inbox(unreadOnly: true, limit: 20)
  /// print(inbox.notifications.map(\.message.text), inbox.unread ?? 0)
  /// let found = try await client.inbox(subject: "news", search: "summer")
  /// print(found.notifications.count)
  /// ```
  public func inbox(
    unreadOnly: Bool = false, limit: Int? = nil, before: Int? = nil, subject: String? = nil,
    search: String? = nil
  ) async throws -> Inbox {
    let query = Self.query([
      ("unread", unreadOnly ? "true" : nil), ("limit", limit.map(String.init)),
      ("before", before.map(String.init)), ("subject", subject), ("search", search),
    ])
    return try await value(request("GET", ["api", "notifications"], query: query), as: .device)
  }

  /// The next page of the inbox; nil if this is the last.
  ///
  /// ```swift
  /// var page: Inbox? = try await client.inbox()
  /// while let inbox = page {
  ///   print(inbox.notifications.map(\.id))
  ///   page = try await client.page(after: inbox)
  /// }
  /// ```
  public func page(after inbox: Inbox) async throws -> Inbox? {
    guard let next = inbox.next else { return nil }
    return try await value(request("GET", address: next), as: .device) as Inbox
  }

  /// A notification with the details of its media.
  ///
  /// ```swift
  /// let notification = try await client.details(7)
  /// print(notification.details.width.integer ?? 0, notification.links?["ios"] ?? "")
  /// ```
  public func details(_ id: Int) async throws -> RichNotification {
    try await value(
      request("GET", ["api", "notifications", String(id), "details"]), as: .device)
  }

  /// The notification's media, in memory, sized for the device.
  ///
  /// ```swift
  /// let picture = try await client.media(7, options: MediaOptions(width: 320, scale: 3))
  /// print(picture.contentType, picture.bytes.count)
  /// ```
  public func media(_ id: Int, options: MediaOptions = .original) async throws -> Media {
    let file = try await download(id, options: options)
    defer { try? FileManager.default.removeItem(at: file.url) }
    return Media(
      bytes: try Data(contentsOf: file.url), contentType: file.contentType, etag: file.etag)
  }

  /// The notification's media as a temporary file, for a service extension with little memory.
  ///
  /// The caller moves or removes the file.
  ///
  /// ```swift
  /// let file = try await client.download(7, options: MediaOptions(profile: "ios"))
  /// try FileManager.default.moveItem(at: file.url, to: url)
  /// ```
  public func download(_ id: Int, options: MediaOptions = .original) async throws -> MediaFile {
    try await download(
      request("GET", ["api", "notifications", String(id)], query: options.query))
  }

  /// Marks the notification as read.
  ///
  /// ```swift
  /// try await client.markRead(7)
  /// ```
  public func markRead(_ id: Int) async throws {
    try await send(request("PUT", ["api", "notifications", String(id), "read"]), as: .device)
  }

  /// Marks all of the user's notifications as read whose IDs are at most `last`, and returns how many are unread then.
  ///
  /// ```swift
  /// if let newest = try await client.inbox(limit: 1).notifications.first {
  ///   let unread = try await client.markAllRead(until: newest.id)
  ///   print(unread)
  /// }
  /// ```
  @discardableResult
  public func markAllRead(until last: Int) async throws -> Int {
    let count: UnreadCount = try await value(
      request("POST", ["api", "notifications", "read"], json: ReadMark(until: last)), as: .device)
    return count.unread
  }

  /// Takes a notification out of the user's inbox and unread count, on all devices.
  ///
  /// ```swift
  /// try await client.hide(7)
  /// ```
  public func hide(_ id: Int) async throws {
    try await send(request("PUT", ["api", "notifications", String(id), "hidden"]), as: .device)
  }

  /// Brings a hidden notification back into the user's inbox.
  ///
  /// ```swift
  /// try await client.unhide(7)
  /// ```
  public func unhide(_ id: Int) async throws {
    try await send(request("DELETE", ["api", "notifications", String(id), "hidden"]), as: .device)
  }

  /// Reports what happened to a notification on this device.
  ///
  /// It was shown, opened or dismissed, a button was pressed, or the user has written a reply; the last two need ``device``.
  /// After an error that may pass, send the same value again: a reply is then no other one.
  ///
  /// ```swift
  /// try await client.report(.displayed, of: 7)
  /// let reply = Interaction.reply("On my way", to: "answer")
  /// try await client.report(reply, of: 7)
  /// ```
  public func report(_ interaction: Interaction, of id: Int) async throws {
    try await send(
      request("POST", ["api", "notifications", String(id), "interactions"], json: interaction),
      as: .device)
  }

  /// The user's pushes, from now on or after the event `lastEventID`.
  ///
  /// It reconnects, resumes without loss (`Last-Event-ID`), and ends only when its task is cancelled or by
  /// a permanent error, such as a wrong password. `connected` is called for every connection, with the ID
  /// to resume after: all later pushes will come.
  ///
  /// ```swift
  /// for try await event in client.events() {
  ///   for id in event.push.ids { print(try await client.details(id).message.text) }
  /// }
  /// ```
  public func events(
    after lastEventID: String? = nil, connected: @escaping @Sendable (String) -> Void = { _ in }
  ) -> PushEvents {
    PushEvents(
      client: self, lastEventID: lastEventID, path: ["api", "push", "stream"], sender: .device,
      connected: connected)
  }
}
