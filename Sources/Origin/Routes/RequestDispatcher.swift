package import HTTP
import Intake
import Media
package import RichPushAPI
import Primitives
import Store

/// Finds the route and the caller of every request, and turns errors into responses.
final class RequestDispatcher: Responder {
  private let site: RouteSite
  let authenticator: Authenticator
  private let pushes: PushAuthenticator
  let store: Store
  let renderer: Renderer
  /// Bodies that are being received.
  let bodies: OpenBodies
  let log: Log
  /// For files that users upload, from the head until they are checked.
  private let uploadPermits = KeyedSemaphore<UserID>(width: UserQuota.uploads)
  /// For all other bodies of users, until they are complete.
  private let bodyPermits = KeyedSemaphore<UserID>(width: UserQuota.bodies)

  init(_ table: RouteTable, authenticator: Authenticator, store: Store, log: Log) {
    (site, renderer) = (RouteSite(table.routes), table.media.renderer)
    (self.authenticator, self.store, self.log) = (authenticator, store, log)
    pushes = PushAuthenticator(store: store, links: table.signed.links)
    bodies = OpenBodies(store)
  }

  func plan(for request: Request) -> ResponsePlan { plan(for: request, at: site) }

  /// The plan for a request to a site, which may be another than this API's.
  func plan(for request: Request, at site: RouteSite) -> ResponsePlan {
    switch site.router.match(request) {
    case .answered(let response):
      return .immediate(site.dialect?.translated(response) ?? response)
    case .found(let index, let parameters):
      let route = site.routes[index]
      let plan = authenticate(request, route, parameters)
      return route.dialect?.translated(plan) ?? plan
    }
  }

  func plan(for request: Request, like earlier: any CachedResponse) -> ResponsePlan {
    guard let earlier = earlier as? CachedMedia else { return plan(for: request) }
    do {
      // An asset is linked for the plugin, which would wait for the disk.
      if earlier.media.rendition.source.pinned == nil,
        let media = try renderer.renditionInline(earlier.media.rendition)
      {
        return .immediate(media.response)
      }
    } catch { return .immediate(response(to: request, error)) }
    return .asynchronous(deadline: RouteTable.renderTime) { [self] in
      do {
        let rendition = earlier.media.rendition
        return try await renderer.rendition(rendition, for: earlier.user, isFetch: true).response
      } catch { return response(to: request, error) }
    }
  }

  func responseWhenFull(to request: Request) -> Response? {
    guard request.method == "GET" || request.method == "HEAD", request.segments == ["healthz"]
    else { return nil }
    return HealthRoutes.ok
  }

  func route(of request: Request?) -> String {
    request.map { site.name(of: $0) ?? "unknown" } ?? "unreadable"
  }

  /// Authenticates the caller, before the body is read.
  private func authenticate(
    _ request: Request, _ route: Route, _ parameters: [String]
  ) -> ResponsePlan {
    if route.access == .anybody {
      return plan(RequestContext(request: request, caller: .anybody, parameters: parameters), route)
    }
    let moment = authenticator.changes.moment
    let authorize = { @Sendable [self] (caller: Caller, fetch: FetchRecord?) in
      let login = Login(user: caller.id, moment: moment, changes: authenticator.changes)
      return plan(
        RequestContext(
          request: request, caller: caller, login: login, parameters: parameters, fetch: fetch),
        route)
    }
    if route.admission.contains(.push), let push = ShownPush(request) {
      return authenticate(request, push, authorize)
    }
    let given =
      if let dialect = route.dialect {
        dialect.authorization(of: request, parameters)
      } else {
        request.fields["Authorization"]
      }
    guard let authorization = given else {
      return authenticate(request, route, authorize)
    }
    switch authenticator.find(authorization, from: request.peer) {
    case .invalid: return .immediate(unauthorized)
    case .caller(let caller): return authorize(caller, nil)
    case .unverified(let given):
      return .deferred(deadline: Self.verificationTime) { [self] in
        let fetch = route.fetch?(parameters)
        let verification = await AuditActor.$current.withValue(AuditActor(.anybody, request)) {
          await authenticator.verify(given, from: request.peer, fetching: fetch)
        }
        return switch verification {
        case .caller(let caller, let record): authorize(caller, record)
        case .wrong: .immediate(refusal(of: given))
        case .tooManyFailures(let wait): .immediate(Self.tooManyFailures(wait: wait))
        case .busy(let wait): .immediate(Self.tooManyLogins(wait: wait))
        case .failed(let error): .immediate(response(to: request, error))
        }
      }
    }
  }

