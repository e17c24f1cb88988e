import Delivery
import FoundationEssentials
import HTTP
import Media
import Primitives
import Push
import RichPushAPI
import Store

/// The tutorial's `/api/register`, and `/api/registrations`: a user's devices.
struct RegistrationRoutes: Sendable {
  let store: Store
  let announcement: Announcement
  let lanes: PlatformLanes
  /// Which Web Push endpoints are accepted.
  let endpoints: EndpointPolicy
  let unreached: UnreachedDevices
  let subjects: SubjectLimit
  let log: Log

  /// `POST /api/register?handle=<HEX>`: the ID of the caller's device with that push token.
  ///
  /// The tutorial's client removes the first and the last character of the body: hence the quotes,
  /// and no newline. For a device with its token it is that device's ID.
  func register(_ context: RequestContext) async throws -> Response {
    guard let handle = try context.query("handle")["handle"] else {
      throw ServiceError(
        .invalidRequest, "The query parameter handle is missing: the device token in hexadecimal.")
    }
    try Self.check(handle: handle)
    let id =
      if let device = context.caller.device {
        device
      } else {
        try await store.accounts.registration(
          forHandle: handle.uppercased(), user: context.caller.id, origin: Self.origin(context))
      }
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
    var handle = registration.handle
    guard let platform = PushServices.platform(named: registration.platform) else {
      let known = PushServices.platforms.map(\.name).joined(separator: ", ")
      throw ServiceError(
        .invalidRequest, "Platform must be one of \(known), not \(registration.platform.quoted).")
    }
    var subscription: (keys: String, lane: String)?
    switch platform.handle {
    case .appleToken:
      try Self.check(handle: handle)
      handle = handle.uppercased()
    case .subscription: subscription = try self.subscription(handle, registration.keys)
    case .token:
      guard (1...4096).contains(handle.utf8.count), !handle.utf8.contains(0) else {
        throw ServiceError(
          .invalidRequest, "Handle must have from 1 to 4096 bytes, and no NUL character.")
      }
    }
    var change = RegistrationChange(platform: platform.name, handle: handle)
    change.tags = try Self.check(tags: registration.tags ?? [], of: context.caller.name)
    change.keepsTags = registration.tags == nil
    try await subjects.check(Array(change.tags.dropFirst()), of: context.caller.id)
    (change.keys, change.lane) = (subscription?.keys, subscription?.lane)
    change.name = try Self.check(name: registration.name)
    change.language = try Self.check(language: registration.language)
    change.timeZone = try Self.check(timeZone: registration.timeZone)
    change.quietPeriod = try Self.check(quietHours: registration.quietHours)
    change.origin = Self.origin(context)
    change.isRenewal = context.caller.device != nil
    try await store(change, as: id, of: context.caller)
    unreached.registered(platform.name)
    return context.acceptsJSON
      ? .json(200, deliverability(of: platform.name)) : .empty(200)
  }

  private func store(
    _ change: RegistrationChange, as id: String, of caller: Caller
  ) async throws {
    switch try await store.accounts.putRegistration(id, user: caller.id, change) {
    case .stored(endedOf: nil): return
    case .stored(endedOf: let former?): await tell(former, that: caller.name)
    case .notOwn: throw Self.notOwn(id)
    case .notRenewable:
      throw ServiceError(
        .conflict, "With a device's token its handle can be changed, but not its platform.")
    case .handleTaken:
      throw ServiceError(
        .conflict, "A device of another user and another platform is registered with this handle.")
    }
  }

  /// Logs and tells the former owner of a device that it is registered as another user's.
  func tell(_ former: FormerOwner, that user: String) async {
    log(
      .notice, "register",
      "the registration \(former.registration) of user \(former.user.rawValue) ended: another user has "
        + "registered a device with its handle")
    do {
      try await announcement.announce(
        "Your device \(former.registration) was registered by another account.", to: former.name)
    } catch {
      log(
        .warning, "register", "user \(former.user.rawValue) was not told: \(error.logDescription)")
    }
  }

  /// For an id that another user's registration has.
  static func notOwn(_ id: String) -> ServiceError {
    ServiceError(.forbidden, "The registration \(id) belongs to another user. Register again.")
  }

