import HTTP

/// The routes of all APIs of other programs that are served.
struct CompatibleRoutes: Sendable {
  private let settings: CompatibilitySettings
  private let ntfy: NtfyRoutes
  private let gotify: GotifyRoutes
  private let bark: BarkRoutes

  init(
    _ settings: CompatibilitySettings, _ publishing: CompatiblePublishing,
    _ authenticator: Authenticator, _ streams: EventStreams, _ signed: SignedMediaRoutes
  ) {
    self.settings = settings
    ntfy = NtfyRoutes(
      publishing: publishing,
      reading: NtfyReading(streams: streams, signed: signed, log: publishing.log))
    gotify = GotifyRoutes(publishing: publishing)
    bark = BarkRoutes(publishing: publishing, authenticator: authenticator)
  }

  /// Those beside this server's own paths.
  var routes: [Route] {
    (settings.apis.contains(.gotify) ? gotify.routes : [])
      + (settings.apis.contains(.bark) ? bark.routes : [])
  }

  /// What answers the requests to this server, and to that of ntfy's API, if it has one.
  func responders(
    _ dispatcher: RequestDispatcher
  ) -> (own: any Responder, ntfy: (any Responder)?) {
    var choices: [ChoosingResponder.Choice] = []
    var own: SiteResponder?
    switch settings.ntfy {
    case nil: break
    case .address: own = SiteResponder(ntfy.site, dispatcher)
    case .host(let name):
      choices.append(
        (
          SiteResponder(ntfy.site, dispatcher),
          // A port in it does not matter: a proxy may have another.
          { $0.fields["Host"]?.prefix { $0 != ":" }.lowercased() == name }
        ))
    }
    if settings.apis.contains(.bark) {
      choices.append((SiteResponder(bark.keySite, dispatcher), BarkRoutes.hasKey))
    }
    let all: any Responder =
      choices.isEmpty ? dispatcher : ChoosingResponder(choices, else: dispatcher)
    return (all, own)
  }
}
