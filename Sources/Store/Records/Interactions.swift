package import FoundationEssentials

/// A button of a notification that a user has pressed, or a reply, to be stored.
package struct InteractionInsert: Sendable {
  /// What it is.
  package enum Event: String, Sendable {
    /// A button was pressed.
    case action
    /// A text was written.
    case reply
  }

  /// The notification.
  package let notification: Int
  /// Who it is from.
  package let user: UserID
  /// The registration of the device, or nil.
  package let device: String?
  /// What it is.
  package let event: Event
  /// The ID of the button.
  package let action: String
  /// The text of a reply.
  package let text: String?
  /// What tells the replies of a device from their repetitions; nil for a button, which counts once.
  package let key: String?

  /// A button that was pressed.
  package init(action: String, of notification: Int, user: UserID, device: String?) {
    (event, text, key) = (.action, nil, nil)
    (self.notification, self.user, self.device) = (notification, user, device)
    self.action = action
  }

  /// A reply; `key` is the same when it is repeated.
  package init(
    reply text: String, key: String, to action: String, of notification: Int, user: UserID,
    device: String?
  ) {
    (event, self.text, self.key) = (.reply, text, key)
    (self.notification, self.user, self.device) = (notification, user, device)
    self.action = action
  }
}

/// What is known of a button that was pressed, or of a reply.
package struct StoredInteraction: Sendable, Equatable {
  /// Rises with every one.
  package let id: Int
  /// The user's name.
  package let user: String
  /// The registration of the device; empty without one.
  package let device: String
  /// `action` or `reply`.
  package let event: String
  /// The ID of the button.
  package let action: String
  /// The text of a reply.
  package let text: String?
  /// When it came.
  package let time: Date
}

/// Buttons that recipients pressed, and their replies, which are kept as long as their notification and their user.
package protocol Interactions: Sendable {
  /// Stores it with its event for the publisher.
  ///
  /// Throws `conflict` for another text with the key of an earlier reply of the device, and if the device has replied
  /// as often as it may (``UserQuota/replies``).
  func add(_ new: InteractionInsert) async throws -> InteractionResult
  /// Those of a notification whose numbers are larger than `after`, in their order, at most `limit`.
  func interactions(of notification: Int, after: Int, limit: Int) async throws
    -> [StoredInteraction]
}

/// What became of an interaction that was to be stored.
package enum InteractionResult: Sendable {
  /// It is stored now.
  case added
  /// It is stored already.
  case repeated
  /// The user has no such notification.
  case notFound
}
