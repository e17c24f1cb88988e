import Delivery
import RichPushAPI
import HTTP
import Push
import Store

/// The tutorial's `/api/register`: a user's devices.
struct RegistrationRoutes: Sendable {
  let store: Store
  let lanes: PlatformLanes
  /// Whether Web Push endpoints on this machine may be plain http.
  let allowsPlain: Bool
  let unreached: UnreachedDevices

  /// `POST /api/register?handle=<HEX>`: the ID of the caller's device with that push token.
  ///
  /// The tutorial's client removes the first and the last character of the body: hence the quotes,
  /// and no newline.
  func register(_ context: RequestContext) async throws -> Response {
    guard let handle = try context.query("handle")["handle"] else {
      throw ServiceError(
        .invalidRequest, "The query parameter handle is missing: the device token in hexadecimal.")
    }
    try Self.check(handle: handle)
    let id = try await store.accounts.registration(
      forHandle: handle.uppercased(), user: context.caller.id)
    return .bytes(200, Array("\"\(id)\"".utf8), type: "application/json")
  }

  /// `PUT /api/register/<id>`: an upsert, since the tutorial's client would repeat a 410 for ever.
  ///
  /// The tutorial expects an empty 200. For a client that accepts JSON, the response says whether
  /// pushes can reach it.
  func put(_ context: RequestContext) async throws -> Response {
    let id = try Self.id(context)
    // The tutorial's client, which does not name JSON, may send unknown members.
    let registration =
      context.acceptsJSON
      ? try JSONCoding.request(Registration.self, from: context.body)
      : try JSONCoding.decode(Registration.self, from: context.body)
    let (platform, handle) = (registration.platform, registration.handle)
    guard PlatformLanes.platforms.contains(platform) else {
      let known = PlatformLanes.platforms.joined(separator: ", ")
      throw ServiceError(.invalidRequest, "Platform is one of \(known), not \(platform.quoted).")
    }
    var subscription: (keys: String, lane: String)?
    if platform == "apns" {
      try Self.check(handle: handle)
    } else if platform == PlatformLanes.webPush {
      subscription = try self.subscription(handle, registration.keys)
    } else if !(1...4096).contains(handle.unicodeScalars.count) || handle.utf8.contains(0) {
      throw ServiceError(
        .invalidRequest, "Handle is missing, has more than 4096 characters or a NUL character.")
    }
    let user = context.caller
    let isOwn = try await store.accounts.putRegistration(
      id, user: user.id, platform: platform,
      handle: platform == "apns" ? handle.uppercased() : handle,
      tags: try Self.check(tags: registration.tags, of: user.name), keys: subscription?.keys,
      lane: subscription?.lane)
    guard isOwn else {
      throw ServiceError(
        .forbidden, "The registration \(id) belongs to another user. Register again.")
    }
    unreached.registered(platform)
    return context.acceptsJSON
      ? .json(200, deliverability(of: platform)) : .empty(200)
  }

  /// The keys and the lane of a Web Push subscription.
  private func subscription(
    _ endpoint: String, _ keys: Registration.Keys?
  ) throws(ServiceError) -> (keys: String, lane: String) {
    guard let keys else {
      throw ServiceError(
        .invalidRequest, "Keys must be the subscription's keys: {\"p256dh\":…,\"auth\":…}.")
    }
    do throws(PushError) {
      let endpoint = try WebPushEndpoint(endpoint, allowsPlain: allowsPlain)
      let keys = try WebPushKeys(p256dh: keys.p256dh, auth: keys.auth)
      return (keys.text, WebPushLane.name(of: endpoint.origin))
    } catch {
      throw ServiceError(.rejected, error.reason)
    }
  }

  /// `GET /api/push/vapid`: the key that a page passes to `subscribe` as `applicationServerKey`.
  func vapid(_ context: RequestContext) async throws -> Response {
    let key = try VAPIDKey(hexadecimal: await store.accounts.vapidSecret())
    return .json(200, ApplicationServerKey(key: key.publicKey))
  }

  /// Whether pushes reach devices of a platform: by which service, or why not.
  private func deliverability(of platform: String) -> Deliverability {
    let service = lanes.service(of: platform)
    return Deliverability(
      platform: platform, service: service, reason: service == nil ? lanes.gap(of: platform) : nil)
  }

  /// `DELETE /api/register/<id>`: 200, also for one that does not exist.
  func delete(_ context: RequestContext) async throws -> Response {
    _ = try await store.accounts.removeRegistration(Self.id(context), user: context.caller.id)
    return .empty(200)
  }

  /// `POST /api/register/<id>/token`: a new token of the caller's device, which is not shown again.
  func addToken(_ context: RequestContext) async throws -> Response {
    let (id, token) = (try Self.id(context), DeviceToken())
    guard try await store.accounts.addToken(token.hash, to: id, user: context.caller.id) else {
      throw Self.noSuchRegistration
    }
    return .json(201, IssuedToken(token: token.text))
  }

  /// `DELETE /api/register/<id>/token`: ends the tokens of a device, for its user and admins.
  func removeTokens(_ context: RequestContext) async throws -> Response {
    let caller = context.caller
    let isFound = try await store.accounts.removeTokens(
      of: Self.id(context), user: caller.role == .admin ? nil : caller.id)
    guard isFound else { throw Self.noSuchRegistration }
    return .empty(204)
  }

  private static let noSuchRegistration = ServiceError(
    .notFound, "You have no registration with this id; register first.")

  private static func id(_ context: RequestContext) throws(ServiceError) -> String {
    guard let id = context.parameters.first, (1...64).contains(id.utf8.count),
      id.utf8.allSatisfy({ UserName.isValid(byte: $0) })
    else {
      throw ServiceError(
        .invalidRequest, "A registration's id has from 1 to 64 letters, digits and “-”.")
    }
    return id
  }

  private static func check(handle: String) throws(ServiceError) {
    let isHexadecimal = handle.utf8.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
    guard isHexadecimal, !handle.isEmpty, handle.utf8.count.isMultiple(of: 2),
      handle.utf8.count <= 400
    else {
      throw ServiceError(
        .invalidRequest,
        """
        The handle is not a hexadecimal device token. Since Xcode 11 [deviceToken description] \
        gives “{length = 32, bytes = 0x…}”: build the text from the token's bytes instead.
        """)
    }
  }

  private static func check(tags: [String], of user: String) throws(ServiceError) -> [String] {
    let own = "username:" + user
    guard tags.count <= 60 else {
      throw ServiceError(.invalidRequest, "A registration has at most 60 tags.")
    }
    var result = [own]
    for text in tags where text != own {
      let tag: Tag
      do { tag = try Tag(text) } catch { throw ServiceError(.invalidRequest, "Tags: \(error)") }
      guard !tag.isReserved else {
        throw ServiceError(.invalidRequest, "The tag \(text.quoted) is reserved for the server.")
      }
      if !result.contains(text) { result.append(text) }
    }
    return result
  }
}
