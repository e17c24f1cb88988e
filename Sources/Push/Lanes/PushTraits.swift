package import FoundationEssentials

/// What a push service takes and where it differs from others.
package struct PushTraits: Sendable, Equatable {
  /// The lanes that send to a service.
  package enum Lanes: Sendable {
    /// None: the server's own stream of events.
    case none
    /// One, of the service's name.
    case one
    /// One for each server that devices name in their endpoints.
    case onePerOrigin
  }

  /// The platforms that it sends to; first the one that it is made for.
  package var platforms: [Platform]
  package var lanes = Lanes.one
  /// The most bytes of a payload.
  package var largestPayload: Int
  /// The profile (`ios`, `android`) whose rendition payloads link to.
  package var profile: String
  /// Whether silent pushes are kept within Apple's budget, beyond which devices get an alert (`SilentPushBudget`).
  package var limitsSilentPushes: Bool
  /// How many collapse IDs it holds for a device; nil if their number does not matter.
  package var collapseLimit: CollapseLimit?
  /// Whether pushes have a payload; without one they only wake a device, which then asks what there is.
  package var hasPayload = true
  /// Whether devices are registered with the service itself, which finds them by their tags.
  package var resolvesTags = false
}

/// How many collapse IDs a push service holds for one device; messages with others get none.
package struct CollapseLimit: Sendable, Equatable {
  /// The most collapse IDs of pushes that a device has not fetched.
  package let count: Int
  /// For so many seconds a push counts.
  package let life: TimeInterval
}
