import Store

/// Who may use a route.
enum Access: Sendable, Equatable {
  /// Everybody; no name and password are asked for.
  case anybody
  /// Every user.
  case user
  /// Publishers and admins.
  case publisher
  /// Admins.
  case admin

  /// Refuses a caller without the role.
  ///
  /// - Throws: 403, with a sentence that names the role.
  func check(_ caller: Caller) throws(Refusal) {
    let (isAllowed, who) =
      switch self {
      case .anybody, .user: (true, "")
      case .publisher: (caller.mayPublish, "a publisher or an admin")
      case .admin: (caller.role == .admin, "an admin")
      }
    guard isAllowed else {
      throw Refusal(
        403,
        "Only \(who) may do this; the account \(caller.name.quoted) has the role \(caller.role.rawValue)."
      )
    }
  }
}
