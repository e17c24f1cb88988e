import FoundationEssentials

extension APNsProvider: PushCheckable {
  /// Sends a push to a token that can't exist: Apple complains about it only if all else is right.
  package func check() async -> [PushFinding] {
    let push = OutgoingPush(
      id: UUID().uuidString.lowercased(),
      target: .device(handle: String(repeating: "00", count: 32), platform: "apns"),
      text: PushText(.background, json: #"{"aps":{"content-available":1}}"#))
    var findings: [PushFinding] = []
    for endpoint in endpoints {
      let (isGood, sentence) =
        switch await send(push, to: [endpoint]) {
        case .deadToken: (true, "Apple accepts the key, and knows its team.")
        case .delivered: (true, "The service accepts everything; it is no service of Apple's.")
        case .laneStopped(let reason), .rejected(let reason), .retry(_, let reason),
          .unavailable(_, let reason):
          (false, reason)
        }
      findings.append(
        PushFinding(service: name, isGood: isGood, sentence: "\(endpoint): \(sentence)"))
    }
    return findings
  }
}
