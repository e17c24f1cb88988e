/// What somebody waited for, to be told once no lock is held.
///
/// To resume a task takes the task's own lock; whoever cancels the task holds that lock while the task's
/// cancellation handler asks for ours.
struct News<Outcome: Sendable>: Sendable {
  private let waiting: CheckedContinuation<Outcome, Never>
  private let outcome: Outcome

  init(_ outcome: consuming Outcome, for waiting: CheckedContinuation<Outcome, Never>) {
    (self.outcome, self.waiting) = (outcome, waiting)
  }

  /// Tells it, and keeps nothing of it a moment longer than whoever is told.
  consuming func tell() {
    let (waiting, outcome) = (waiting, outcome)
    _ = consume self
    waiting.resume(returning: consume outcome)
  }
}