  /// `PATCH /api/register/<id>`: changes settings of the caller's device by a JSON merge patch.
  func patch(_ context: RequestContext) async throws -> Response {
    let id = try Self.id(context)
    let change = try JSONCoding.request(DeviceChange.self, from: context.body)
    func checked<Value: Codable & Sendable & Equatable, Checked: Sendable>(
      _ change: Change<Value>, _ check: (Value?) throws(ServiceError) -> Checked
    ) throws(ServiceError) -> (@Sendable (inout Checked) -> Void) {
      if change == .none { return { _ in } }
      let new = try check(change.applied(to: nil))
      return { $0 = new }
    }
    if case .value = change.platform {
      throw ServiceError(
        .rejected, "Platform can only be removed here (null); PUT registers one with its handle.")
    }
    let name = try checked(change.name, Self.check(name:))
    let own = context.caller.name
    let tags = try checked(change.tags) { tags throws(ServiceError) in
      try Self.check(tags: tags ?? [], of: own)
    }
    if case .some(let tags) = change.tags.applied(to: nil) {
      try await subjects.check(tags.filter { $0 != "username:" + own }, of: context.caller.id)
    }
    let language = try checked(change.language, Self.check(language:))
    let timeZone = try checked(change.timeZone, Self.check(timeZone:))
    let quietPeriod = try checked(change.quietHours, Self.check(quietHours:))
    let changed = try await store.accounts.changeSettings(of: id, user: context.caller.id) {
      name(&$0.name)
      tags(&$0.tags)
      language(&$0.language)
      timeZone(&$0.timeZone)
      quietPeriod(&$0.quietPeriod)
      if change.platform == .removal { $0.hasHandle = false }
    }
    guard let changed else { throw Self.noSuchRegistration }
    return .json(200, DeviceList.Device(changed))
  }

  private static func origin(_ context: RequestContext) -> RegistrationOrigin {
    origin(context.request, credential: context.caller.proof == .name ? "name" : "password")
  }

  /// How a new registration came to be.
  static func origin(_ request: Request, credential: String) -> RegistrationOrigin {
    RegistrationOrigin(
      credential: credential,
      userAgent: request.fields["User-Agent"].map {
        String(String.UnicodeScalarView($0.unicodeScalars.prefix(256)))
      })
  }

  /// `GET /api/registrations`: a page of the caller's devices; for a device with its token that one, and what
  /// it may know of the others.
  func list(_ context: RequestContext) async throws -> Response {
    guard let device = context.caller.device else {
      return .json(200, try await DeviceList(context, of: context.caller.id, in: store))
    }
    _ = try context.query()
    let found = try await store.accounts.registrations(ofUser: context.caller.id)
    var list = DeviceList(
      devices: found.filter { $0.id == device }.map(DeviceList.Device.init))
    list.others = found.filter { $0.id != device }.map { other in
      DeviceList.Other(
        name: other.name ?? other.id, platform: other.platform, lastContact: other.lastContact,
        ended: other.ended)
    }
    return .json(200, list)
  }

