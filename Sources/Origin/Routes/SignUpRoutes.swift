import Delivery
import FoundationEssentials
import HTTP
import Primitives
import Push
import RichPushAPI
import Store

/// `/api/sign-up`, for people who add themselves, and `/api/sign-ups`, for the admins who approve.
struct SignUpRoutes: Sendable {
  let store: Store
  /// Who may sign up; nil for nobody.
  let mode: OriginConfiguration.SignUp?
  /// The tags that people can choose.
  let subjects: [String]
  let limiter: SignUpLimiter
  let registrations: RegistrationRoutes

  /// Rejects everybody if nobody may sign up, before the body is read.
  func mayPost(_ context: RequestContext) throws -> Response? {
    _ = try context.query()
    guard mode != nil else {
      throw ServiceError(.forbidden, "On this server people cannot sign up by themselves.")
    }
    return nil
  }

  /// `POST /api/sign-up`: a user with a made-up name, and a device that gets the wanted subjects.
  func post(_ context: RequestContext) async throws -> Response {
    let request = try JSONCoding.request(SignUpRequest.self, from: context.body)
    let wanted = try checked(request.subjects)
    let (id, token) = (RegistrationRoutes.newID(), DeviceToken())
    var device = NewDevice(registration: id, token: token.hash)
    device.name = try RegistrationRoutes.check(name: request.name)
    device.language = try RegistrationRoutes.check(language: request.language)
    device.timeZone = try RegistrationRoutes.check(timeZone: request.timeZone)
    device.origin = RegistrationRoutes.origin(context.request, credential: "sign-up")
    var change: RegistrationChange?
    if let subscription = request.webpush {
      let endpoint = subscription.endpoint
      let (keys, lane) = try registrations.subscription(endpoint, subscription.keys)
      var push = RegistrationChange(platform: "webpush", handle: endpoint)
      (push.keys, push.lane) = (keys, lane)
      change = push
    }
    if let wait = limiter.wait(from: context.request.peer) {
      return RequestDispatcher.tooManySignUps(wait: wait)
    }
    guard let hash = Self.unknownPassword else {
      throw ServiceError(.internalError, "The server could not make a password.")
    }
    let isWaiting = mode == .approval
    // Nobody else has the name, unless two of 2^49 are equal.
    let name = "guest-" + ReadableName.random(count: 10)
    var new = NewSignUp(
      user: name, hash: hash, subjects: wanted, isWaiting: isWaiting, device: device)
    new.change = change
    switch try await store.signUps.signUp(new) {
    case .added(let former):
      if let former { await registrations.tell(former, that: name) }
      if let change { registrations.unreached.registered(change.platform) }
    case .deviceTaken, .nameTaken:
      throw ServiceError(.conflict, "This device is registered already.")
    }
    return .json(
      201, SignedUp(registration: id, user: name, token: token.text, waiting: isWaiting),
      fields: ["Cache-Control": "no-store"])
  }

  /// `GET /api/sign-ups`: those who wait for approval.
  func list(_ context: RequestContext) async throws -> Response {
    let query = try context.query("after", "limit")
    let limit = try query.number("limit", 1...500) ?? 100
    let after = try query.number("after", RequestContext.ids).map { UserID(rawValue: $0) }
    let found = try await store.signUps.signUps(after: after, limit: limit + 1)
    let page = found.prefix(limit)
    return .json(
      200,
      SignUpPage(
        signUps: page.map {
          SignUpPage.SignUp(
            user: $0.user, name: $0.name, subjects: $0.subjects, created: $0.created)
        }, next: found.count > limit ? page.last?.id.rawValue : nil))
  }

  /// `POST /api/sign-ups/<user>`: approves, which gives the user the wanted subjects.
  func approve(_ context: RequestContext) async throws -> Response {
    _ = try context.query()
    guard let name = context.parameters.first, try await store.signUps.approveSignUp(of: name)
    else { throw Self.nobody }
    return .empty(204)
  }

  /// `DELETE /api/sign-ups/<user>`: refuses, which removes the user.
  func refuse(_ context: RequestContext) async throws -> Response {
    _ = try context.query()
    guard let name = context.parameters.first, try await store.signUps.refuseSignUp(of: name)
    else { throw Self.nobody }
    return .empty(204)
  }

  /// The subjects that a request names, each once.
  private func checked(_ wanted: [String]) throws(ServiceError) -> [String] {
    let known = subjects.joined(separator: ", ")
    if let unknown = wanted.first(where: { !subjects.contains($0) }) {
      throw ServiceError(
        .init(
          "subjects", .rejected, "There is no subject \(unknown.quoted). There are: \(known)."))
    }
    guard !wanted.isEmpty else {
      throw ServiceError(.init("subjects", .rejected, "subjects must name one of: \(known)."))
    }
    return subjects.filter(wanted.contains)
  }

  /// The hash of a password that nobody knows, made once: a hash takes as long as many requests.
  private static let unknownPassword = PasswordHash.make(DeviceToken().text)

  private static let nobody = ServiceError(.notFound, "No such user waits for approval.")
}

/// What the devices of users who have signed up by themselves may get.
struct SubjectLimit: Sendable {
  let store: Store
  /// The tags that people can choose.
  let subjects: [String]

  /// Checks the tags, beside that of its user, that a device is to have.
  ///
  /// - Throws: `forbidden` if the user has signed up by itself, and one of them is no subject or the user waits.
  func check(_ tags: [String], of user: UserID) async throws {
    guard !tags.isEmpty, let isWaiting = try await store.signUps.isWaiting(user) else { return }
    guard !isWaiting else {
      throw ServiceError(.forbidden, "Your subjects begin when an admin has approved.")
    }
    if let other = tags.first(where: { !subjects.contains($0) }) {
      throw ServiceError(
        .forbidden,
        "There is no subject \(other.quoted): who has signed up can have only the subjects that the server offers."
      )
    }
  }
}
