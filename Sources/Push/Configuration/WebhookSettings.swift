/// What the environment says about the operator's own gateway.
struct WebhookSettings: Sendable {
  let url: String
  let secret: WebhookSecret

  init(_ settings: Settings) throws(PushError) {
    url = try settings.required("RICHPUSH_WEBHOOK_URL", "the address that pushes are posted to")
    guard url.hasPrefix("https://") || Self.isLocal(url) else {
      throw PushError(
        .configuration,
        "RICHPUSH_WEBHOOK_URL has to begin with https://; http:// is for this machine only.")
    }
    let name = "RICHPUSH_WEBHOOK_SECRET"
    let text = try settings.secret(name, "the receiver checks signatures with it")
    secret = try settings.naming(name) { () throws(PushError) in try WebhookSecret(text) }
  }

  private static func isLocal(_ url: String) -> Bool {
    ["http://127.0.0.1", "http://localhost", "http://[::1]"].contains { address in
      guard url.hasPrefix(address) else { return false }
      return url.dropFirst(address.count).first.map { ":/".contains($0) } ?? true
    }
  }
}