  /// The keys and the lane of a Web Push subscription.
  func subscription(
    _ endpoint: String, _ keys: Registration.Keys?
  ) throws(ServiceError) -> (keys: String, lane: String) {
    guard let keys else {
      throw ServiceError(
        .invalidRequest, "Keys must be the subscription's keys: {\"p256dh\":…,\"auth\":…}.")
    }
    do throws(PushError) {
      let endpoint = try endpoints.newEndpoint(endpoint)
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

  /// `DELETE /api/register/<id>`: ends a registration, for its user and admins; 200, also for one that does not
  /// exist.
  func delete(_ context: RequestContext) async throws -> Response {
    _ = try await store.accounts.removeRegistration(Self.id(context), user: Self.owner(context))
    return .empty(200)
  }

  /// `POST /api/register/<id>/token`: a new token of the caller's device, which is not shown again.
  func addToken(_ context: RequestContext) async throws -> Response {
    let (id, token) = (try Self.id(context), DeviceToken())
    guard try await store.accounts.addToken(token.hash, to: id, user: context.caller.id) else {
      throw Self.noSuchRegistration
    }
    // The password may have been changed meanwhile, which ended the tokens that there were.
    guard try await store.isCurrent(context.caller) else {
      _ = try await store.accounts.removeTokens(of: id, user: context.caller.id)
      throw ServiceError.callerChanged
    }
    return .json(201, IssuedToken(token: token.text))
  }

  /// `DELETE /api/register/<id>/token`: ends the tokens of a device, for its user and admins.
  func removeTokens(_ context: RequestContext) async throws -> Response {
    let isFound = try await store.accounts.removeTokens(
      of: Self.id(context), user: Self.owner(context))
    guard isFound else { throw Self.noSuchRegistration }
    return .empty(204)
  }

  /// Whose registrations the caller may end; nil for anybody's.
  private static func owner(_ context: RequestContext) -> UserID? {
    context.caller.role == .admin ? nil : context.caller.id
  }

  private static let noSuchRegistration = ServiceError(
    .notFound, "You have no registration with this id; register first.")

  private static func id(_ context: RequestContext) throws(ServiceError) -> String {
    try check(id: context.parameters.first ?? "")
  }

  /// A new ID that no registration has.
  static func newID() -> String { String(UInt128.random(in: .min ... .max), radix: 16) }

  /// - Throws: `invalidRequest` if no registration can have this ID.
  static func check(id: String) throws(ServiceError) -> String {
    guard (1...64).contains(id.utf8.count), id.utf8.allSatisfy({ UserName.isValid(byte: $0) })
    else {
      throw ServiceError(
        .invalidRequest, "A registration's id must have from 1 to 64 letters, digits and “-”.")
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

  /// - Throws: `invalidRequest` if a device cannot have this name.
  static func check(name: String?) throws(ServiceError) -> String? {
    guard let name, !name.isEmpty else { return nil }
    guard name.unicodeScalars.count <= 100,
      !name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
    else {
      throw ServiceError(
        .invalidRequest, "Name must have at most 100 characters, and no control characters.")
    }
    return name
  }

  /// - Throws: `invalidRequest` if it is no language.
  static func check(language: String?) throws(ServiceError) -> String? {
    guard let language, !language.isEmpty else { return nil }
    // As Apple's systems name it, too.
    let tag = language.replacing("_", with: "-")
    guard LanguageTag.isValid(tag) else {
      throw ServiceError(.invalidRequest, "Language must be a tag such as de or pt-BR (BCP 47).")
    }
    return tag
  }

  /// - Throws: `rejected` if it is no time zone.
  static func check(timeZone: String?) throws(ServiceError) -> String? {
    guard let timeZone, !timeZone.isEmpty else { return nil }
    guard timeZone.utf8.count <= 64, TimeZone(identifier: timeZone) != nil else {
      throw ServiceError(
        .rejected, "TimeZone must be a name of the IANA's database, such as Europe/Zurich.")
    }
    return timeZone
  }

  private static func check(quietHours: QuietHours?) throws(ServiceError) -> QuietPeriod? {
    guard let quietHours else { return nil }
    guard let (from, until) = quietHours.minutes,
      let period = QuietPeriod(from: from, until: until)
    else {
      throw ServiceError(
        .rejected,
        #"Quiet hours are two different times of the day, such as {"from":"22:00","until":"07:00"}."#
      )
    }
    return period
  }

  /// The tags of a device, the user's own first.
  ///
  /// - Throws: `invalidRequest` for one that a device cannot have.
  static func check(tags: [String], of user: String) throws(ServiceError) -> [String] {
    let own = "username:" + user
    guard tags.count <= 60 else {
      throw ServiceError(.invalidRequest, "A registration must have at most 60 tags.")
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

extension DeviceList {
  /// The page of a user's devices that `after` and `limit` of the request name.
  init(_ context: RequestContext, of user: UserID, in store: Store) async throws {
    let query = try context.query("after", "limit")
    let limit = try query.number("limit", 1...500) ?? 100
    let found = try await store.accounts.registrations(
      ofUser: user, after: query["after"] ?? "", limit: limit + 1)
    let page = found.prefix(limit)
    self.init(
      devices: page.map(Device.init), next: found.count > limit ? page.last?.id : nil)
  }
}

extension DeviceList.Device {
  /// A device without its push token.
  init(_ registration: DeviceRegistration) {
    self.init(
      registration: registration.id, platform: registration.platform, tags: registration.tags,
      updated: registration.updated)
    (name, language) = (registration.name, registration.language)
    timeZone = registration.timeZone
    quietHours = registration.quietPeriod.map { QuietHours(from: $0.from, until: $0.until) }
    (created, credential) = (registration.origin.created, registration.origin.credential)
    userAgent = registration.origin.userAgent
    (lastContact, ended) = (registration.lastContact, registration.ended)
  }
}