  /// Authenticates a caller without `Authorization`, by the cookie of a session.
  private func authenticate(
    _ request: Request, _ route: Route,
    _ authorize: @escaping @Sendable (Caller, FetchRecord?) -> ResponsePlan
  ) -> ResponsePlan {
    guard SessionToken.isFromOwnPage(request) else { return .immediate(unauthorized) }
    guard let token = SessionToken(in: request) else {
      return .immediate(SessionRoutes.signedOut)
    }
    if let caller = authenticator.find(token) { return authorize(caller, nil) }
    return .deferred(deadline: Self.verificationTime) { [self] in
      switch await authenticator.verify(token) {
      case .caller(let caller, let record): authorize(caller, record)
      case .busy(let wait): .immediate(Self.tooManyLogins(wait: wait))
      case .failed(let error): .immediate(response(to: request, error))
      default: .immediate(SessionRoutes.signedOut)
      }
    }
  }

  /// Authenticates a caller by what a push carries.
  private func authenticate(
    _ request: Request, _ push: ShownPush,
    _ authorize: @escaping @Sendable (Caller, FetchRecord?) -> ResponsePlan
  ) -> ResponsePlan {
    .deferred(deadline: Self.verificationTime) { [self] in
      switch await pushes.verify(push) {
      case .caller(let caller, _): authorize(caller, nil)
      case .failed(let error): .immediate(response(to: request, error))
      default: .immediate(Self.invalidPush)
      }
    }
  }

  /// The plan of the route, if the caller's credentials and role are sufficient.
  private func plan(_ context: RequestContext, _ route: Route) -> ResponsePlan {
    do {
      if route.access != .anybody {
        try route.admission.check(context.caller, context.parameters)
        try route.access.check(context.caller)
      }
      if let response = try route.ready?(context) { return .immediate(response) }
    } catch { return .immediate(response(to: context, error)) }
    let respond: @Sendable (RequestContext) async -> Response = { [self] context in
      do {
        if route.isSafe { return try await route.handler(context) }
        // A password may have waited to be hashed, and a body may have taken hours.
        if route.method != "GET" { try await store.requireCurrent(context.caller, context.login) }
        let actor = AuditActor(context.caller, context.request)
        return try await AuditActor.$current.withValue(actor) { try await route.handler(context) }
      } catch { return response(to: context, error) }
    }
    let permit: KeyedSemaphore<UserID>.Permit?
    do { permit = try self.permit(for: context, route) } catch {
      return .immediate(error.response)
    }
    let deadline = route.deadline
    let interruption = { [bodies] in
      context.login == nil ? nil : bodies.add(context.caller)
    }
    return switch route.body {
    case .textOrFile(let limit, _) where Self.isText(context, upTo: limit):
      .collectingBody(limit: limit, deadline: deadline, interruption: interruption()) { body in
        permit?.end()
        var context = context
        context.body = body
        return await respond(context)
      }
    case .none:
      .asynchronous(deadline: deadline) {
        permit?.end()
        return await respond(context)
      }
    case .memory(let limit, _, let form) where !Self.isForm(context, upTo: form):
      .collectingBody(
        limit: Self.largeBody(of: context, route) ?? limit, deadline: deadline,
        interruption: interruption()
      ) { body in
        permit?.end()
        var context = context
        context.body = body
        return await respond(context)
      }
    case .file(let limit), .textOrFile(_, let limit), .memory(_, _, let limit):
      .savingBody(
        limit: limit, folder: store.temporaryFolder, reserve: AssetIntake.reservedSpace,
        deadline: deadline, interruption: interruption()
      ) { file in
        defer { permit?.end() }
        var context = context
        context.file = file
        return await respond(context)
      }
    }
  }

  /// The size of a body that only a publisher may send, as an upload; nil for every other.
  private static func largeBody(of context: RequestContext, _ route: Route) -> Int? {
    guard case .memory(let limit, let largest, _) = route.body, context.caller.mayPublish,
      case .sized(let length) = context.request.body, length > limit, length <= largest
    else { return nil }
    return length
  }

  /// Whether the body of a request is so short that it is read into memory.
  private static func isText(_ context: RequestContext, upTo limit: Int) -> Bool {
    switch context.request.body {
    case .none: true
    case .sized(let length): length <= limit
    case .chunked: false
    }
  }

  /// Whether the body of a request is a form, which a route takes.
  private static func isForm(_ context: RequestContext, upTo limit: Int) -> Bool {
    limit > 0 && MultipartForm.isForm(context.request)
  }

  /// What a request with a body holds until the body is complete, or its file is handled.
  ///
  /// It also ends with the plan, if the client leaves before. Nil if there is no body, or no user: then the limits of
  /// addresses hold.
  private func permit(
    for context: RequestContext, _ route: Route
  ) throws(ServiceError) -> KeyedSemaphore<UserID>.Permit? {
    guard route.access != .anybody, context.request.body != .none else { return nil }
    let isFile =
      switch route.body {
      case .file: true
      case .textOrFile(let limit, _): !Self.isText(context, upTo: limit)
      case .memory(_, _, let form) where Self.isForm(context, upTo: form): true
      case .none, .memory: Self.largeBody(of: context, route) != nil
      }
    let permit = (isFile ? uploadPermits : bodyPermits).tryPermit(context.caller.id)
    guard let permit else {
      throw isFile
        ? ServiceError(underWay: "uploads", UserQuota.uploads)
        : ServiceError(underWay: "requests with a body", UserQuota.bodies)
    }
    return permit
  }

