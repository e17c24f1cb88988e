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
    loop = try TransferLoop(
      trustAnchor: trustAnchor, connections: 4, isMultiplexing: true, patience: patience)
  }

  package var name: String { "apns" }
  package var capacity: Int { 2000 }
  package var governsSilentPushes: Bool { true }

  package func send(_ push: OutgoingPush) async -> PushOutcome {
    await send(push, to: endpoints)
  }

  /// Sends them all together; only what needs another attempt goes its own way.
  package func send(
    _ pushes: [OutgoingPush], then: @escaping @Sendable (Int, PushOutcome) -> Void
  ) async {
    guard let endpoint = endpoints.first, let issue = try? token.issue(at: clock.now) else {
      for (index, push) in pushes.enumerated() { then(index, await send(push)) }
      return
    }
    let shared = shared(token: issue)
    var places: [Int] = []
    var requests: [TransferRequest] = []
    for (index, push) in pushes.enumerated() {
      guard let handle = push.target.appleToken else {
        then(index, await send(push))
        continue
      }
      places.append(index)
      requests.append(
        request(push, to: Self.url(of: handle, at: endpoint), shared: shared[push.text.kind]))
    }
    let (again, leftOver) = AsyncStream.makeStream(of: (index: Int, endpoints: [String]).self)
    await withDiscardingTaskGroup { [places, requests] group in
      group.addTask {
        await loop.send(requests) { place, answer in
          let index = places[place]
          switch verdict(on: answer) {
          case .final(let outcome): then(index, outcome)
          case .leave(let outcome):
            loop.reconnect()
            then(index, outcome)
          case .wrongEnvironment: leftOver.yield((index, Array(endpoints.dropFirst())))
          case .expiredProviderToken:
            _ = try? token.replacement(for: issue, at: clock.now)  // for those that come after it
            leftOver.yield((index, endpoints))
          case .again(let isElsewhere, _):
            if isElsewhere { loop.reconnect() }
            leftOver.yield((index, endpoints))
          }
        }
        leftOver.finish()
      }
      for await (index, endpoints) in again {
        group.addTask { then(index, await send(pushes[index], to: endpoints)) }
      }
    }
  }

  func send(_ push: OutgoingPush, to endpoints: [String]) async -> PushOutcome {
    guard let handle = push.target.appleToken else {
      return .rejected(reason: "APNs delivers to single Apple devices only.")
    }
    for endpoint in endpoints {
      if let delivery = await send(push, to: Self.url(of: handle, at: endpoint)) { return delivery }
    }
    return .deadToken(
      since: nil,
      reason: "APNs answered 400 BadDeviceToken: no device, or one of the other environment.")
  }

  /// Sends the push to one environment; nil when the device's token is not known there.
  private func send(_ push: OutgoingPush, to url: String) async -> PushOutcome? {
    do {
      var issue = try token.issue(at: clock.now)
      var isRepeated = false
      while true {
        let shared = shared(token: issue)[push.text.kind]
        switch await answer(to: request(push, to: url, shared: shared)) {
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
        case .again(let isElsewhere, let then):
          if isElsewhere { loop.reconnect() }
          guard !isRepeated, !Task.isCancelled else { return then }
          isRepeated = true
        }
      }
    } catch {
      return .laneStopped(reason: "\(error)")
    }
  }

  private func answer(to request: TransferRequest) async -> APNsVerdict {
    do {
      return verdict(on: .success(try await loop.send(request)))
    } catch {
      return verdict(on: .failure(error))
    }
  }

  private func verdict(on answer: Transfer.Answer) -> APNsVerdict {
    switch answer {
    case .success(let response): return APNsVerdict(response, at: clock.now)
    case .failure(let failure):
      let outcome = PushOutcome.unavailable(
        after: nil, reason: "APNs can't be reached: \(failure.reason).")
      return failure.isSilence ? .leave(outcome) : .again(onNewConnection: false, then: outcome)
    }
  }

  private static func url(of handle: String, at endpoint: String) -> String {
    "\(endpoint)/3/device/\(handle)"
  }

  private func request(
    _ push: OutgoingPush, to url: String, shared: SharedFields?
  ) -> TransferRequest {
    var fields = [(name: "apns-id", value: push.id)]
    if let expires = push.expires {
      fields.append(("apns-expiration", String(Int(expires.timeIntervalSince1970))))
    }
    if let collapseID = push.collapseID { fields.append(("apns-collapse-id", collapseID)) }
    return TransferRequest(url: url, fields: fields, shared: shared, body: push.text.json)
  }

  /// What the pushes of each kind have in common.
  private func shared(token: ProviderToken.Issue) -> [PushText.Kind: SharedFields] {
    let kinds = PushText.Kind.allCases.map { kind in
      (
        kind,
        SharedFields([
          ("authorization", "bearer " + token.text), ("apns-topic", topic),
          ("apns-push-type", kind.rawValue), ("apns-priority", String(kind.priority)),
          ("content-type", "application/json"),
        ])
      )
    }
    return Dictionary(uniqueKeysWithValues: kinds)
  }
}
