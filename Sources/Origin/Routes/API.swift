import HTTP

/// The contract of the design page, section 2, as a table.
struct API: Sendable {
  let health: Health
  let registrations: Registrations
  let notifications: Notifications
  let media: Media
  let signed: SignedMedia
  let details: Details
  let assets: AssetRoutes
  let plugins: Plugins
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
        handler: Endpoint(for: .user, ready: Description.get) { Description.get($0) }),
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
          for: .publisher, body: .file(limit: Assets.largest), deadline: .seconds(120), assets.put)),
      Route(
        "DELETE", "api", "assets", .parameter, .parameter,
        handler: Endpoint(for: .publisher, assets.delete)),
    ]
  }
}
