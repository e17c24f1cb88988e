package import Store

/// The assets whose content a sender may name as payload.
package enum UsableAssets: Sendable, Equatable {
  /// All in the drop folder.
  case all
  /// Those with which the user was sent a notification that is still there, with the content that had.
  case sent(to: UserID)
}
