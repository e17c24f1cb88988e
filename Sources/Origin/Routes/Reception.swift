import HTTP

/// Receives every request: finds its place and its caller, and turns refusals into answers.
struct Reception: Responder {
  let router: Router<Endpoint>
  let authenticator: Authenticator
  let health: Health
  let temporaryFolder: String
  let log: Log

  func answer(_ request: Request) -> Answer {
    if let answer = health.answer(request) { return answer }
    switch router.match(request) {
    case .answered(let response): return .now(response)
    case .found(let endpoint, let parameters, _): return admit(request, endpoint, parameters)
    }
  }

  private func admit(
    _ request: Request, _ endpoint: Endpoint, _ parameters: [String]
  ) -> Answer {
    let authorization = request.fields["Authorization"] ?? ""
    switch authenticator.find(authorization) {
    case .stranger: return .now(Self.unauthorized)
    case .unknown(let credentials):
      return work(request, endpoint, parameters) {
        await authenticator.verify(credentials, authorization)
      }
    case .caller(let caller):
      do {
        let exchange = Exchange(request: request, caller: caller, parameters: parameters)
        if let response = try endpoint.ready?(exchange) { return .now(response) }
      } catch { return .now(refusal(of: error, request)) }
      return work(request, endpoint, parameters) { caller }
    }
  }

  /// Answers off the HTTP thread, once the body is there and the caller is known.
  private func work(
    _ request: Request, _ endpoint: Endpoint, _ parameters: [String],
    for caller: @escaping @Sendable () async -> Caller?
  ) -> Answer {
    let answer: @Sendable ([UInt8], SavedBody?) async -> Response = { body, file in
      guard let caller = await caller() else { return Self.unauthorized }
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
    if refusal.status >= 500 {
      log("\(request.method) \(request.target): \(refusal.status) \(refusal.sentence) [\(error)]")
    }
    return refusal.response
  }

  private static let unauthorized = Response.problem(
    401, "Name and password are missing or wrong (Basic authentication).",
    fields: ["WWW-Authenticate": "Basic realm=\"richpush\", charset=\"UTF-8\""])
}
