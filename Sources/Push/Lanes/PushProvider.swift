/// A push service: takes pushes and says what became of each.
package protocol PushProvider: Sendable {
  /// The lane's name, as in `--push`: `apns`, `azure`, `webhook`.
  var name: String { get }

  /// How many pushes may be under way at once.
  var capacity: Int { get }

  /// Whether silent pushes through this service are kept within Apple's three an hour.
  var governsSilentPushes: Bool { get }

  /// Sends one push; always answers within a minute or so, and at once when its task is cancelled.
  func send(_ push: OutgoingPush) async -> PushOutcome

  /// Sends several at once and returns after the last; `then` hears the outcome of each, with its
  /// place among them, as soon as it is known.
  func send(
    _ pushes: [OutgoingPush], then: @escaping @Sendable (Int, PushOutcome) -> Void
  ) async
}

extension PushProvider {
  /// Sends each for itself.
  package func send(
    _ pushes: [OutgoingPush], then: @escaping @Sendable (Int, PushOutcome) -> Void
  ) async {
    await withDiscardingTaskGroup { group in
      for (index, push) in pushes.enumerated() {
        group.addTask { then(index, await send(push)) }
      }
    }
  }
}
