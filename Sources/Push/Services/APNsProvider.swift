package import FoundationEssentials
import RichPushAPI

/// Apple Push Notification service, over HTTP/2.
package struct APNsProvider: ConfiguredPushService {
  package static let name = "apns"
  package static let traits = PushTraits(
    platforms: [.apple], largestPayload: PushPayload.limit, profile: "ios",
    limitsSilentPushes: true)
  package static let format = PayloadFormat.apple

  let endpoints: [String]
  /// Environment, topic, key and team.
  package let settings: String
  private let token: ProviderToken
  private let topic: String
  private let client: CurlClient
  private let now: @Sendable () -> Date

  /// Each carries up to 1000 pushes at once; Apple allows several and recommends to keep them open.
  private static let connections = 4

  /// A provider for one app.
  ///
  /// A token that is unknown at one of the `endpoints` is tried at the next, so that development builds get
  /// pushes too.
  package init(
    key: APNsKey, topic: String, endpoints: [String], trustAnchor: String? = nil,
    timeout: Duration = .seconds(30), now: @escaping @Sendable () -> Date = { Date() }
  ) throws(PushError) {
    token = ProviderToken(key)
    settings = Signing.identifier(
      of: endpoints.joined(separator: ","), topic, key.keyID, key.teamID)
    (self.topic, self.endpoints, self.now) = (topic, endpoints, now)
    client = try CurlClient(
      .init(
        trustAnchor: trustAnchor, connections: Self.connections, isMultiplexing: true,
        timeout: timeout))
  }

  /// The provider of `--push apns`.
  package init(
    _ settings: APNsSettings, trustAnchor: String?, now: @escaping @Sendable () -> Date
  ) throws(PushError) {
    try self.init(
      key: settings.key, topic: settings.topic, endpoints: settings.endpoints,
      trustAnchor: trustAnchor, now: now)
  }

  package var capacity: Int { 2000 }

  package func send(_ push: OutgoingPush) async -> PushOutcome {
    await send(push, to: endpoints)
  }

  /// Sends all first attempts together; a push that needs another is then sent on its own.
  package func send(
    _ pushes: [OutgoingPush], then: @escaping @Sendable (Int, PushOutcome) -> Void
  ) async {
    guard let endpoint = endpoints.first, let issue = try? token.issue(at: now()) else {
      for (index, push) in pushes.enumerated() { then(index, await send(push)) }
      return
    }
    let shared = shared(token: issue)
    var indices: [Int] = []
    var requests: [ServiceRequest] = []
    for (index, push) in pushes.enumerated() {
      guard let handle = push.target.appleToken else {
        then(index, await send(push))
        continue
      }
      indices.append(index)
      requests.append(
        request(push, to: Self.url(of: handle, at: endpoint), shared: shared[push.text.kind]))
    }
    let (repeats, continuation) = AsyncStream.makeStream(of: (index: Int, endpoints: [String]).self)
    await withDiscardingTaskGroup { [indices, requests] group in
      group.addTask {
        await client.send(requests) { position, result in
          let index = indices[position]
          switch evaluate(result) {
          case .final(let outcome): then(index, outcome)
          case .wrongEnvironment: continuation.yield((index, Array(endpoints.dropFirst())))
          case .expiredProviderToken:
            // Now, so that other pushes use the new one.
            _ = try? token.replacement(for: issue, at: now())
            continuation.yield((index, endpoints))
          case .again: continuation.yield((index, endpoints))
          }
        }
        continuation.finish()
      }
      for await (index, endpoints) in repeats {
        group.addTask { then(index, await send(pushes[index], to: endpoints)) }
      }
    }
  }

  func send(_ push: OutgoingPush, to endpoints: [String]) async -> PushOutcome {
    guard let handle = push.target.appleToken else {
      return .rejected(reason: "APNs delivers to single Apple devices only.")
    }
    for endpoint in endpoints {
      if let outcome = await send(push, to: Self.url(of: handle, at: endpoint)) { return outcome }
    }
    return .deadToken(
      since: nil,
      reason: "APNs answered 400 BadDeviceToken: no device, or one of the other environment.")
  }

  /// Sends the push to one environment; nil if the device's token is unknown there.
  private func send(_ push: OutgoingPush, to url: String) async -> PushOutcome? {
    do {
      var issue = try token.issue(at: now())
      var isRepeated = false
      while true {
        let shared = shared(token: issue)[push.text.kind]
        switch evaluate(await client.send(request(push, to: url, shared: shared))) {
        case .final(let outcome): return outcome
        case .wrongEnvironment: return nil
        case .expiredProviderToken:
          guard let other = try token.replacement(for: issue, at: now()) else {
            return .laneStopped(
              reason: "APNs answered 403 ExpiredProviderToken to a new token: "
                + "the machine's clock is wrong.")
          }
          issue = other
        case .again(let then):
          guard !isRepeated, !Task.isCancelled else { return then }
          isRepeated = true
        }
      }
    } catch {
      return .laneStopped(reason: "\(error)")
    }
  }

  /// What follows from a response; later requests get a new connection if this one can't be used.
  private func evaluate(_ response: CurlTransfer.Response) -> APNsResult.Step {
    let result: APNsResult
    switch response {
    case .success(let response): result = APNsResult(response, at: now())
    case .failure(let failure):
      let outcome = PushOutcome.unavailable(
        after: nil, reason: "APNs can't be reached: \(failure.reason).")
      result = APNsResult(failure.isTimeout ? .final(outcome) : .again(then: outcome))
    }
    if result.needsNewConnection { client.reconnect() }
    return result.step
  }

  private static func url(of handle: String, at endpoint: String) -> String {
    "\(endpoint)/3/device/\(handle)"
  }

  private func request(
    _ push: OutgoingPush, to url: String, shared: HeaderList?
  ) -> ServiceRequest {
    var fields = [
      (name: "apns-id", value: push.id), (name: "apns-priority", value: push.applePriority),
    ]
    if let expires = push.expires {
      fields.append(("apns-expiration", String(Int(expires.timeIntervalSince1970))))
    }
    if let collapseID = push.collapseID { fields.append(("apns-collapse-id", collapseID)) }
    return ServiceRequest(url: url, fields: fields, shared: shared, body: push.text.json)
  }

  /// The header fields that pushes of a kind share.
  private func shared(token: ProviderToken.Issue) -> [PushPayload.Kind: HeaderList] {
    let kinds = PushPayload.Kind.allCases.map { kind in
      (
        kind,
        HeaderList([
          ("authorization", "bearer " + token.text), ("apns-topic", topic),
          ("apns-push-type", kind.rawValue),
          ("content-type", "application/json"),
        ])
      )
    }
    return Dictionary(uniqueKeysWithValues: kinds)
  }
}

