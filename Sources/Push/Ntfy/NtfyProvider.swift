package import FoundationEssentials

/// Wakes ntfy's app for iOS, for which Apple accepts pushes of ntfy's own server only.
///
/// That server gets a hash of where the app subscribes and the number of a notification, which the app then fetches
/// here. A device's handle is the URL to which its app subscribes, `https://ntfy.example.org/inbox-…`.
package struct NtfyProvider: ConfiguredPushService {
  package static let name = "ntfy"
  package static let traits = PushTraits(
    platforms: [.ntfy], largestPayload: PushPayload.limit, profile: "ios",
    limitsSilentPushes: false, hasPayload: false)
  package static let format = PayloadFormat.apple

  package let settings: String
  private let upstream: String
  private let fields: [(name: String, value: String)]
  private let client: CurlClient
  private let now: @Sendable () -> Date

  /// The provider of `--ntfy-upstream`.
  package init(
    _ settings: NtfySettings, trustAnchor: String?, now: @escaping @Sendable () -> Date
  ) throws(PushError) {
    (upstream, self.now) = (settings.upstream, now)
    self.settings = Signing.identifier(of: upstream)
    fields = settings.token.map { [("Authorization", "Bearer " + $0)] } ?? []
    client = try CurlClient(
      .init(trustAnchor: trustAnchor, connections: 4, isMultiplexing: true, timeout: .seconds(30)))
  }

  package var capacity: Int { 32 }

  package func send(_ push: OutgoingPush) async -> PushOutcome {
    guard case .device(let handle, _) = push.target, let id = push.message?.id else {
      return .rejected(reason: "ntfy's app fetches notifications; this text belongs to none.")
    }
    return await wake(handle, poll: String(id))
  }

  /// Has the app that subscribes to a URL fetch a message.
  private func wake(_ handle: String, poll id: String) async -> PushOutcome {
    let request = ServiceRequest(
      url: "\(upstream)/\(Signing.sha256(handle))", fields: fields + [("X-Poll-ID", id)], body: "")
    do {
      return outcome(of: try await client.send(request).get())
    } catch {
      return .unavailable(after: nil, reason: "\(upstream) can't be reached: \(error.reason).")
    }
  }

  private func outcome(of response: ServiceResponse) -> PushOutcome {
    let text = "\(upstream) answered \(response.status): \(ServiceResponse.line(response.text))"
    return switch response.status {
    case 200: .delivered(reference: nil)
    case 300..<400, 401, 403, 404, 405: .laneStopped(reason: text)
    // A server may send a few hundred messages a day there.
    case 408, 425, 429, 500...:
      .unavailable(after: response.retryAfter(at: now()), reason: text)
    default: .rejected(reason: text)
    }
  }

  /// Wakes an app that nobody has.
  package func check() async -> [PushFinding] {
    let outcome = await wake("richpush push check", poll: "check")
    return [
      PushFinding(service: name, outcome, isGood: "\(upstream) accepts messages of this server.")
    ]
  }
}

/// The settings of ntfy's server that wakes its apps.
package struct NtfySettings: PushServiceSettings {
  package static let variables: KeyValuePairs = [
    "RICHPUSH_NTFY_SECRET": "ntfy: an access token of --ntfy-upstream, for more messages a day",
    "RICHPUSH_NTFY_SECRET_FILE": "ntfy: a file with the token",
  ]
  /// Without a slash at its end.
  let upstream: String
  let token: String?

  package init(_ settings: EnvironmentSettings) throws(PushError) {
    let (name, secret) = ("RICHPUSH_NTFY_UPSTREAM", "RICHPUSH_NTFY_SECRET")
    let url = try settings.required(
      name, "--ntfy-upstream says which server wakes ntfy's app, such as https://ntfy.sh")
    guard WebhookSettings.isSecureOrLocal(url) else {
      throw PushError(
        .configuration,
        "--ntfy-upstream has to begin with https://; http:// is for this machine only.")
    }
    upstream = url.hasSuffix("/") ? String(url.dropLast()) : url
    let hasToken = settings.optional(secret) != nil || settings.optional(secret + "_FILE") != nil
    token = hasToken ? try settings.secret(secret, "an access token of \(url)") : nil
  }
}
