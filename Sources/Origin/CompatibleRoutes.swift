import HTTP

/// The routes of all APIs of other programs that are served.
struct CompatibleRoutes: Sendable {
  private let settings: CompatibilitySettings
  private let ntfy: NtfyRoutes

  init(_ settings: CompatibilitySettings, _ publishing: CompatiblePublishing) {
    (self.settings, ntfy) = (settings, NtfyRoutes(publishing: publishing))
  }

  /// What answers the requests to this server, and to that of ntfy's API, if it has one.
  func responders(
    _ dispatcher: RequestDispatcher
  ) -> (own: any Responder, ntfy: (any Responder)?) {
    let site = SiteResponder(ntfy.site, dispatcher)
    switch settings.ntfy {
    case nil: return (dispatcher, nil)
    case .address: return (dispatcher, site)
    case .host(let name):
      // A port in it does not matter: a proxy may have another.
      let isFor: @Sendable (Request) -> Bool = {
        $0.fields["Host"]?.prefix { $0 != ":" }.lowercased() == name
      }
      return (ChoosingResponder([(site, isFor)], else: dispatcher), nil)
    }
  }
}
