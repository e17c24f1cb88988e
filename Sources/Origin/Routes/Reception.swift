import HTTP
import Synchronization

/// Receives every request: finds its route, its caller, and turns refusals into answers.
struct Reception: Responder {
  let routes: [Route]
  let authenticator: Authenticator
  let health: Health
  let log: Log

  func answer(_ request: Request) -> Answer {
    if let answer = health.answer(request) { return answer }
    var allowed: [String] = []
    for route in routes {
      guard let parameters = route.parameters(request.segments) else { continue }
      if route.method == request.method || route.method == "GET" && request.method == "HEAD" {
        return admit(request, to: route, parameters)
      }
      allowed += route.method == "GET" ? ["GET", "HEAD"] : [route.method]
    }
    guard !allowed.isEmpty else {
      return .now(.problem(404, "There is nothing at this address."))
    }
    let fields: Fields = ["Allow": (allowed + ["OPTIONS"]).joined(separator: ", ")]
    return .now(
      request.method == "OPTIONS"
        ? .empty(204, fields: fields)
        : .problem(405, "This address does not take \(request.method).", fields: fields))
  }

  private func admit(_ request: Request, to route: Route, _ parameters: [String]) -> Answer {
    let authorization = request.fields["Authorization"]
    let finding = authenticator.find(authorization)
    let caller: @Sendable () async -> Caller?
    switch finding {
    case .stranger: return .now(Self.unauthorized)
    case .unknown(let credentials):
      caller = { await authenticator.verify(credentials, authorization ?? "") }
    case .caller(let known):
      let exchange = Exchange(request: request, caller: known, parameters: parameters)
      do {
        if let response = try route.ready?(exchange) { return .now(response) }
      } catch { return .now(refusal(of: error, request)) }
      caller = { known }
    }
    let answer: @Sendable ([UInt8]) async -> Response = { body in
      guard let caller = await caller() else { return Self.unauthorized }
      do {
        return try await route.handler(
          Exchange(request: request, caller: caller, parameters: parameters, body: body))
      } catch { return refusal(of: error, request) }
    }
    return switch route.body {
    case .none: .later(deadline: route.deadline) { await answer([]) }
    case .memory(let limit): .reading(limit: limit, deadline: route.deadline, answer)
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
