package import FoundationEssentials

/// A push in the outbox, leased to a lane.
package struct PushJob: Sendable, Identifiable {
  /// The outbox's own number of the job.
  package let id: Int
  package let push: OutgoingPush
  /// How often it was tried before.
  package let attempts: Int
  /// What to show instead when the device may not be woken silently again so soon.
  package let fallback: PushText?
  /// When silent pushes were sent to the same device within the last hour.
  package let recentWakes: [Date]

  package init(
    id: Int, push: OutgoingPush, attempts: Int = 0, fallback: PushText? = nil,
    recentWakes: [Date] = []
  ) {
    self.id = id
    self.push = push
    self.attempts = attempts
    self.fallback = fallback
    self.recentWakes = recentWakes
  }
}
