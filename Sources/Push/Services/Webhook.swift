package import FoundationEssentials
import Primitives

/// An HTTP endpoint of the operator that accepts signed JSON.
///
/// Signed as the Standard Webhooks specification demands (standardwebhooks.com), for which libraries exist
/// in most languages.
package struct Webhook: Sendable {
  let url: String
  private let secret: WebhookSecret
  private let client: CurlClient
  private let now: @Sendable () -> Date

  /// The most posts that may be under way at once.
  package static let capacity = 32

  /// A webhook at `url`; a post without a response fails after `timeout`.
  package init(
    url: String, secret: WebhookSecret, trustAnchor: String? = nil,
    timeout: Duration = .seconds(30), now: @escaping @Sendable () -> Date = { Date() }
  ) throws(PushError) {
    (self.url, self.secret, self.now) = (url, secret, now)
    client = try CurlClient(
      .init(trustAnchor: trustAnchor, connections: Self.capacity, timeout: timeout))
  }

  /// Posts a JSON text; a repetition has the same `id`.
  package func post(_ body: String, id: String) async -> PushOutcome {
    let time = Int(now().timeIntervalSince1970)
    let request = ServiceRequest(
      url: url,
      fields: [
        ("Content-Type", "application/json"), ("Webhook-Id", id),
        ("Webhook-Timestamp", String(time)),
        ("Webhook-Signature", secret.signature(id: id, time: time, body: body)),
      ], body: body)
    do {
      return Self.outcome(of: try await client.send(request).get(), at: now())
    } catch {
      return .unavailable(after: nil, reason: "The webhook can't be reached: \(error.reason).")
    }
  }

  private static func outcome(of response: ServiceResponse, at now: Date) -> PushOutcome {
    let after = response.retryAfter(at: now)
    let text = "The webhook answered \(response.status): \(ServiceResponse.line(response.text))"
    return switch response.status {
    case 200..<300: .delivered(reference: nil)
    case 300..<400: .laneStopped(reason: text + " Redirections are not followed.")
    case 401, 403, 404: .laneStopped(reason: text + " Check its address and its secret.")
    case 410: .deadToken(since: nil, reason: text)
    case 408, 425, 429, 500...: .unavailable(after: after, reason: text)
    default: .rejected(reason: text)
    }
  }
}

/// The secret that a webhook shares with its receiver.
package struct WebhookSecret: Sendable {
  /// The fewest bytes of a secret (Standard Webhooks: 24 to 64).
  package static let minimumLength = 24

  private let key: [UInt8]

  /// Takes `whsec_` and Base64, as in the specification, or any text.
  package init(_ text: String) throws(PushError) {
    if text.hasPrefix("whsec_") {
      guard let data = Data(base64Encoded: String(text.dropFirst(6))) else {
        throw PushError(.key, "The secret begins with whsec_, but the rest is not Base64.")
      }
      key = Array(data)
    } else {
      key = Array(text.utf8)
    }
    guard key.count >= Self.minimumLength else {
      throw PushError(.key, "The secret is shorter than \(Self.minimumLength) bytes.")
    }
  }

  /// The value of `Webhook-Signature` for a message.
  package func signature(id: String, time: Int, body: String) -> String {
    "v1," + Signing.base64(Signing.hmac(key: key, Array("\(id).\(time).\(body)".utf8)))
  }
}

/// Posts each push to a webhook of the operator, as signed JSON.
package struct WebhookProvider: ConfiguredPushService {
  package static let name = "webhook"
  package static let traits = PushTraits(
    platforms: [.apple, .googleCloudMessaging, .windows, .windowsPhone, .firebase],
    largestPayload: PushPayload.limit, profile: "ios", limitsSilentPushes: false)
  package static let format = PayloadFormat.apple

  private let webhook: Webhook

  /// A provider that posts to this webhook.
  package init(_ webhook: Webhook) { self.webhook = webhook }

  /// The provider of `--push webhook`.
  package init(
    _ settings: WebhookSettings, trustAnchor: String?, now: @escaping @Sendable () -> Date
  ) throws(PushError) {
    self.init(try settings.webhook(trustAnchor: trustAnchor, now: now))
  }

  package var settings: String { Signing.identifier(of: webhook.url) }
  package var capacity: Int { Webhook.capacity }

  package func send(_ push: OutgoingPush) async -> PushOutcome {
    await webhook.post(Self.body(of: push), id: push.id)
  }

  /// `{"id","target":{…},"kind","collapseId","expires","message":{what it says},"push":{the payload for Apple's
  /// devices}}`.
  private static func body(of push: OutgoingPush) -> String {
    let quoted = JSONText.quoted
    let target =
      switch push.target {
      case .device(let handle, let platform):
        #"{"platform":\#(quoted(platform)),"handle":\#(quoted(handle))}"#
      case .subscription(let endpoint, _):
        #"{"platform":\#(quoted(Platform.webPush.name)),"handle":\#(quoted(endpoint))}"#
      case .audience(let expression): #"{"tags":\#(quoted(expression.description))}"#
      }
    let expires = push.expires.map { quoted($0.formatted(.iso8601)) } ?? "null"
    let message = push.message.map { #""message":\#(JSONText.of($0.message)),"# } ?? ""
    return #"{"id":\#(quoted(push.id)),"target":\#(target),"kind":"\#(push.text.kind.rawValue)","#
      + #""collapseId":\#(push.collapseID.map(quoted) ?? "null"),"expires":\#(expires),"#
      + message + #""push":\#(push.text.json)}"#
  }
}

extension WebhookProvider {
  /// Posts a push for the platform `check`, which the receiver accepts with 2xx and ignores.
  package func check() async -> [PushFinding] {
    let outcome = await send(.probe(to: .device(handle: "check", platform: "check")))
    return [
      PushFinding(service: name, outcome, isGood: "The receiver accepts the signature.")
    ]
  }
}
