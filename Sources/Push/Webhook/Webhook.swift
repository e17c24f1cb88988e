import FoundationEssentials

/// An address of the operator's own that takes signed JSON.
///
/// The signature is that of the Standard Webhooks specification (standardwebhooks.com), for which
/// libraries exist in most languages.
package struct Webhook: Sendable {
  private let url: String
  private let secret: WebhookSecret
  private let loop: TransferLoop
  private let clock: any PushClock

  /// How many posts may be under way at once.
  package static let capacity = 32

  /// A webhook at `url`, that is given up on after `patience` without an answer.
  package init(
    url: String, secret: WebhookSecret, trustAnchor: String? = nil,
    patience: Duration = .seconds(30), clock: any PushClock = SystemClock()
  ) throws(PushError) {
    self.url = url
    self.secret = secret
    self.clock = clock
    loop = try TransferLoop(
      trustAnchor: trustAnchor, connections: Self.capacity, patience: patience)
  }

  /// Posts a JSON text; the same `id` tells the receiver of a repetition.
  package func post(_ body: String, id: String) async -> PushOutcome {
    let time = Int(clock.now.timeIntervalSince1970)
    let request = TransferRequest(
      url: url,
      fields: [
        ("Content-Type", "application/json"), ("Webhook-Id", id),
        ("Webhook-Timestamp", String(time)),
        ("Webhook-Signature", secret.signature(id: id, time: time, body: body)),
      ], body: body)
    do {
      return Self.outcome(of: try await loop.send(request), at: clock.now)
    } catch {
      return .unavailable(after: nil, reason: "The webhook can't be reached: \(error.reason).")
    }
  }

  private static func outcome(of response: TransferResponse, at now: Date) -> PushOutcome {
    let after = HTTPTime.wait(response.field("retry-after"), at: now)
    let told = "The webhook answered \(response.status): \(TransferResponse.line(response.text))"
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
