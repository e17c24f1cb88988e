import HTTP

/// Receives every request: finds its place and its caller, and turns refusals into answers.
struct Reception: Responder {
  let router: Router<Endpoint>
  let authenticator: Authenticator
  let temporaryFolder: String
  let media: Media
  let signed: SignedMedia
  let log: Log

  func standing(at target: String, for authorization: String) -> (any StandingAnswer)? {
    if target.hasPrefix("/media/") { return signed.standing(at: target) }
    guard case .caller(let caller) = authenticator.find(authorization) else { return nil }
    return media.standing(at: target, for: caller.id)
  }

  func answer(_ request: Request) -> Answer {
    switch router.match(request) {
    case .answered(let response): return .now(response)
    case .found(let endpoint, let parameters, _): return admit(request, endpoint, parameters)
    }
  }

  /// Finds out who asks: until that is known, and the role is enough, the body stays unread.
  private func admit(
    _ request: Request, _ endpoint: Endpoint, _ parameters: [String]
  ) -> Answer {
    if endpoint.access == .anybody {
      return answer(Exchange(request: request, caller: .anybody, parameters: parameters), endpoint)
    }
    let authorization = request.fields["Authorization"] ?? ""
    switch authenticator.find(authorization) {
    case .stranger: return .now(Self.unauthorized)
    case .caller(let caller):
      return answer(Exchange(request: request, caller: caller, parameters: parameters), endpoint)
    case .unknown(let credentials):
      return .deciding(deadline: Self.verifying) {
        switch await authenticator.verify(credentials, authorization, from: request.peer) {
        case .caller(let caller):
          return answer(
            Exchange(request: request, caller: caller, parameters: parameters), endpoint)
        case .wrong: return .now(Self.unauthorized)
        case .tooMany(let wait): return .now(Self.limited(wait))
        case .busy(let wait): return .now(Self.busy(wait))
        }
      }
    }
  }

  /// How the endpoint answers its caller, when the role is enough.
  private func answer(_ exchange: Exchange, _ endpoint: Endpoint) -> Answer {
    do {
      try endpoint.access.check(exchange.caller)
      if let response = try endpoint.ready?(exchange) { return .now(response) }
    } catch { return .now(refusal(of: error, exchange.request)) }
    let work: @Sendable ([UInt8], SavedBody?) async -> Response = { body, file in
      var exchange = exchange
      (exchange.body, exchange.file) = (body, file)
      do {
        return try await endpoint.handler(exchange)
      } catch { return refusal(of: error, exchange.request) }
    }
    let deadline = endpoint.deadline
    return switch endpoint.body {
    case .none: .later(deadline: deadline) { await work([], nil) }
    case .memory(let limit): .reading(limit: limit, deadline: deadline) { await work($0, nil) }
    case .file(let limit):
      .saving(limit: limit, folder: temporaryFolder, deadline: deadline) { await work([], $0) }
    }
  }

  private func refusal(of error: any Error, _ request: Request) -> Response {
    let refusal = Refusal(any: error)
    // That somebody has to come back, each of a herd is told, and the measurements tell the operator.
    if refusal.status >= 500, refusal.retryAfter == nil {
      log(
        "\(request.id): \(request.method) \(request.loggedTarget): \(refusal.status) \(refusal.sentence) [\(error)]"
      )
    }
    return refusal.response
  }

  /// How long a password may take: no more wait than can be looked at in 20 s.
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

  /// The place a request was for, as measurements and logs name it.
  func route(of request: Request?) -> String {
    request.map { router.pattern(of: $0) ?? "unknown" } ?? "unreadable"
  }
}
