import FoundationEssentials
import Primitives
import RichPushAPI
import Synchronization

/// One Web Push service, such as `https://updates.push.services.mozilla.com` or somebody's ntfy.
///
/// A lane sends with it as with any other service, so each service has its own pauses and retries.
package final class WebPushProvider: PushProvider, PushService {
  package static let name = "webpush"
  package static let traits = PushTraits(
    platforms: [.webPush], lanes: .onePerOrigin, largestPayload: PushPayload.webLimit,
    profile: "ios", limitsSilentPushes: false)
  package static let format = PayloadFormat.web

  /// A message is kept for four weeks at most, as services do on their own.
  private static let longestLife = 28 * 24 * 3600
  /// For so long after a push was accepted, a refusal is the subscription's fault, not this server's.
  private static let trust: TimeInterval = 3600

  private struct State {
    var authorization: (text: String, expires: Date)?
    var window = OriginWindow()
    var lastAccepted = Date.distantPast
    /// When it fell silent: a connection from before may be dead; nil once it has answered again.
    var silentSince: ContinuousClock.Instant?
  }

  private let origin: String
  /// Whether the service is Apple's, whose browsers show a push without a worker.
  private let isApple: Bool
  private let sender: WebPushSender
  private let state = Mutex(State())

  init(origin: String, sender: WebPushSender) {
    (self.origin, self.sender, settings) = (origin, sender, sender.settingsID)
    let host = WebPushEndpoint.host(of: origin)
    isApple = host == "push.apple.com" || host.hasSuffix(".push.apple.com")
  }

  package var name: String { WebPushLane.name(of: origin) }
  package let settings: String
  package var capacity: Int { state.withLock { $0.window.size } }
  package var traits: PushTraits { Self.traits }
  package func payload(of message: PushMessage) -> PayloadTemplate {
    isApple ? .declarative(message) : Self.payload(of: message)
  }

  package func send(_ push: OutgoingPush) async -> PushOutcome {
    guard case .subscription(let url, let keysText) = push.target else {
      return .rejected(reason: "Web Push delivers to subscriptions only.")
    }
    let (endpoint, keys): (WebPushEndpoint, WebPushKeys)
    do throws(PushError) {
      (endpoint, keys) = (try sender.endpoint(url), try WebPushKeys(keysText))
    } catch {
      return .rejected(reason: error.reason)
    }
    guard endpoint.origin == origin else {
      return .retry(after: .seconds(1), reason: "The subscription has moved to another service.")
    }
    var permit: KeyedSemaphore<Int>.Permit?
    if let user = push.user {
      permit = sender.permit(for: user)
      if permit == nil { return Self.held }
    }
    defer { permit?.end() }
    var addresses: [String]?
    switch await sender.addresses(of: endpoint, for: push.user) {
    case nil: break
    case .addresses(let found): addresses = found
    case .held: return Self.held
    case .failed(let reason):
      let outcome = PushOutcome.unavailable(after: nil, reason: reason)
      state.withLock { $0.window.record(outcome, took: .zero) }
      return outcome
    }
    var text = push.text.json
    var hasTopic = push.collapseID != nil
    while true {
      switch await send(push, text, hasTopic: hasTopic, to: endpoint, at: addresses, keys) {
      case .final(let outcome): return outcome
      case .tooLarge:
        let short = JSONText.object([
          "richId": push.message?.id.map { JSONText.quoted(String($0)) },
          "tag": push.message?.tag.map(JSONText.quoted),
        ])
        if text == short {
          return .rejected(reason: "\(origin) answered 413, even to the ID alone.")
        }
        text = short
      case .badTopic: hasTopic = false
      }
    }
  }

  /// What follows from a response.
  private enum Step {
    case final(PushOutcome)
    /// The service takes a smaller message only.
    case tooLarge
    /// The service does not take the topic: a push that does not replace another is better than none.
    case badTopic
  }

  private func send(
    _ push: OutgoingPush, _ text: String, hasTopic: Bool, to endpoint: WebPushEndpoint,
    at addresses: [String]?, _ keys: WebPushKeys
  ) async -> Step {
    let message: [UInt8]
    let fields: [(name: String, value: String)]
    do throws(PushError) {
      message = try WebPushMessage.encrypt(Array(text.utf8), for: keys)
      fields = try self.fields(of: push, hasTopic: hasTopic)
    } catch {
      return .final(.rejected(reason: error.reason))
    }
    let start = ContinuousClock.now
    let response = await sender.post(
      message, to: endpoint, at: addresses, fields: fields,
      connectionsSince: state.withLock(\.silentSince))
    let step = step(after: response, hasTopic: hasTopic)
    state.withLock { state in
      switch response {
      case .success: state.silentSince = nil
      case .failure(let failure): if failure.isTimeout { state.silentSince = .now }
      }
      guard case .final(let outcome) = step else { return }
      state.window.record(outcome, took: .now - start)
      if case .delivered = outcome { state.lastAccepted = sender.now() }
    }
    return step
  }

  private static let held = PushOutcome.held(
    for: .seconds(1), reason: "This user has too many pushes under way; it waits for them.")

  private func fields(
    of push: OutgoingPush, hasTopic: Bool
  ) throws(PushError) -> [(name: String, value: String)] {
    let left = push.expires.map { Int($0.timeIntervalSince(sender.now())) } ?? .max
    var fields = [
      (name: "Authorization", value: try authorization()),
      (name: "Content-Type", value: "application/octet-stream"),
      (name: "Content-Encoding", value: "aes128gcm"),
      (name: "TTL", value: String(min(max(left, 0), Self.longestLife))),
      (name: "Urgency", value: push.urgency),
    ]
    if hasTopic, let collapseID = push.collapseID {
      fields.append(("Topic", Self.topic(collapseID)))
    }
    return fields
  }

  /// 32 characters of Base64 for URLs: a service takes no more, and need not know the ID.
  static func topic(_ collapseID: String) -> String {
    String(
      Base64URL.encode(Signing.hmac(key: Array("topic".utf8), Array(collapseID.utf8))).prefix(32))
  }

  /// The token for this service; a new one once the old has less than twelve hours left or, since the clock was set
  /// back, more than services accept.
  private func authorization() throws(PushError) -> String {
    let now = sender.now()
    return try state.withLock { state throws(PushError) in
      if let known = state.authorization,
        (12 * 3600...WebPushSender.longestTokenLife).contains(known.expires.timeIntervalSince(now))
      {
        return known.text
      }
      let new = try sender.authorization(for: origin)
      state.authorization = new
      return new.text
    }
  }
}

