import RichPushAPI
package import Store

/// Who may use a route.
enum Access: Sendable, Equatable {
  /// Everyone, without credentials.
  case anybody
  /// Every user.
  case user
  /// Publishers and admins.
  case publisher
  /// Admins.
  case admin

  /// Checks the caller's role.
  ///
  /// - Throws: `forbidden`, with a sentence that names the required role.
  func check(_ caller: Caller) throws(ServiceError) {
    let (isAllowed, required) =
      switch self {
      case .anybody, .user: (true, "")
      case .publisher: (caller.mayPublish, "a publisher or an admin")
      case .admin: (caller.role == .admin, "an admin")
      }
    guard isAllowed else {
      throw ServiceError(
        .forbidden,
        "Only \(required) may do this; the account \(caller.name.quoted) has the role \(caller.role.rawValue)."
      )
    }
  }
}

/// The user whose credentials a request carries.
package struct Caller: Sendable, Hashable {
  /// Identifies the user; the name may belong to another user later.
  package let id: UserID
  package let name: String
  package let role: Role
  /// The hash that the password was compared with; nil for a guest of demo mode.
  let hash: String?

  /// The caller of a route that needs no credentials.
  static let anybody = Caller(id: UserID(rawValue: 0), name: "", role: .device, hash: nil)

  /// Whether the role allows notifications for others, uploads and asset lists.
  var mayPublish: Bool { role != .device }
}

extension Accounts {
  /// Whether a caller whose credentials were verified before is still that user, with that password and role.
  func isCurrent(_ caller: Caller) async throws -> Bool {
    guard let hash = caller.hash else { return try await isUser(caller.id) }
    let user = try await user(named: caller.name)
    return user?.id == caller.id && user?.hash == hash && user?.role == caller.role
  }
}
