import FoundationEssentials

/// A push service that sends in one of the formats of Azure Notification Hubs.
///
/// Each format is a service of its own, with its own lane: a hub accepts or refuses each request for itself, and what it
/// has accepted in one format is not sent again because another has failed.
package protocol AzureService: ConfiguredPushService {
  static var hubFormat: AzureFormat { get }
  var hub: AzureHub { get }

  /// Why it is not sent to a device; nil if it may be.
  static func problem(with target: OutgoingPush.Target) -> String?

  /// The header fields of the format, and the body; nil if the push has another service's text.
  func message(of push: OutgoingPush) -> (fields: [(name: String, value: String)], body: [UInt8])?

  /// A push that only tests whether the hub accepts it.
  func probe(to target: OutgoingPush.Target) -> OutgoingPush
}

extension AzureService {
  package var settings: String { hub.settings }
  package var capacity: Int { AzureHub.capacity }

  package func send(_ push: OutgoingPush) async -> PushOutcome {
    let isAudience = if case .audience = push.target { true } else { false }
    if !isAudience, let problem = Self.problem(with: push.target) {
      return .rejected(reason: problem)
    }
    guard let message = message(of: push) else {
      return .rejected(reason: "\(name) sends its own texts only.")
    }
    do {
      return PushOutcome(azure: try await post(message, to: push.target), at: hub.now())
    } catch {
      return .unavailable(after: nil, reason: "Azure can't be reached: \(error.reason).")
    }
  }

  package func probe(to target: OutgoingPush.Target) -> OutgoingPush {
    OutgoingPush(id: "", target: target, text: payload(of: PushMessage(text: "")).payload())
  }

  private func post(
    _ message: (fields: [(name: String, value: String)], body: [UInt8]),
    to target: OutgoingPush.Target
  ) async throws(ServiceFailure) -> ServiceResponse {
    try await hub.post(message.body, as: Self.hubFormat, message.fields, to: target)
  }

  /// Sends a push to a tag that no device has.
  package func check() async -> [PushFinding] {
    do {
      let tag = try Tag("richpush-check-" + UUID().uuidString)
      let push = probe(to: .audience(try TagExpression(anyOf: [tag])))
      guard let message = message(of: push) else { return [] }
      let response = try await post(message, to: push.target)
      let now = hub.now()
      let skew = ClockSkew.finding(service: name, response: response, at: now)
      let finding = PushFinding(
        service: name, PushOutcome(azure: response, at: now),
        isGood: "The hub takes pushes with this key.")
      return [finding, skew].compactMap(\.self)
    } catch {
      return [PushFinding(service: name, isGood: false, sentence: "\(error)")]
    }
  }
}
