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

  private func admit(
    _ request: Request, _ endpoint: Endpoint, _ parameters: [String]
  ) -> Answer {
    let authorization = request.fields["Authorization"] ?? ""
    let finding = endpoint.isOpen ? .caller(.anybody) : authenticator.find(authorization)
    switch finding {
    case .stranger: return .now(Self.unauthorized)
    case .unknown(let credentials):
      return work(request, endpoint, parameters) {
        await authenticator.verify(credentials, authorization, from: request.peer)
      }
    case .caller(let caller):
      do {
        let exchange = Exchange(request: request, caller: caller, parameters: parameters)
        if let response = try endpoint.ready?(exchange) { return .now(response) }
      } catch { return .now(refusal(of: error, request)) }
      return work(request, endpoint, parameters) { .caller(caller) }
    }
  }

  /// Answers off the HTTP thread, once the body is there and the caller is known.
  private func work(
    _ request: Request, _ endpoint: Endpoint, _ parameters: [String],
    for verdict: @escaping @Sendable () async -> Authenticator.Verdict
  ) -> Answer {
    let answer: @Sendable ([UInt8], SavedBody?) async -> Response = { body, file in
      let caller: Caller
      switch await verdict() {
      case .caller(let known): caller = known
      case .wrong: return Self.unauthorized
      case .tooMany(let wait): return Self.limited(wait)
      case .busy(let wait):
        return .problem(
          503, "Too many passwords wait to be looked at; try again in \(wait) s.",
          fields: ["Retry-After": "\(wait)"])
      }
      do {
        return try await endpoint.handler(
          Exchange(
            request: request, caller: caller, parameters: parameters, body: body, file: file))
      } catch { return refusal(of: error, request) }
    }
    let deadline = endpoint.deadline
    return switch endpoint.body {
    case .none: .later(deadline: deadline) { await answer([], nil) }
    case .memory(let limit):
      .reading(limit: limit, deadline: deadline) { await answer($0, nil) }
    case .file(let limit):
      .saving(limit: limit, folder: temporaryFolder, deadline: deadline) { await answer([], $0) }
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

  private static let unauthorized = Response.problem(
    401, "Name and password are missing or wrong (Basic authentication).",
    fields: ["WWW-Authenticate": "Basic realm=\"richpush\", charset=\"UTF-8\""])

  private static func limited(_ seconds: Int) -> Response {
    .problem(
      429, "Too many wrong passwords; try again in \(seconds) s.",
      fields: ["Retry-After": "\(seconds)"])
  }

  /// The place a request was for, as measurements and logs name it.
  func route(of request: Request?) -> String {
    request.map { router.pattern(of: $0) ?? "unknown" } ?? "unreadable"
  }
}
