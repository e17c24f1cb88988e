import FoundationEssentials

/// The settings of a webhook.
package struct WebhookSettings: PushServiceSettings {
  package static let variables: KeyValuePairs = [
    "RICHPUSH_WEBHOOK_URL": "webhook: the URL that pushes are posted to",
    "RICHPUSH_WEBHOOK_SECRET": "webhook: the secret that signs them",
    "RICHPUSH_WEBHOOK_SECRET_FILE": "webhook: a file with the secret",
  ]
  let url: String
  let secret: WebhookSecret

  package init(_ settings: EnvironmentSettings) throws(PushError) {
    try self.init(settings, "RICHPUSH_WEBHOOK", for: "pushes")
  }

  /// Reads `<prefix>_URL` and `<prefix>_SECRET`, such as `RICHPUSH_WEBHOOK_URL`.
  init(
    _ settings: EnvironmentSettings, _ prefix: String, for what: String
  ) throws(PushError) {
    url = try settings.required(prefix + "_URL", "the address that \(what) are posted to")
    guard Self.isSecureOrLocal(url) else {
      throw PushError(
        .configuration,
        "\(prefix)_URL has to begin with https://; http:// is for this machine only.")
    }
    let name = prefix + "_SECRET"
    let text = try settings.secret(name, "the receiver checks signatures with it")
    secret = try settings.naming(name, try WebhookSecret(text))
  }

  /// The webhook.
  func webhook(
    trustAnchor: String?, now: @escaping @Sendable () -> Date = { Date() }
  ) throws(PushError) -> Webhook {
    try Webhook(url: url, secret: secret, trustAnchor: trustAnchor, now: now)
  }

  /// Whether what is posted to a URL is encrypted or stays on this machine.
  static func isSecureOrLocal(_ url: String) -> Bool {
    if url.hasPrefix("https://") { return true }
    return ["http://127.0.0.1", "http://localhost", "http://[::1]"].contains { address in
      guard url.hasPrefix(address) else { return false }
      return url.dropFirst(address.count).first.map { ":/".contains($0) } ?? true
    }
  }
}
