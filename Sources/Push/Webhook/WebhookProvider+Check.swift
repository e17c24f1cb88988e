import FoundationEssentials

extension WebhookProvider: PushCheckable {
  /// Posts a push for the platform `check`, which the receiver answers with 2xx and forgets.
  package func check() async -> [PushFinding] {
    let push = OutgoingPush(
      id: UUID().uuidString.lowercased(),
      target: .device(handle: "check", platform: "check"),
      text: PushText(.background, json: #"{"aps":{"content-available":1}}"#))
    return switch await send(push) {
    case .delivered:
      [PushFinding(service: name, isGood: true, sentence: "The receiver accepts the signature.")]
    case .laneStopped(let reason), .rejected(let reason), .retry(_, let reason),
      .unavailable(_, let reason), .deadToken(_, let reason):
      [PushFinding(service: name, isGood: false, sentence: reason)]
    }
  }
}
