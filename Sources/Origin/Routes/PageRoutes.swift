import HTTP

/// The pages for people: the recipients' app, the console, and `/`, which leads to one of them.
struct PageRoutes: Sendable {
  /// The routes of all pages.
  let routes: [Route]

  init(_ configuration: OriginConfiguration, sessions: SessionRoutes) {
    var routes: [Route] = []
    if let app = configuration.app {
      routes += AppRoutes(app).routes
    }
    if configuration.hasConsole { routes += ConsoleRoutes().routes }
    if !routes.isEmpty {
      let (hasApp, hasConsole) = (configuration.app != nil, configuration.hasConsole)
      routes.append(
        Route("GET", "/", for: .anybody) { context in
          var isConsole = hasConsole
          if hasApp, hasConsole { isConsole = try await sessions.hasSession(context.request) }
          return .empty(
            303,
            fields: ["Location": isConsole ? "console/" : "app/", "Cache-Control": "no-store"])
        })
    }
    self.routes = routes
  }
}