extension APNsProvider {
  /// Sends a push to a token that can't exist: APNs reports that only if everything else is right.
  package func check() async -> [PushFinding] {
    let push = OutgoingPush.probe(
      to: .device(handle: String(repeating: "00", count: 32), platform: Platform.apple.name))
    var findings: [PushFinding] = []
    for endpoint in endpoints {
      let (isGood, sentence) =
        switch await send(push, to: [endpoint]) {
        case .deadToken: (true, "Apple accepts the key and its team.")
        case .delivered:
          (true, "This endpoint accepts any token, so it is not Apple's; the key is unproven.")
        case let outcome: (false, outcome.reason ?? "")
        }
      findings.append(
        PushFinding(service: name, isGood: isGood, sentence: "\(endpoint): \(sentence)"))
    }
    return findings
  }
}

/// What a response of APNs means for a push, and for the connection.
struct APNsResult {
  enum Step {
    /// This is the outcome.
    case final(PushOutcome)
    /// The token belongs to the other environment, or to none.
    case wrongEnvironment
    /// The provider token is too old, or a clock is wrong.
    case expiredProviderToken
    /// Try again at once; `then` is the outcome if that fails as well.
    case again(then: PushOutcome)
  }

  let step: Step
  /// Whether the connection must not be used for further pushes.
  let needsNewConnection: Bool

