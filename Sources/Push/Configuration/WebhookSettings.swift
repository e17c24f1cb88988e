/// What the environment says about an address of the operator's that takes signed JSON.
struct WebhookSettings: Sendable {
  let url: String
  let secret: WebhookSecret

  /// Reads `<prefix>_URL` and `<prefix>_SECRET`, such as `RICHPUSH_WEBHOOK_URL`.
  init(_ settings: Settings, prefix: String, purpose: String) throws(PushError) {
    url = try settings.required(prefix + "_URL", purpose)
    guard url.hasPrefix("https://") || Self.isLocal(url) else {
      throw PushError(
        .configuration,
        "\(prefix)_URL has to begin with https://; http:// is for this machine only.")
    }
    let name = prefix + "_SECRET"
    let text = try settings.secret(name, "the receiver checks signatures with it")
    secret = try settings.naming(name) { () throws(PushError) in try WebhookSecret(text) }
  }

  /// The webhook itself.
  func webhook(trustAnchor: String?, clock: any PushClock) throws(PushError) -> Webhook {
    try Webhook(url: url, secret: secret, trustAnchor: trustAnchor, clock: clock)
  }

  private static func isLocal(_ url: String) -> Bool {
    ["http://127.0.0.1", "http://localhost", "http://[::1]"].contains { address in
      guard url.hasPrefix(address) else { return false }
      return url.dropFirst(address.count).first.map { ":/".contains($0) } ?? true
    }
  }
}
