import FoundationEssentials

/// Apple's push service, spoken to directly over HTTP/2.
package struct APNsProvider: PushProvider {
  let endpoints: [String]
  private let token: ProviderToken
  private let topic: String
  private let loop: TransferLoop
  private let clock: any PushClock

  /// A provider for one app.
  ///
  /// `endpoints` are tried in turn while a device's token is unknown at the one before, so that
  /// development builds can be served too.
  package init(
    key: APNsKey, topic: String, endpoints: [String], trustAnchor: String? = nil,
    patience: Duration = .seconds(30), clock: any PushClock = SystemClock()
  ) throws(PushError) {
    token = ProviderToken(key)
    self.topic = topic
    self.endpoints = endpoints
    self.clock = clock
    loop = try TransferLoop(trustAnchor: trustAnchor, connections: 4, patience: patience)
  }

  package var name: String { "apns" }
  package var capacity: Int { 500 }
  package var governsSilentPushes: Bool { true }

  package func send(_ push: OutgoingPush) async -> PushOutcome {
    await send(push, to: endpoints)
  }

  func send(_ push: OutgoingPush, to endpoints: [String]) async -> PushOutcome {
    guard let handle = push.target.appleToken else {
      return .rejected(reason: "APNs delivers to single Apple devices only.")
    }
    for endpoint in endpoints {
      if let delivery = await send(push, to: endpoint + "/3/device/" + handle) { return delivery }
    }
    return .deadToken(
      since: nil,
      reason: "APNs answered 400 BadDeviceToken: no device, or one of the other environment.")
  }

  /// Sends the push to one environment; nil when the device's token is not known there.
  private func send(_ push: OutgoingPush, to url: String) async -> PushOutcome? {
    do {
      var issue = try token.issue(at: clock.now)
      var hasReconnected = false
      while true {
        switch try await answer(
          to: request(push, to: url, token: issue))
        {
        case .final(let outcome): return outcome
        case .wrongEnvironment: return nil
        case .expiredProviderToken:
          guard let other = try token.replacement(for: issue, at: clock.now) else {
            return .laneStopped(
              reason: "APNs answered 403 ExpiredProviderToken to a new token: "
                + "the machine's clock is wrong.")
          }
          issue = other
        case .leave(let outcome):
          loop.reconnect()
          return outcome
        case .reconnect(let then):
          loop.reconnect()
          guard !hasReconnected else { return then }
          hasReconnected = true
        }
      }
    } catch let failure as TransferFailure {
      if failure.isTimeout { loop.reconnect() }
      return .unavailable(after: nil, reason: "APNs can't be reached: \(failure.reason).")
    } catch {
      return .laneStopped(reason: "\(error)")
    }
  }

  private func answer(to request: TransferRequest) async throws(TransferFailure) -> APNsVerdict {
    APNsVerdict(try await loop.send(request), at: clock.now)
  }

  private func request(
    _ push: OutgoingPush, to url: String, token: ProviderToken.Issue
  ) -> TransferRequest {
    var fields = [
      (name: "authorization", value: "bearer " + token.text),
      (name: "apns-topic", value: topic),
      (name: "apns-id", value: push.id),
      (name: "apns-push-type", value: push.text.kind.rawValue),
      (name: "apns-priority", value: String(push.text.kind.priority)),
      (name: "content-type", value: "application/json"),
    ]
    if let expires = push.expires {
      fields.append(("apns-expiration", String(Int(expires.timeIntervalSince1970))))
    }
    if let collapseID = push.collapseID { fields.append(("apns-collapse-id", collapseID)) }
    return TransferRequest(url: url, fields: fields, body: Array(push.text.json.utf8))
  }
}
