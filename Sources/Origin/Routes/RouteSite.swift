import HTTP

/// Routes that are served together: those of this API, or those of another program's at a place of their own.
struct RouteSite: Sendable {
  /// What the names of its routes begin with in metrics and logs.
  let prefix: String
  let routes: [Route]
  let router: Router
  /// How it answers what none of its routes does; nil as this API.
  let dialect: (any Dialect)?

  /// A site of these routes.
  init(_ routes: [Route], prefix: String = "", dialect: (any Dialect)? = nil) {
    (self.routes, self.prefix, self.dialect) = (routes, prefix, dialect)
    router = Router(routes.map { ($0.method, $0.pattern) })
  }

  /// The name of a request's route; nil if there is none.
  func name(of request: Request) -> String? { router.pattern(of: request).map { prefix + $0 } }
}

/// Answers the requests of a server that has one site, which is not this API.
final class SiteResponder: Responder {
  private let site: RouteSite
  private let dispatcher: RequestDispatcher

  init(_ site: RouteSite, _ dispatcher: RequestDispatcher) {
    (self.site, self.dispatcher) = (site, dispatcher)
  }

  func plan(for request: Request) -> ResponsePlan { dispatcher.plan(for: request, at: site) }

  func route(of request: Request?) -> String {
    request.map { site.name(of: $0) ?? "unknown" } ?? "unreadable"
  }
}

/// Answers the requests of a server that has this API and, for some requests, other sites.
final class ChoosingResponder: Responder {
  /// A site, and whether a request is for it.
  typealias Choice = (site: SiteResponder, isFor: @Sendable (Request) -> Bool)

  private let choices: [Choice]
  private let dispatcher: RequestDispatcher

  /// Of several sites that a request is for, the first answers.
  init(_ choices: [Choice], else dispatcher: RequestDispatcher) {
    (self.choices, self.dispatcher) = (choices, dispatcher)
  }

  private func responder(for request: Request) -> any Responder {
    if let choice = choices.first(where: { $0.isFor(request) }) { return choice.site }
    return dispatcher
  }

  func plan(for request: Request) -> ResponsePlan { responder(for: request).plan(for: request) }

  func plan(for request: Request, like earlier: any CachedResponse) -> ResponsePlan {
    responder(for: request).plan(for: request, like: earlier)
  }

  func responseWhenFull(to request: Request) -> Response? {
    dispatcher.responseWhenFull(to: request)
  }

  func route(of request: Request?) -> String {
    guard let request else { return dispatcher.route(of: nil) }
    return responder(for: request).route(of: request)
  }
}
