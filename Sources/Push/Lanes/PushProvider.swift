package import FoundationEssentials

/// A push service: sends pushes and reports the outcome of each.
package protocol PushProvider: Sendable {
  /// The lane's name, as in `--push`: `apns`, `azure`, `webhook`, `fcm`.
  var name: String { get }

  /// Identifies the settings on which it depends whether the service knows a device; no secret.
  var settings: String { get }

  /// The most pushes that may be under way at once.
  var capacity: Int { get }

  /// The service's traits.
  var traits: PushTraits { get }

  /// The payload of the pushes that announce a message.
  func payload(of message: PushMessage) -> PayloadTemplate

  /// Sends a probe that reaches no device, which shows whether key, clock and address are right.
  func check() async -> [PushFinding]

  /// Sends one push; returns well within a lane's lease of two minutes, and at once when its task is
  /// cancelled.
  func send(_ push: OutgoingPush) async -> PushOutcome

  /// Sends several at once and returns after the last outcome.
  ///
  /// Calls `then` with each push's index and outcome as soon as it is known.
  func send(
    _ pushes: [OutgoingPush], then: @escaping @Sendable (_ index: Int, PushOutcome) -> Void
  ) async
}

extension PushProvider {
  /// Checks nothing.
  package func check() async -> [PushFinding] { [] }

  /// Sends each on its own.
  package func send(
    _ pushes: [OutgoingPush], then: @escaping @Sendable (_ index: Int, PushOutcome) -> Void
  ) async {
    await withDiscardingTaskGroup { group in
      for (index, push) in pushes.enumerated() {
        group.addTask { then(index, await send(push)) }
      }
    }
  }
}

/// The outcome of one attempt to send a push.
package enum PushOutcome: Sendable, Equatable {
  /// The service accepted it; `reference` is the service's name for the push.
  case delivered(reference: String?)
  /// This push has to wait, for instance because its device gets too many; others may go on.
  case retry(after: Duration?, reason: String)
  /// This push has to wait; if several in a row have to, it is the service that is overloaded.
  case throttled(after: Duration?, reason: String)
  /// Not attempted, because the user has too many others under way; does not count as an attempt.
  case held(for: Duration, reason: String)
  /// The service is down or overloaded: the whole lane slows down.
  case unavailable(after: Duration?, reason: String)
  /// The token is no longer valid: its registration ends unless it was renewed after `since`, and unless the
  /// service refuses all others as well.
  case deadToken(since: Date?, reason: String)
  /// The service does not take pushes of this server for this device; if it takes none for any device, the operator
  /// has to act.
  case refused(reason: String)
  /// A permanent failure; the push is not tried again.
  case rejected(reason: String)
  /// The operator has to act; jobs stay queued.
  case laneStopped(reason: String)

  /// Why it was not delivered; nil if it was.
  var reason: String? {
    switch self {
    case .delivered: nil
    case .retry(_, let reason), .throttled(_, let reason), .held(_, let reason),
      .unavailable(_, let reason), .deadToken(_, let reason), .refused(let reason),
      .rejected(let reason), .laneStopped(let reason):
      reason
    }
  }
}

/// A result of checking a push service.
package struct PushFinding: Sendable, Equatable {
  /// The service's name, as in `--push`.
  package let service: String
  package let isGood: Bool
  /// What is right, or what is wrong and how to fix it.
  package let sentence: String
}

/// A push as it is sent.
package struct OutgoingPush: Sendable {
  /// Who gets it from the push service.
  package enum Target: Sendable, Hashable {
    /// One device by its token; the platform is Azure's word (`apns`, `gcm`, …).
    case device(handle: String, platform: String)
    /// A Web Push subscription, by its endpoint and `WebPushKeys.text`.
    case subscription(endpoint: String, keys: String)
    /// Every device that the service itself has registered for the tags (Azure only).
    case audience(TagExpression)

    /// The token of an Apple device, as hexadecimal digits; nil for everything else.
    var appleToken: String? {
      guard case .device(let handle, Platform.apple.name) = self, !handle.isEmpty,
        handle.utf8.allSatisfy({
          "0"..."9" ~= Unicode.Scalar($0) || "a"..."f" ~= Unicode.Scalar($0 | 0x20)
        })
      else { return nil }
      return handle
    }
  }

  /// A lower-case UUID; the same on every repetition, so that a device can tell a duplicate.
  package let id: String
  package let target: Target
  /// The number of the user whose device it is, or nil.
  package let user: Int?
  /// What it announces; nil for a probe.
  package let message: PushMessage?
  package let text: PushPayload
  /// Pushes with the same collapse id (at most 64 bytes) replace each other on the device.
  package let collapseID: String?
  /// When it expires, or nil.
  package let expires: Date?
  /// Whether the collapse id may be a key at a service that takes only a few for each device.
  package let isCollapsible: Bool

  package init(
    id: String, target: Target, user: Int? = nil, message: PushMessage? = nil, text: PushPayload,
    collapseID: String? = nil, expires: Date? = nil, isCollapsible: Bool = true
  ) {
    (self.id, self.target, self.user) = (id, target, user)
    (self.message, self.text) = (message, text)
    (self.collapseID, self.expires, self.isCollapsible) = (collapseID, expires, isCollapsible)
  }
}
