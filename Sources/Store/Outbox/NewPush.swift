/// One text to push over one lane, with a job for each device that shall get it.
package struct NewPush: Sendable {
  /// Whom it is for.
  package enum Target: Sendable {
    /// Registrations by id; one that is gone when the job is written gets none.
    case devices([String])
    /// Whoever the push service itself has registered for a tag expression, in one job; these are the
    /// devices of one user, if one is named.
    case audience(String, user: UserID? = nil)
  }

  /// The lane (push provider) that sends it.
  package var lane: String
  /// Whom it is for.
  package var target: Target
  /// The kind of push the text is (`background` or `alert`).
  package var kind: String
  /// Writes the text from the notification's id.
  package var text: @Sendable (_ id: Int) -> String
  /// Writes the alert that may be sent instead, or nil.
  package var fallback: (@Sendable (_ id: Int) -> String)?
  /// Pushes to one device with the same collapse id are sent in their order and replace each other.
  package var collapseID: (@Sendable (_ id: Int) -> String)?

  /// Describes a push; everything else can be set afterwards.
  package init(
    lane: String, target: Target, kind: String, text: @escaping @Sendable (_ id: Int) -> String
  ) {
    self.lane = lane
    self.target = target
    self.kind = kind
    self.text = text
  }
}
