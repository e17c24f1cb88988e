import Delivery
import FoundationEssentials
import HTTP
import Primitives
import RichPushAPI
import Store

/// The API of Bark's server for publishers: a device's key is an access token, whose recipients get the message.
struct BarkRoutes: Sendable {
  let publishing: CompatiblePublishing
  let authenticator: Authenticator

  private static let limit = Route.Body.memory(limit: 64 << 10)
  /// What every key begins with, so that no other path can be taken for one.
  private static let prefix = AccessToken.prefix

  /// `POST /push`, with the key in the body, and what clients ask to see whether the server is there.
  var routes: [Route] {
    [
      Route(
        "POST", "/push", for: .anybody, body: Self.limit, deadline: .seconds(120),
        in: BarkDialect(), push),
      Route(
        "GET", "/ping", for: .anybody, in: BarkDialect(),
        immediate: { _ in BarkDialect.answer(200, "pong") }),
    ]
  }

  /// The paths that begin with a key.
  var keySite: RouteSite {
    let patterns = ["/{}", "/{}/{}", "/{}/{}/{}", "/{}/{}/{}/{}"]
    let routes = patterns.flatMap { pattern in
      ["GET", "POST"].map { method in
        Route(
          method, pattern, for: .publisher, by: .accessToken,
          body: method == "GET" ? .none : Self.limit,
          deadline: .seconds(120), in: BarkDialect(), keyed)
      }
    }
    return RouteSite(routes, prefix: "bark ", dialect: BarkDialect())
  }

  /// Whether a request's path begins with a key.
  @Sendable static func hasKey(_ request: Request) -> Bool {
    request.segments.first?.hasPrefix(prefix) ?? false
  }

  /// `GET` or `POST /<key>[/<title>[/<subtitle>]]/<body>`.
  private func keyed(_ context: RequestContext) async throws -> Response {
    var values = try members(context)
    let texts = Array(context.parameters.dropFirst())
    let names = [[], ["body"], ["title", "body"], ["title", "subtitle", "body"]]
    for (name, text) in zip(names[min(texts.count, 3)], texts) { values[name] = .string(text) }
    return try await publish(values, context)
  }

  private func push(_ context: RequestContext) async throws -> Response {
    let values = try members(context)
    guard let key = values["device_key"]?.text else {
      throw ServiceError(
        .init("device_key", .invalidRequest, "device_key is missing: an access token."))
    }
    let moment = authenticator.changes.moment
    let verified = await authenticator.verify("Bearer " + key, from: context.request.peer)
    switch verified {
    case .caller(let caller, _):
      try Access.publisher.check(caller)
      try Admission.accessToken.check(caller, [])
      var own = RequestContext(
        request: context.request, caller: caller,
        login: Login(user: caller.id, moment: moment, changes: authenticator.changes),
        parameters: [])
      own.body = context.body
      // The dispatcher did not know the caller.
      return try await AuditActor.$current.withValue(AuditActor(caller, context.request)) {
        try await publish(values, own)
      }
    case .wrong:
      throw ServiceError(.unauthorized, "device_key is no access token, or it has ended.")
    case .busy(let wait), .tooManyFailures(let wait):
      throw ServiceError(.tooManyRequests, "Try again later.", retryAfter: wait)
    case .failed(let error): throw error
    }
  }

  /// The members of the body, and those of the query, which take precedence.
  private func members(_ context: RequestContext) throws(ServiceError) -> [String: JSONValue] {
    var values =
      context.body.isEmpty
      ? [:] : try FormBody.members(context.body, type: context.request.fields["Content-Type"])
    for (name, value) in context.request.query.items { values[name] = .string(value) }
    return values
  }

  private func publish(
    _ values: [String: JSONValue], _ context: RequestContext
  ) async throws -> Response {
    let message = try BarkMessage(values, to: publishing.ownAudience(context), now: Date())
    if message.isDeletion, let id = message.id {
      guard let found = try await publishing.own(about: id, context),
        try await publishing.store.notifications.withdraw(found.id)
      else { throw ServiceError(.notFound, "You have sent no message with the id \(id.quoted).") }
    } else {
      _ = try await publishing.publish(message.notification, from: "bark", context)
    }
    return BarkDialect.answer(200, "success")
  }
}

/// How Bark's API writes credentials and errors.
struct BarkDialect: Dialect {
  /// The key in the path.
  func authorization(of request: Request, _ parameters: [String]) -> String? {
    parameters.first.map { "Bearer " + $0 }
  }

  func response(to problem: ForeignProblem) -> Response {
    Self.answer(
      problem.plainStatus,
      problem.status == 401 ? "The key is no access token, or it has ended." : problem.detail)
  }

  /// An answer with a status, which is also in its body.
  static func answer(_ status: Int, _ message: String) -> Response {
    let text = JSONText.object([
      "code": String(status), "message": JSONText.quoted(message),
      "timestamp": String(Int(Date().timeIntervalSince1970)),
    ])
    return .foreign(status, text)
  }
}
