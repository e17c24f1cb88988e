import HTTP

/// The contract of the design page, section 2, as a table.
struct API: Sendable {
  let registrations: Registrations
  let notifications: Notifications
  let media: Media
  let details: Details
  let assets: AssetRoutes
  let streams: PushStreams

  var routes: [Route<Endpoint>] {
    [
      Route(
        "GET", "api", "notifications", .parameter,
        handler: Endpoint(deadline: .seconds(60), ready: media.ready, media.get)),
      Route("GET", "api", "notifications", handler: Endpoint(notifications.inbox)),
      Route(
        "POST", "api", "notifications",
        handler: Endpoint(
          body: .memory(limit: 256 << 10), deadline: .seconds(120), notifications.post)),
      Route(
        "GET", "api", "notifications", .parameter, "details", handler: Endpoint(details.get)),
      Route(
        "PUT", "api", "notifications", .parameter, "read",
        handler: Endpoint(body: .memory(limit: 1024), notifications.markRead)),
      Route(
        "GET", "api", "push", "stream",
        handler: Endpoint(ready: streams.get) { try streams.get($0) }),
      Route(
        "POST", "api", "register",
        handler: Endpoint(body: .memory(limit: 1024), registrations.register)),
      Route(
        "PUT", "api", "register", .parameter,
        handler: Endpoint(body: .memory(limit: 64 << 10), registrations.put)),
      Route("DELETE", "api", "register", .parameter, handler: Endpoint(registrations.delete)),
      Route("GET", "api", "assets", handler: Endpoint(assets.list)),
      Route("GET", "api", "assets", .parameter, handler: Endpoint(assets.list)),
      Route("GET", "api", "assets", .parameter, .parameter, handler: Endpoint(assets.one)),
      Route(
        "PUT", "api", "assets", .parameter, .parameter,
        handler: Endpoint(
          body: .file(limit: Assets.largest), deadline: .seconds(120), assets.put)),
      Route("DELETE", "api", "assets", .parameter, .parameter, handler: Endpoint(assets.delete)),
    ]
  }
}