extension OutgoingPush {
  /// How soon a device has to be woken for it (RFC 8030, section 5.3).
  fileprivate var urgency: String {
    if let urgency = message?.message.webpush?.header("Urgency") { return urgency }
    return switch message?.message.importance {
    case nil: text.kind == .alert ? "high" : "normal"
    case .min: "very-low"
    case .low: "low"
    case .normal: "normal"
    case .high, .urgent: "high"
    }
  }
}

// MARK: - Responses

extension WebPushProvider {
  /// What a response means (RFC 8030, sections 5 and 7.3).
  private func step(after response: CurlTransfer.Response, hasTopic: Bool) -> Step {
    switch response {
    case .failure(let failure) where failure.isForbidden:
      return .final(
        .rejected(
          reason: "\(origin) has an address that is not public; --push-allow can permit it."))
    case .failure(let failure):
      return .final(
        .unavailable(after: nil, reason: "\(origin) can't be reached: \(failure.reason)."))
    case .success(let response):
      // Apple's word is BadWebPushTopic.
      if response.status == 400, hasTopic, response.text.lowercased().contains("topic") {
        return .badTopic
      }
      return response.status == 413 ? .tooLarge : .final(outcome(of: response))
    }
  }

  private func outcome(of response: ServiceResponse) -> PushOutcome {
    let now = sender.now()
    let text = "\(origin) answered \(response.status)"
    let detail = ServiceResponse.line(response.text)
    let reason = detail.isEmpty ? text + "." : "\(text): \(detail)"
    let after = response.retryAfter(at: now)
    switch response.status {
    case 200..<300:
      return .delivered(reference: response.field("location").map { ServiceResponse.line($0) })
    case 404, 410: return .deadToken(since: nil, reason: reason)
    case 401, 403: return refused(reason, at: now)
    case 408, 425, 429, 500...: return .throttled(after: after, reason: reason)
    case 300..<400: return .rejected(reason: text + ", a redirect, which is not followed.")
    default: return .rejected(reason: reason)
    }
  }

  /// The outcome for a service that accepts no push of ours, which is paused.
  ///
  /// If it has just accepted one, the subscription belongs to another key and must not delay the pushes of others.
  private func refused(_ reason: String, at now: Date) -> PushOutcome {
    let isTrusted = state.withLock { abs(now.timeIntervalSince($0.lastAccepted)) < Self.trust }
    let reason = reason + " Check the subscription's key, --push-contact and the machine's clock."
    return isTrusted
      ? .retry(after: .seconds(300), reason: reason)
      : .unavailable(after: .seconds(60), reason: reason)
  }
}

/// The number of concurrent transfers to one service: few until it has proved to answer.
struct OriginWindow {
  private static let smallest = 4
  /// Faster than this, more at once would not help.
  private static let fastResponse = Duration.milliseconds(20)

  /// The number that may be under way.
  private(set) var size = smallest

  /// Adapts to the outcome of a transfer.
  mutating func record(_ outcome: PushOutcome, took time: Duration) {
    switch outcome {
    case .unavailable, .throttled:
      size = max(size / 2, 1)
      return
    default: break
    }
    if size < 16 || time > Self.fastResponse {
      size = min(size + 1, WebPushSender.transfersPerOrigin)
    } else {
      size = max(size - 1, 16)
    }
  }
}

/// The names of the lanes to Web Push services.
package enum WebPushLane {
  /// The beginning of all their names.
  package static let prefix = WebPushProvider.name + ":"

  /// The name of the lane to a service, by its origin.
  package static func name(of origin: String) -> String { prefix + origin }

  /// The origin that a lane sends to; nil if it is another lane.
  package static func origin(of lane: String) -> String? {
    lane.hasPrefix(prefix) ? String(lane.dropFirst(prefix.count)) : nil
  }
}
