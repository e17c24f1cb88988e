package import FoundationEssentials

/// The push services of `--push`, with their settings from the environment.
package struct PushConfiguration: Sendable {
  /// Every environment variable that is read, with what it is for.
  package static let variables: [(name: String, purpose: String)] =
    PushServices.all.compactMap { $0 as? any ConfiguredPushService.Type }
    .flatMap { $0.variables.map { ($0.key, $0.value) } }
    // Those of several services are described once.
    .reduce(into: [(String, String)]()) { known, next in
      if !known.contains(where: { $0.0 == next.0 }) { known.append(next) }
    } + [
      ("RICHPUSH_EVENTS_URL", "the URL that receipts and other events are posted to"),
      ("RICHPUSH_EVENTS_SECRET", "the secret that signs the events"),
      ("RICHPUSH_EVENTS_SECRET_FILE", "a file with that secret"),
      (
        "RICHPUSH_PUSH_CA",
        "a PEM file with additional certificate authorities, for private gateways"
      ),
    ]

  /// The services in the list, in its order, each once.
  private let services: [any PushService.Type]
  /// Makes the providers of those with settings.
  private let makers: [ProviderMaker]
  /// What those with settings send, by their names.
  private let formats: [String: PayloadFormat]
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
    let services = try Self.services(in: list)
    self.services = services
    let isWebPush = services.contains { $0 == WebPushProvider.self }
    self.webPush = isWebPush ? try webPush() : nil
    let settings = EnvironmentSettings(environment)
    var (makers, formats) = ([ProviderMaker](), [String: PayloadFormat]())
    for case let service as any ConfiguredPushService.Type in PushServices.all
    where services.contains(where: { $0 == service }) {
      let configured = try service.configured(settings)
      makers.append(configured.make)
      formats[service.name] = configured.format
    }
    (self.makers, self.formats) = (makers, formats)
    events =
      settings.optional("RICHPUSH_EVENTS_URL") != nil
      ? try WebhookSettings(settings, "RICHPUSH_EVENTS", for: "events") : nil
    trustAnchor = try Self.trustAnchor(settings)
  }

  /// Which of them sends to which devices.
  package var lanes: PlatformLanes { PlatformLanes(services: services, formats: formats) }

  /// The services that a list such as `embedded,apns` names, each once.
  ///
  /// - Throws: `PushError` when it names none, or one that does not exist.
  static func services(in list: String) throws(PushError) -> [any PushService.Type] {
    var services: [any PushService.Type] = []
    let choice = "choose from \(PushServices.names.joined(separator: ", "))."
    for name in EnvironmentSettings.words(in: list) {
      guard let service = PushServices.named(name) else {
        throw PushError(.configuration, "\"\(name)\" is no push service; \(choice)")
      }
      if !services.contains(where: { $0 == service }) { services.append(service) }
    }
    guard !services.isEmpty else {
      throw PushError(.configuration, "--push names no service; \(choice)")
    }
    return services
  }

  /// The providers of the services with settings.
  package func providers(
    now: @escaping @Sendable () -> Date = { Date() }
  ) throws(PushError) -> [any PushProvider] {
    var providers: [any PushProvider] = []
    for make in makers { providers.append(try make(trustAnchor, now)) }
    return providers
  }

  /// What sends Web Push with the server's key; nil if it is not one of the services.
  package func webPushSender(key: VAPIDKey) throws(PushError) -> WebPushSender? {
    guard let webPush else { return nil }
    return try WebPushSender(key: key, settings: webPush, trustAnchor: trustAnchor)
  }

  /// The webhook for receipts and other events, or nil.
  package func eventWebhook() throws(PushError) -> Webhook? {
    try events?.webhook(trustAnchor: trustAnchor)
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
    now: @escaping @Sendable () -> Date = { Date() }
  ) async -> [PushFinding] {
    var findings: [PushFinding] = []
    for name in EnvironmentSettings.words(in: list) {
      do {
        let configuration = try PushConfiguration(name, environment: environment) {
          () throws(PushError) in try WebPushSettings(contact: contact)
        }
        if configuration.lanes.isEmbedded {
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
        for provider in try configuration.providers(now: now) {
          findings += await provider.check()
        }
      } catch {
        findings.append(PushFinding(service: name, isGood: false, sentence: "\(error)"))
      }
    }
    return findings
  }
}
