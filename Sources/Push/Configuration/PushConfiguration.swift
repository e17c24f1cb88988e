/// Which push services the operator wants, with all that is needed to speak to them.
package struct PushConfiguration: Sendable {
  /// The words that `--push` knows.
  package static let names = ["embedded", "azure", "apns", "webhook"]

  /// Every environment variable that is read here.
  package static let variables = [
    "RICHPUSH_AZURE_CONNECTION_STRING", "RICHPUSH_AZURE_CONNECTION_STRING_FILE",
    "RICHPUSH_AZURE_HUB", "RICHPUSH_APNS_KEY_FILE", "RICHPUSH_APNS_KEY_ID",
    "RICHPUSH_APNS_TEAM_ID", "RICHPUSH_APNS_TOPIC", "RICHPUSH_APNS_ENDPOINT",
    "RICHPUSH_WEBHOOK_URL", "RICHPUSH_WEBHOOK_SECRET", "RICHPUSH_WEBHOOK_SECRET_FILE",
    "RICHPUSH_EVENTS_URL", "RICHPUSH_EVENTS_SECRET", "RICHPUSH_EVENTS_SECRET_FILE",
    "RICHPUSH_PUSH_CA",
  ]

  /// Whether the server's own gateway is among them.
  package let isEmbedded: Bool
  private let apns: APNsSettings?
  private let azure: AzureConnection?
  private let webhook: WebhookSettings?
  private let events: WebhookSettings?
  private let trustAnchor: String?

  /// Reads what `--push` lists; a setting that is missing or wrong is an error that names it.
  package init(_ list: String, environment: [String: String]) throws(PushError) {
    let wanted = list.split(separator: ",").map { String($0.filter { !$0.isWhitespace }) }
    if let unknown = wanted.first(where: { !Self.names.contains($0) }) {
      throw PushError(
        .configuration,
        "\"\(unknown)\" is no push service; there are \(Self.names.joined(separator: ", ")).")
    }
    let settings = Settings(environment)
    isEmbedded = wanted.contains("embedded")
    apns = wanted.contains("apns") ? try APNsSettings(settings) : nil
    azure = wanted.contains("azure") ? try Self.azure(settings) : nil
    webhook =
      wanted.contains("webhook")
      ? try WebhookSettings(
        settings, prefix: "RICHPUSH_WEBHOOK", purpose: "the address that pushes are posted to")
      : nil
    events =
      settings.optional("RICHPUSH_EVENTS_URL") == nil
      ? nil
      : try WebhookSettings(
        settings, prefix: "RICHPUSH_EVENTS", purpose: "the address that events are posted to")
    trustAnchor = try Self.trustAnchor(settings)
  }

  /// The services to run a lane for; the embedded gateway is none of them.
  package func providers(
    clock: any PushClock = SystemClock()
  ) throws(PushError) -> [any PushProvider & PushCheckable] {
    var providers: [any PushProvider & PushCheckable] = []
    if let azure {
      providers.append(
        try AzureProvider(connection: azure, trustAnchor: trustAnchor, clock: clock))
    }
    if let apns {
      providers.append(
        try APNsProvider(
          key: apns.key, topic: apns.topic, endpoints: apns.endpoints, trustAnchor: trustAnchor,
          clock: clock))
    }
    if let webhook {
      providers.append(
        WebhookProvider(try webhook.webhook(trustAnchor: trustAnchor, clock: clock)))
    }
    return providers
  }

  /// Where the operator wants to hear of receipts and other events, or nil.
  package func eventWebhook(clock: any PushClock = SystemClock()) throws(PushError) -> Webhook? {
    guard let events else { return nil }
    return try events.webhook(trustAnchor: trustAnchor, clock: clock)
  }

  private static func azure(_ settings: Settings) throws(PushError) -> AzureConnection {
    let name = "RICHPUSH_AZURE_CONNECTION_STRING"
    let text = try settings.secret(name, "the hub's access policy shows it in the portal")
    let hub = try settings.required("RICHPUSH_AZURE_HUB", "the notification hub's name")
    return try settings.naming(name) { () throws(PushError) in
      try AzureConnection(connectionString: text, hub: hub)
    }
  }

  private static func trustAnchor(_ settings: Settings) throws(PushError) -> String? {
    let name = "RICHPUSH_PUSH_CA"
    guard let path = settings.optional(name) else { return nil }
    guard try settings.file(name, "").contains("-----BEGIN CERTIFICATE-----") else {
      throw PushError(.configuration, "\(name) names \(path), which holds no PEM certificate.")
    }
    return path
  }
}
