import HTTP
import RichPushAPI

/// The routes of all APIs of other programs that are served.
struct CompatibleRoutes: Sendable {
  private let settings: CompatibilitySettings
  private let ntfy: NtfyRoutes
  private let gotify: GotifyRoutes
  private let bark: BarkRoutes
  private let webhooks: EventReceiver
  /// With which publishers manage webhooks.
  let webhookRoutes: WebhookRoutes

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
    webhooks = EventReceiver(publishing: publishing)
    webhookRoutes = WebhookRoutes(
      store: publishing.store, authenticator: authenticator,
      isServed: settings.apis.contains(.webhooks),
      check: { template throws(ServiceError) in _ = try WebhookTemplate(given: template) },
      deliver: { [webhooks] webhook, delivery, context in
        try await webhooks.replay(delivery, at: webhook, context)
      })
  }

  /// Those beside this server's own paths.
  var routes: [Route] {
    (settings.apis.contains(.gotify) ? gotify.routes : [])
      + (settings.apis.contains(.bark) ? bark.routes : [])
      + (settings.apis.contains(.webhooks) ? webhooks.routes : [])
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
