import FoundationEssentials

/// The operator's own gateway: each push is posted to it as signed JSON.
///
/// The signature is that of the Standard Webhooks specification (standardwebhooks.com), for which
/// libraries exist in most languages.
package struct WebhookProvider: PushProvider {
  private let url: String
  private let secret: WebhookSecret
  private let loop: TransferLoop
  private let clock: any PushClock

  /// A provider that posts to `url`.
  package init(
    url: String, secret: WebhookSecret, trustAnchor: String? = nil,
    patience: Duration = .seconds(30), clock: any PushClock = SystemClock()
  ) throws(PushError) {
    self.url = url
    self.secret = secret
    self.clock = clock
    loop = try TransferLoop(
      trustAnchor: trustAnchor, connections: capacity, patience: patience)
  }

  package var name: String { "webhook" }
  package let capacity = 32
  package var governsSilentPushes: Bool { false }

  package func send(_ push: OutgoingPush) async -> PushOutcome {
    do {
      let response = try await loop.send(request(for: push))
      return Self.delivery(for: response, at: clock.now)
    } catch {
      if error.isTimeout { loop.reconnect() }
      return .unavailable(after: nil, reason: "The webhook can't be reached: \(error.reason).")
    }
  }

  private func request(for push: OutgoingPush) -> TransferRequest {
    let body = Self.body(of: push)
    let time = Int(clock.now.timeIntervalSince1970)
    return TransferRequest(
      url: url,
      fields: [
        ("Content-Type", "application/json"),
        ("Webhook-Id", push.id),
        ("Webhook-Timestamp", String(time)),
        ("Webhook-Signature", secret.signature(id: push.id, time: time, body: body)),
      ], body: Array(body.utf8))
  }

  /// `{"id","target":{…},"kind","collapseId","expires","push":{the push itself}}`.
  private static func body(of push: OutgoingPush) -> String {
    let quoted = JSONText.quoted
    let target =
      switch push.target {
      case .device(let handle, let platform):
        #"{"platform":\#(quoted(platform)),"handle":\#(quoted(handle))}"#
      case .audience(let expression): #"{"tags":\#(quoted(expression.description))}"#
      }
    let expires = push.expires.map { quoted($0.formatted(.iso8601)) } ?? "null"
    return #"{"id":\#(quoted(push.id)),"target":\#(target),"kind":"\#(push.text.kind.rawValue)","#
      + #""collapseId":\#(push.collapseID.map(quoted) ?? "null"),"expires":\#(expires),"#
      + #""push":\#(push.text.json)}"#
  }

  private static func delivery(for response: TransferResponse, at now: Date) -> PushOutcome {
    let after = HTTPTime.wait(response.fields["retry-after"], at: now)
    let told = "The webhook answered \(response.status): \(response.text.prefix(200))"
    return switch response.status {
    case 200..<300: .delivered(reference: nil)
    case 300..<400: .laneStopped(reason: told + " Redirections are not followed.")
    case 401, 403, 404: .laneStopped(reason: told + " Check its address and its secret.")
    case 410: .deadToken(since: nil, reason: told)
    case 408, 425, 429, 500...: .unavailable(after: after, reason: told)
    default: .rejected(reason: told)
    }
  }
}
