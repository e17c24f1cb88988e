package import FoundationEssentials

/// What became of one attempt to send a push.
package enum PushOutcome: Sendable, Equatable {
  /// The service took it; the reference is the service's own name for the push.
  case delivered(reference: String?)
  /// This push has to wait, for instance because its device gets too many; others may go on.
  case retry(after: Duration?, reason: String)
  /// The service is out of order or overloaded: the whole lane should slow down.
  case unavailable(after: Duration?, reason: String)
  /// The device is gone; forget its token unless it was registered again after `since`.
  case deadToken(since: Date?, reason: String)
  /// No repetition will ever help.
  case rejected(reason: String)
  /// The operator has to mend something first; jobs stay queued.
  case laneStopped(reason: String)
}
