/// The push services of `--push`, with their settings from the environment.
package struct PushConfiguration: Sendable {
  /// The names that `--push` accepts.
  package static let names = ["embedded", "azure", "apns", "webhook", "webpush", "fcm"]

  /// Every environment variable that is read, with what it is for.
  package static let variables: KeyValuePairs = [
    "RICHPUSH_APNS_KEY_FILE": "apns: the .p8 file of the signing key",
    "RICHPUSH_APNS_KEY_ID": "apns: the key's ten-character ID",
    "RICHPUSH_APNS_TEAM_ID": "apns: the developer team's ten-character ID",
    "RICHPUSH_APNS_TOPIC": "apns: the app's bundle ID",
    "RICHPUSH_APNS_ENDPOINT": "apns: production (the default), sandbox, both, or https URLs",
    "RICHPUSH_AZURE_HUB": "azure: the notification hub's name",
    "RICHPUSH_AZURE_CONNECTION_STRING": "azure: the connection string as the portal shows it",
    "RICHPUSH_AZURE_CONNECTION_STRING_FILE": "azure: a file with the connection string",
    "RICHPUSH_WEBHOOK_URL": "webhook: the URL that pushes are posted to",
    "RICHPUSH_WEBHOOK_SECRET": "webhook: the secret that signs them",
    "RICHPUSH_WEBHOOK_SECRET_FILE": "webhook: a file with the secret",
    "RICHPUSH_FCM_CREDENTIALS_FILE": "fcm: the service account's JSON file from Firebase",
    "RICHPUSH_FCM_MESSAGES": "fcm: data (the default) for apps with code, notification for others",
    "RICHPUSH_FCM_ENDPOINT": "fcm: another https URL than https://fcm.googleapis.com",
    "RICHPUSH_EVENTS_URL": "the URL that receipts and other events are posted to",
    "RICHPUSH_EVENTS_SECRET": "the secret that signs the events",
    "RICHPUSH_EVENTS_SECRET_FILE": "a file with that secret",
    "RICHPUSH_PUSH_CA": "a PEM file with additional certificate authorities, for private gateways",
  ]

  /// The name of the server's own gateway.
  static let embedded = "embedded"

  /// The names in the list, in its order, each once.
  private let services: [String]
  private let apns: APNsSettings?
  private let azure: AzureConnection?
  private let webhook: WebhookSettings?
  private let fcm: FCMSettings?
  private let events: WebhookSettings?
  private let trustAnchor: String?
  /// The settings of Web Push; nil if it is not one of the services.
  package let webPush: WebPushSettings?

  /// Parses a list as in `--push` and reads the settings; an error names the variable.
  ///
  /// `webPush` makes the settings of that service from the command line's options, if it is in the list.
  package init(
    _ list: String, environment: [String: String],
    webPush: () throws(PushError) -> WebPushSettings = { () throws(PushError) in
      try WebPushSettings(contact: nil)
    }
  ) throws(PushError) {
    services = try Self.services(in: list)
    self.webPush = services.contains(WebPushLane.service) ? try webPush() : nil
    let settings = EnvironmentSettings(environment)
    apns = services.contains("apns") ? try APNsSettings(settings) : nil
    azure = services.contains("azure") ? try Self.azure(settings) : nil
    webhook =
      services.contains("webhook")
      ? try WebhookSettings(settings, "RICHPUSH_WEBHOOK", for: "pushes") : nil
    fcm = services.contains(FCMProvider.lane) ? try FCMSettings(settings) : nil
    events =
      settings.optional("RICHPUSH_EVENTS_URL") != nil
      ? try WebhookSettings(settings, "RICHPUSH_EVENTS", for: "events") : nil
    trustAnchor = try Self.trustAnchor(settings)
  }

  /// Whether the server's own gateway is one of them.
  package var isEmbedded: Bool { services.contains(Self.embedded) }

  /// Which of them sends to which devices.
  package var lanes: PlatformLanes { PlatformLanes(services: services) }

  /// The services that a list such as `embedded,apns` names, each once.
  ///
  /// - Throws: `PushError` when it names none, or one that does not exist.
  static func services(in list: String) throws(PushError) -> [String] {
    var services: [String] = []
    for name in words(in: list) where !services.contains(name) {
      guard names.contains(name) else {
        throw PushError(
          .configuration,
          "\"\(name)\" is no push service; choose from \(names.joined(separator: ", ")).")
      }
      services.append(name)
    }
    guard !services.isEmpty else {
      throw PushError(
        .configuration, "--push names no service; choose from \(names.joined(separator: ", ")).")
    }
    return services
  }

  /// The words of a comma-separated list, without white space.
  static func words(in list: String) -> [String] {
    list.split(separator: ",").map { $0.filter { !$0.isWhitespace } }
  }

  /// The services that need a lane: all but the embedded gateway.
  package func providers(
    clock: any PushClock = SystemClock()
  ) throws(PushError) -> [any PushProvider] {
    var providers: [any PushProvider] = []
    if let azure {
      providers += [try AzureProvider(connection: azure, trustAnchor: trustAnchor, clock: clock)]
    }
    if let apns {
      let provider = try APNsProvider(
        key: apns.key, topic: apns.topic, endpoints: apns.endpoints, trustAnchor: trustAnchor,
        clock: clock)
      providers.append(provider)
    }
    if let fcm {
      let provider = try FCMProvider(
        credentials: fcm.credentials, endpoint: fcm.endpoint, kind: fcm.kind,
        trustAnchor: trustAnchor, clock: clock)
      providers.append(provider)
    }
    if let webhook {
      providers += [WebhookProvider(try webhook.webhook(trustAnchor: trustAnchor, clock: clock))]
    }
    return providers
  }

  /// What sends Web Push with the server's key; nil if it is not one of the services.
  package func webPushSender(key: VAPIDKey) throws(PushError) -> WebPushSender? {
    guard let webPush else { return nil }
    return try WebPushSender(key: key, settings: webPush, trustAnchor: trustAnchor)
  }

  /// The webhook for receipts and other events, or nil.
  package func eventWebhook() throws(PushError) -> Webhook? {
    try events?.webhook(trustAnchor: trustAnchor, clock: SystemClock())
  }

  private static func azure(_ settings: EnvironmentSettings) throws(PushError) -> AzureConnection {
    let name = "RICHPUSH_AZURE_CONNECTION_STRING"
    let text = try settings.secret(name, "the hub's access policy shows it in the portal")
    let hub = try settings.required("RICHPUSH_AZURE_HUB", "the notification hub's name")
    return try settings.naming(name, try AzureConnection(connectionString: text, hub: hub))
  }

  private static func trustAnchor(_ settings: EnvironmentSettings) throws(PushError) -> String? {
    let name = "RICHPUSH_PUSH_CA"
    guard let path = settings.optional(name) else { return nil }
    guard try settings.file(name, "").contains("-----BEGIN CERTIFICATE-----") else {
      throw PushError(.configuration, "\(name) names \(path), which is not a PEM certificate.")
    }
    return path
  }
}

/// Checks the configuration before a push depends on it.
package enum PushCheck {
  /// Checks every service in a list as in `--push`; `isGood` is true for all if everything is right.
  package static func run(
    _ list: String, environment: [String: String], contact: String? = nil,
    clock: any PushClock = SystemClock()
  ) async -> [PushFinding] {
    var findings: [PushFinding] = []
    for name in PushConfiguration.words(in: list) {
      do {
        let configuration = try PushConfiguration(name, environment: environment) {
          () throws(PushError) in try WebPushSettings(contact: contact)
        }
        if configuration.isEmbedded {
          findings.append(
            PushFinding(
              service: name, isGood: true, sentence: "The embedded gateway needs no settings."))
        }
        if configuration.webPush != nil {
          findings.append(
            PushFinding(
              service: name, isGood: true,
              sentence: "The contact is valid. Push services need no account; each is tried when "
                + "a device has registered with it."))
        }
        for provider in try configuration.providers(clock: clock) {
          findings += await provider.check()
        }
      } catch {
        findings.append(PushFinding(service: name, isGood: false, sentence: "\(error)"))
      }
    }
    return findings
  }
}
