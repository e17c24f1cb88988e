import HTTP
import Intake

/// The API's routes (`GET /api/openapi.json`).
struct RouteTable: Sendable {
  let health: HealthRoutes
  let registrations: RegistrationRoutes
  let notifications: NotificationRoutes
  let media: MediaRoutes
  let signed: SignedMediaRoutes
  let details: NotificationDetails
  let assets: AssetRoutes
  let plugins: PluginRoutes
  /// The pushes, for devices.
  let pushes: EventStreams
  /// Receipts and more, for publishers.
  let events: EventStreams

  var routes: [Route<Endpoint>] {
    [
      Route(
        "GET", "healthz",
        handler: Endpoint(for: .anybody, ready: health.alive) { health.alive($0) }),
      Route(
        "GET", "readyz", handler: Endpoint(for: .anybody, deadline: .seconds(5), health.ready)),
      Route("GET", "metrics", handler: Endpoint(for: .anybody, health.measurements)),
      Route(
        "GET", "api", "openapi.json",
        handler: Endpoint(for: .user, ready: OpenAPIDocument.get) { OpenAPIDocument.get($0) }),
      Route(
        "GET", "api", "notifications", .parameter,
        handler: Endpoint(for: .user, deadline: .seconds(60), ready: media.ready, media.get)),
      Route(
        "GET", "media", .parameter, .parameter,
        handler: Endpoint(for: .anybody, deadline: .seconds(60), ready: signed.ready, signed.get)),
      Route("GET", "api", "notifications", handler: Endpoint(for: .user, notifications.inbox)),
      Route(
        "POST", "api", "notifications",
        handler: Endpoint(
          for: .user, body: .memory(limit: 256 << 10), deadline: .seconds(120),
          ready: notifications.mayPost, notifications.post)),
      Route(
        "PATCH", "api", "notifications", .parameter,
        handler: Endpoint(
          for: .user, body: .memory(limit: 256 << 10), deadline: .seconds(120),
          notifications.patch)),
      Route(
        "DELETE", "api", "notifications", .parameter,
        handler: Endpoint(for: .user, notifications.delete)),
      Route(
        "GET", "api", "notifications", .parameter, "details",
        handler: Endpoint(for: .user, details.get)),
      Route(
        "PUT", "api", "notifications", .parameter, "read",
        handler: Endpoint(for: .user, body: .memory(limit: 1024), notifications.markRead)),
      Route(
        "GET", "api", "push", "stream",
        handler: Endpoint(for: .user, ready: pushes.get) { try pushes.get($0) }),
      Route(
        "GET", "api", "events", "stream",
        handler: Endpoint(for: .publisher, ready: events.get) { try events.get($0) }),
      Route(
        "POST", "api", "register",
        handler: Endpoint(for: .user, body: .memory(limit: 1024), registrations.register)),
      Route(
        "PUT", "api", "register", .parameter,
        handler: Endpoint(for: .user, body: .memory(limit: 64 << 10), registrations.put)),
      Route(
        "DELETE", "api", "register", .parameter, handler: Endpoint(for: .user, registrations.delete)
      ),
      Route("GET", "api", "plugins", handler: Endpoint(for: .admin, plugins.list)),
      Route("GET", "api", "assets", handler: Endpoint(for: .publisher, assets.list)),
      Route("GET", "api", "assets", .parameter, handler: Endpoint(for: .publisher, assets.list)),
      Route(
        "GET", "api", "assets", .parameter, .parameter,
        handler: Endpoint(for: .publisher, assets.one)),
      Route(
        "PUT", "api", "assets", .parameter, .parameter,
        handler: Endpoint(
          for: .publisher, body: .file(limit: AssetIntake.largestFile), deadline: .seconds(120),
          assets.put)),
      Route(
        "DELETE", "api", "assets", .parameter, .parameter,
        handler: Endpoint(for: .publisher, assets.delete)),
    ]
  }
}

/// What handles one route.
struct Endpoint: Sendable {
  /// How a request's body is read, once its caller is allowed.
  enum Body: Sendable {
    /// The route takes none.
    case none
    /// It is read into memory, up to so many bytes.
    case memory(limit: Int)
    /// It is written to a temporary file, up to so many bytes.
    case file(limit: Int)
  }

  typealias Handler = @Sendable (RequestContext) async throws -> Response

  /// Who may use the route; checked before a byte of the body is read.
  let access: Access
  var body = Body.none
  /// How long the handler may take, from the end of the body.
  var deadline = Duration.seconds(30)
  /// Responds from the head alone, or returns nil; only then `handler` is called.
  ///
  /// Mostly called on an HTTP thread, so it must not block.
  var ready: (@Sendable (RequestContext) throws -> Response?)?
  let handler: Handler

  /// An endpoint; who may use it has no default, so that no new route is open by oversight.
  init(
    for access: Access, body: Body = .none, deadline: Duration = .seconds(30),
    ready: (@Sendable (RequestContext) throws -> Response?)? = nil, _ handler: @escaping Handler
  ) {
    (self.access, self.body, self.deadline) = (access, body, deadline)
    (self.ready, self.handler) = (ready, handler)
  }
}

/// `GET /api/openapi.json`: the description of this API in OpenAPI 3.1.
enum OpenAPIDocument {
  /// The file beside this one, which the build puts into the program.
  static func get(_ context: RequestContext) -> Response { answer }

  private static let answer = Response.bytes(
    200, PackageResources.openapi_json, type: "application/json",
    fields: ["Cache-Control": "private, max-age=3600"])
}
