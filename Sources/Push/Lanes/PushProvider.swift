/// A push service: takes one push at a time and says what became of it.
package protocol PushProvider: Sendable {
  /// The lane's name, as in `--push`: `apns`, `azure`, `webhook`.
  var name: String { get }

  /// How many pushes may be under way at once.
  var capacity: Int { get }

  /// Whether silent pushes through this service are kept within Apple's three an hour.
  var governsSilentPushes: Bool { get }

  /// Sends one push; always answers within a minute or so, and at once when its task is cancelled.
  func send(_ push: OutgoingPush) async -> PushOutcome
}
