package import FoundationEssentials

/// What the outbox is to remember about a leased job; its lease ends with it.
package struct Settlement: Sendable, Equatable {
  /// The job's new state.
  package enum Outcome: Sendable, Equatable {
    /// Sent as this kind of push; the note, if any, belongs into the receipt.
    case delivered(as: PushText.Kind, reference: String?, note: String?)
    /// Tried in vain; try again then. Counts as an attempt.
    case retry(at: Date, reason: String)
    /// Not tried; lease it again then. Doesn't count as an attempt.
    case released(until: Date, reason: String)
    /// A dead letter, and the device's registration goes unless it was renewed after `since`.
    case deadToken(since: Date?, reason: String)
    /// A dead letter.
    case rejected(reason: String)
    /// Its time was over before it could be sent.
    case expired
  }

  /// The number of the job.
  package let job: Int
  /// What became of it.
  package let outcome: Outcome

  package init(job: Int, outcome: Outcome) {
    self.job = job
    self.outcome = outcome
  }
}