  init(_ step: Step, needsNewConnection: Bool = false) {
    (self.step, self.needsNewConnection) = (step, needsNewConnection)
  }

  private struct ErrorBody: Decodable {
    let reason: String
    /// Milliseconds since 1970: since when the token has been invalid.
    let timestamp: Double?
  }

  /// Interprets a response (developer.apple.com, "Handling notification responses from APNs").
  init(_ response: ServiceResponse, at now: Date) {
    guard response.status != 200 else {
      self.init(.final(.delivered(reference: response.field("apns-id"))))
      return
    }
    let body = try? JSONDecoder().decode(ErrorBody.self, from: Data(response.body))
    let since = body?.timestamp.map { Date(timeIntervalSince1970: $0 / 1000) }
    let reason = ServiceResponse.line(body?.reason ?? "")
    self.init(
      Self.step(
        response.status, reason, since: since.flatMap { $0 <= now ? $0 : nil },
        after: response.retryAfter(at: now)),
      needsNewConnection: [
        "UnrelatedKeyIdInToken", "TooManyProviderTokenUpdates", "IdleTimeout", "Shutdown",
      ].contains(reason))
  }

  private static func step(
    _ status: Int, _ reason: String, since: Date?, after: Duration?
  ) -> Step {
    let text = "APNs answered \(status)" + (reason.isEmpty ? "." : " \(reason).")
    return switch reason {
    case "BadDeviceToken": .wrongEnvironment
    case "DeviceTokenNotForTopic", "Unregistered", "ExpiredToken":
      .final(.deadToken(since: since, reason: text))
    case "ExpiredProviderToken": .expiredProviderToken
    case "InvalidProviderToken", "MissingProviderToken", "BadCertificate",
      "BadCertificateEnvironment", "Forbidden", "BadEnvironmentKeyIdInToken":
      .final(.laneStopped(reason: text + " Check key, key id, team id and the machine's clock."))
    case "BadTopic", "MissingTopic", "TopicDisallowed":
      .final(.laneStopped(reason: text + " Check RICHPUSH_APNS_TOPIC: the app's bundle ID."))
    case "BadPath", "MethodNotAllowed":
      .final(.laneStopped(reason: text + " Check RICHPUSH_APNS_ENDPOINT."))
    case "UnrelatedKeyIdInToken":
      .again(
        then: .laneStopped(reason: text + " The connection already uses the key of another team."))
    case "TooManyProviderTokenUpdates":
      .final(.unavailable(after: max(after ?? .zero, .seconds(60)), reason: text))
    case "TooManyRequests":
      .final(.retry(after: max(after ?? .zero, .seconds(30)), reason: text))
    case "IdleTimeout", "Shutdown": .again(then: .unavailable(after: after, reason: text))
    default:
      switch status {
      case 410: .final(.deadToken(since: since, reason: text))
      case 429, 500...: .final(.unavailable(after: after, reason: text))
      case 300..<400, 403: .final(.laneStopped(reason: text + " Check the key and the endpoint."))
      case 404, 405: .final(.laneStopped(reason: text + " Check RICHPUSH_APNS_ENDPOINT."))
      case 400..<500 where reason.isEmpty:
        // Apple always names a reason.
        .final(
          .laneStopped(
            reason: text + " That is not Apple's: check RICHPUSH_APNS_ENDPOINT, or the proxy."))
      default: .final(.rejected(reason: text))
      }
    }
  }
}

extension OutgoingPush {
  /// The value of `apns-priority`: APNs rejects 10 for a background push.
  var applePriority: String {
    if let priority = message?.message.apns?.header("apns-priority") { return priority }
    return switch message?.message.importance {
    case .min, .low: "5"
    default: text.kind == .background ? "5" : "10"
    }
  }
}
