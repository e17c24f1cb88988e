import HTTP
import Media
import RichPushAPI

/// Finds the route and the caller of every request, and turns errors into responses.
struct RequestDispatcher: Responder {
  let router: Router<Endpoint>
  let authenticator: Authenticator
  let temporaryFolder: String
  let media: MediaRoutes
  let signed: SignedMediaRoutes
  let log: Log

  func cachedResponse(for target: String, authorization: String) -> (any CachedResponse)? {
    if target.hasPrefix("/media/") { return signed.standing(at: target) }
    guard case .caller(let caller) = authenticator.find(authorization) else { return nil }
    return media.standing(at: target, for: caller.id)
  }

  func plan(for request: Request) -> ResponsePlan {
    switch router.match(request) {
    case .answered(let response): return .immediate(response)
    case .found(let endpoint, let parameters, _): return admit(request, endpoint, parameters)
    }
  }

  func responseWhenFull(to request: Request) -> Response? {
    guard request.method == "GET" || request.method == "HEAD", request.segments == ["healthz"]
    else { return nil }
    return HealthRoutes.fine
  }

  /// Authenticates and authorizes the caller; the body is not read before.
  private func admit(
    _ request: Request, _ endpoint: Endpoint, _ parameters: [String]
  ) -> ResponsePlan {
    if endpoint.access == .anybody {
      return answer(
        RequestContext(request: request, caller: .anybody, parameters: parameters), endpoint)
    }
    let authorization = request.fields["Authorization"] ?? ""
    switch authenticator.find(authorization) {
    case .stranger: return .immediate(Self.unauthorized)
    case .caller(let caller):
      return answer(
        RequestContext(request: request, caller: caller, parameters: parameters), endpoint)
    case .unknown(let credentials):
      return .deferred(deadline: Self.verifying) {
        switch await authenticator.verify(credentials, authorization, from: request.peer) {
        case .caller(let caller):
          return answer(
            RequestContext(request: request, caller: caller, parameters: parameters), endpoint)
        case .wrong: return .immediate(Self.unauthorized)
        case .tooMany(let wait): return .immediate(Self.limited(wait))
        case .busy(let wait): return .immediate(Self.busy(wait))
        }
      }
    }
  }

  /// How the endpoint responds, if the caller's role is sufficient.
  private func answer(_ context: RequestContext, _ endpoint: Endpoint) -> ResponsePlan {
    do {
      try endpoint.access.check(context.caller)
      if let response = try endpoint.ready?(context) { return .immediate(response) }
    } catch { return .immediate(refusal(of: error, context.request)) }
    let work: @Sendable ([UInt8], SavedBody?) async -> Response = { body, file in
      var context = context
      (context.body, context.file) = (body, file)
      do {
        return try await endpoint.handler(context)
      } catch { return refusal(of: error, context.request) }
    }
    let deadline = endpoint.deadline
    return switch endpoint.body {
    case .none: .asynchronous(deadline: deadline) { await work([], nil) }
    case .memory(let limit):
      .collectingBody(limit: limit, deadline: deadline) { await work($0, nil) }
    case .file(let limit):
      .savingBody(limit: limit, folder: temporaryFolder, deadline: deadline) { await work([], $0) }
    }
  }

  private func refusal(of error: any Error, _ request: Request) -> Response {
    let refusal = ServiceError(any: error)
    // 503 with Retry-After is expected under load; it is counted in /metrics, not logged per request.
    if refusal.code.status >= 500, refusal.retryAfter == nil {
      // The error's own text is for the operator only.
      let words = error.logDescription
      log(
        "\(request.id): \(request.method) \(request.loggedTarget): \(refusal.code.status) "
          + (words == refusal.reason ? words : "\(refusal.reason) \(words)"))
    }
    return refusal.response
  }

  /// How long verifying a password may take: waiting (at most 20 s) and hashing.
  private static let verifying = Duration.seconds(30)

  private static let unauthorized = Response.problem(
    401, "Name and password are missing or wrong (Basic authentication).",
    fields: ["WWW-Authenticate": "Basic realm=\"richpush\", charset=\"UTF-8\""])

  private static func limited(_ seconds: Int) -> Response {
    .problem(
      429, "Too many wrong passwords; try again in \(seconds) s.",
      fields: ["Retry-After": "\(seconds)"])
  }

  private static func busy(_ seconds: Int) -> Response {
    .problem(
      503, "Too many passwords wait to be looked at; try again in \(seconds) s.",
      fields: ["Retry-After": "\(seconds)"])
  }

  /// The route of a request, as metrics and logs name it.
  func route(of request: Request?) -> String {
    request.map { router.pattern(of: $0) ?? "unknown" } ?? "unreadable"
  }
}
