import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Requests of a device.
extension RichPushClient {
  /// Registers this device in the tutorial's two steps, and returns the registration's ID.
  ///
  /// The same handle always gets the same ID, so an app can call this at every start.
  @discardableResult
  public func register(
    handle: String, platform: String = "apns", tags: [String] = []
  ) async throws -> String {
    let query = [(name: "handle", value: handle)]
    let id: String = try await value(request("POST", ["api", "register"], query: query))
    let registration = Registration(platform: platform, handle: handle, tags: tags)
    try await send(request("PUT", ["api", "register", id], json: registration))
    return id
  }

  /// Removes a registration of this user.
  public func unregister(_ id: String) async throws {
    try await send(request("DELETE", ["api", "register", id]))
  }

  /// The user's notifications, newest first.
  public func inbox(
    unreadOnly: Bool = false, limit: Int? = nil, before: Int? = nil
  ) async throws -> Inbox {
    var query: [(name: String, value: String)] = []
    if unreadOnly { query.append(("unread", "true")) }
    if let limit { query.append(("limit", String(limit))) }
    if let before { query.append(("before", String(before))) }
    return try await value(request("GET", ["api", "notifications"], query: query))
  }

  /// The next page of the inbox; nil if this is the last.
  public func page(after inbox: Inbox) async throws -> Inbox? {
    guard let next = inbox.next else { return nil }
    return try await value(request("GET", address: endpoint.absoluteString + next)) as Inbox
  }

  /// A notification with the details of its media.
  public func details(_ id: Int) async throws -> RichNotification {
    try await value(request("GET", ["api", "notifications", String(id), "details"]))
  }

  /// The notification's media, in memory, sized for the device.
  public func media(_ id: Int, options: MediaOptions = .original) async throws -> Media {
    let file = try await download(id, options: options)
    defer { try? FileManager.default.removeItem(at: file.url) }
    return Media(
      bytes: try Data(contentsOf: file.url), contentType: file.contentType, etag: file.etag)
  }

  /// The notification's media as a temporary file, for a service extension with little memory.
  ///
  /// The caller moves or removes the file.
  public func download(_ id: Int, options: MediaOptions = .original) async throws -> MediaFile {
    let request = try request("GET", ["api", "notifications", String(id)], query: options.query)
    let (url, response) = try await transfer { try await $0.download(for: request) }
    guard let error = RichPushError(response, bodyAt: url) else {
      return MediaFile(url: url, response: response)
    }
    try? FileManager.default.removeItem(at: url)
    throw error
  }

  /// Marks the notification as read.
  public func markRead(_ id: Int) async throws {
    try await send(request("PUT", ["api", "notifications", String(id), "read"]))
  }

  /// The user's pushes, from now on or after the event `lastEventID`.
  ///
  /// It reconnects, resumes without loss (`Last-Event-ID`), and ends only when its task is cancelled or by
  /// a permanent error, such as a wrong password. `connected` is called for every connection, with the ID
  /// to resume after: all later pushes will be delivered.
  public func events(
    after lastEventID: String? = nil, connected: @escaping @Sendable (String) -> Void = { _ in }
  ) -> PushEvents {
    PushEvents(
      client: self, lastEventID: lastEventID, path: ["api", "push", "stream"],
      connected: connected)
  }
}

/// A registration with the member names of the tutorial.
private struct Registration: Encodable {
  let platform: String
  let handle: String
  let tags: [String]

  enum CodingKeys: String, CodingKey {
    case platform = "Platform"
    case handle = "Handle"
    case tags = "Tags"
  }
}
