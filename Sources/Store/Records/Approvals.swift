package import FoundationEssentials

/// What a publisher decides on a notification that awaits approval.
package enum NotificationDecision: Sendable, Equatable {
  /// It is sent, if it is still what ``StoredNotification/contentVersion`` says.
  case approve(version: String)
  /// It is withdrawn, for this reason.
  case refuse(reason: String)
}

/// What became of a decision.
package enum ApprovalResult: Sendable, Equatable {
  /// It was recorded.
  case decided(StoredApproval)
  /// There is no such notification, or it has ended.
  case missing
  /// It does not await approval.
  case notAwaiting
  /// It is not what was approved any more.
  case changedMeanwhile
  /// Who decides has sent it, or changed it.
  case isOwn
  /// Only an admin may decide, because its sender was removed or may not publish any more.
  case needsAdmin
}

/// Who has decided on a notification.
package struct StoredApproval: Sendable, Equatable {
  /// The name; nil if that user was removed.
  package let user: String?
  /// Why it was refused; nil if it was approved.
  package let reason: String?
  /// When that was.
  package let time: Date
}

/// Notifications for so many people that another publisher has to approve them.
///
/// Whether one has to be approved is decided when it is created, with ``NotificationInsert/approvalAbove``: it counts its
/// recipients and, unless it is for one person alone, those of other notifications for several people with the same
/// message and media that its sender has created in the hour before.
package protocol Approvals: Sendable {
  /// Notifications of all senders that await approval, newest first, with IDs below `before`, at most `limit`.
  func awaitingApproval(before: Int?, limit: Int) async throws -> [SentNotification]
  /// Decides, as a user who has neither sent nor changed it, on a notification that awaits approval, once.
  ///
  /// What is approved is due when it was to be sent, or now if that is past; its recipients stay as they are.
  func decide(
    _ id: Int, _ decision: NotificationDecision, by user: UserID, isAdmin: Bool
  ) async throws -> ApprovalResult
  /// Who has decided on a notification; nil if nobody has.
  func approval(of id: Int) async throws -> StoredApproval?
}
