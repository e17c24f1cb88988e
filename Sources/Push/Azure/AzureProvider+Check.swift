import FoundationEssentials

extension AzureProvider: PushCheckable {
  /// Sends a push to a tag that nobody has.
  package func check() async -> [PushFinding] {
    do {
      let tag = try Tag("richpush-check-" + UUID().uuidString)
      let push = OutgoingPush(
        id: UUID().uuidString.lowercased(), target: .audience(try TagExpression(anyOf: [tag])),
        text: PushText(.background, json: #"{"aps":{"content-available":1}}"#))
      let response = try await post(push)
      let now = clock.now
      let skew = ClockSkew.finding(service: name, response: response, at: now)
      return [finding(AzureVerdict.delivery(for: response, at: now)), skew].compactMap(\.self)
    } catch {
      return [PushFinding(service: name, isGood: false, sentence: "\(error)")]
    }
  }

  private func finding(_ delivery: PushOutcome) -> PushFinding {
    switch delivery {
    case .delivered:
      PushFinding(service: name, isGood: true, sentence: "The hub takes pushes with this key.")
    case .laneStopped(let reason), .rejected(let reason), .retry(_, let reason),
      .unavailable(_, let reason), .deadToken(_, let reason):
      PushFinding(service: name, isGood: false, sentence: reason)
    }
  }
}
