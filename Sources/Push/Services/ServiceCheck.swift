import FoundationEssentials

extension PushFinding {
  /// The finding for the outcome of a probe: `sentence` if it was delivered, otherwise why it was not.
  init(service: String, _ outcome: PushOutcome, isGood sentence: String) {
    self.init(
      service: service, isGood: outcome.reason == nil, sentence: outcome.reason ?? sentence)
  }
}

extension OutgoingPush {
  /// A silent push that only tests whether the service accepts it.
  static func probe(to target: Target) -> OutgoingPush {
    OutgoingPush(
      id: UUID().uuidString.lowercased(), target: target,
      text: PushPayload(.background, json: #"{"aps":{"content-available":1}}"#))
  }
}

/// The difference between this machine's clock and a service's.
enum ClockSkew {
  /// The seconds of difference that are accepted: signatures fail beyond a few minutes.
  private static let tolerance: TimeInterval = 60

  /// A finding if the response's `Date` is far from our time.
  static func finding(
    service: String, response: ServiceResponse, at now: Date
  ) -> PushFinding? {
    guard let theirs = response.date else { return nil }
    let skew = now.timeIntervalSince(theirs)
    guard abs(skew) > tolerance else { return nil }
    return PushFinding(
      service: service, isGood: false,
      sentence: "This machine's clock is \(Int(abs(skew))) s \(skew > 0 ? "ahead" : "behind"); "
        + "signatures depend on it.")
  }
}