  /// The response for an error, with the credentials that are wanted instead of the caller's.
  private func response(to context: RequestContext, _ error: any Error) -> Response {
    if let error = error as? ServiceError, error.code == .unauthorized {
      return context.caller.response(to: error)
    }
    return response(to: context.request, error)
  }

  /// The response for an error; logs what only the operator should see.
  private func response(to request: Request, _ error: any Error) -> Response {
    let shown = ServiceError(any: error)
    // 503 with Retry-After is expected under load; it is counted in /metrics, not logged per request.
    if shown.code.status >= 500, shown.retryAfter == nil {
      let cause = error.logDescription
      log(
        .error, "http",
        "\(request.method) \(request.loggedTarget): \(shown.code.status) "
          + (cause == shown.reason ? cause : "\(shown.reason) \(cause)"),
        request: request.id)
    }
    return shown.response
  }

  /// How long verifying a password may take, waiting (at most 20 s) and hashing, and then the response to a
  /// request without a body.
  private static let verificationTime = Duration.seconds(90)

  private var unauthorized: Response {
    .problem(
      401,
      "Name and password are missing or wrong\(authenticator.signIn.passwordHint) (Basic authentication).",
      fields: Self.passwordWanted)
  }

  fileprivate static let passwordWanted: Fields = [
    "WWW-Authenticate": "Basic realm=\"richpush\", charset=\"UTF-8\""
  ]

  /// Does not offer Basic: a client with a token knows how it got it.
  private static let invalidToken = Response.problem(
    401, "The token has ended; get another with POST /api/register/<id>/token.",
    fields: tokenWanted)

  private static let invalidAccessToken = Response.problem(
    401, "The access token is wrong, was removed, has expired, or is another user's.",
    fields: tokenWanted)

  private func refusal(of given: Authenticator.Unverified) -> Response {
    switch given.secret {
    case .token: Self.invalidToken
    case .accessToken: Self.invalidAccessToken
    case .password: unauthorized
    }
  }

  private static let invalidPush = Response.problem(
    401, "The push's link or secret is wrong, or it has ended.", fields: tokenWanted)

  fileprivate static let tokenWanted: Fields = [
    "WWW-Authenticate": "Bearer realm=\"richpush\", error=\"invalid_token\""
  ]

  /// After too many wrong passwords.
  static func tooManyFailures(wait seconds: Int) -> Response {
    tryAgain(429, "Too many wrong passwords", in: seconds)
  }

  /// While too many passwords wait to be hashed.
  static func tooManyLogins(wait seconds: Int) -> Response {
    tryAgain(503, "Too many logins at once", in: seconds)
  }

  /// After too many wrong codes to pair a device.
  static func tooManyCodes(wait seconds: Int) -> Response {
    tryAgain(429, "Too many wrong codes", in: seconds)
  }

  /// After too many sign-ups from one address.
  static func tooManySignUps(wait seconds: Int) -> Response {
    tryAgain(429, "Too many have signed up from this address", in: seconds)
  }

  private static func tryAgain(_ status: Int, _ reason: String, in seconds: Int) -> Response {
    .problem(
      status, "\(reason); try again in \(seconds) s.", fields: ["Retry-After": "\(seconds)"])
  }
}

extension Caller {
  /// To a request whose credentials do not count, or no longer.
  func response(to error: ServiceError) -> Response {
    let wanted =
      switch proof {
      case .name, .password: RequestDispatcher.passwordWanted
      case .token, .push, .accessToken: RequestDispatcher.tokenWanted
      case .session: SessionRoutes.signInWanted
      }
    return .problem(401, error.reason, code: error.code.rawValue, fields: wanted)
  }
}

extension ServiceError {
  /// For a notification that does not exist or is not the caller's; the response does not reveal which.
  static let noSuchNotification = ServiceError(.notFound, "There is no such notification for you.")

  /// The response, a problem (RFC 9457).
  package var response: Response {
    var response = Response.problem(
      code.status, reason, code: code.rawValue,
      errors: faults.map { ProblemError($0.reason, member: $0.member) })
    if let retryAfter { response.fields["Retry-After"] = String(retryAfter) }
    return response
  }
}

extension ServiceError.Code {
  /// The HTTP status of a response with this code (RFC 9110, section 15).
  package var status: Int {
    switch self {
    case .invalidRequest, .unknownField: 400
    case .unauthorized: 401
    case .forbidden: 403
    case .notFound: 404
    case .conflict, .alreadyFetched: 409
    case .gone: 410
    case .preconditionFailed: 412
    case .tooLarge: 413
    case .unsupportedType: 415
    case .rejected, .unknownRichType, .assetNotReady, .noRecipients: 422
    case .tooManyRequests: 429
    case .legallyUnavailable: 451
    case .internalError: 500
    case .pluginFailed: 502
    case .incomplete, .busy, .unavailable: 503
    case .pluginTimedOut: 504
    case .diskFull: 507
    }
  }
}
