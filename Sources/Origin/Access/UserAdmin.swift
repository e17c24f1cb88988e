import RichPushAPI
package import Store

/// The users of a data folder, for the command line; it works beside a running server.
package struct UserAdmin: Sendable {
  private let store: Store

  /// Opens the data folder.
  package init(data: String) throws { store = try Store(folder: data, access: .shared) }

  /// Whether there can be such a user: the role when there can.
  ///
  /// - Throws: `UserError` for a bad name or role.
  @discardableResult
  package static func check(_ name: String, role: String) throws(UserError) -> Role {
    guard UserName.isValid(name) else {
      throw UserError(
        "a user's name has from 1 to 64 letters, digits and “-_.@”, not \(name.quoted)")
    }
    guard let role = Role(rawValue: role) else {
      throw UserError("a role is device, publisher or admin, not \(role.quoted)")
    }
    return role
  }

  /// Adds a user.
  ///
  /// - Throws: `UserError` for a bad name, password or role, or a name that is taken.
  package func add(_ name: String, password: String, role: String) async throws {
    let role = try Self.check(name, role: role)
    let hash = try NewPassword(password, of: name).hash
    do {
      try await store.addUser(name, hash: hash, role: role)
    } catch let error as StoreError where error.code == .conflict {
      throw UserError(error.reason)
    }
  }

  /// Gives a user another password; a running server ends what the old one opened within seconds.
  ///
  /// - Throws: `UserError` for a bad password, or a name that nobody has.
  package func setPassword(of name: String, to password: String) async throws {
    let hash = try NewPassword(password, of: name).hash
    guard try await store.setPassword(of: name, hash: hash) else {
      throw UserError("there is no user \(name.quoted)")
    }
  }

  /// Everybody, by name.
  package func list() throws -> [(name: String, role: String)] {
    try store.users().map { ($0.name, $0.role.rawValue) }
  }

  /// Removes a user with all registrations.
  package func remove(_ name: String) async throws {
    guard try await store.removeUser(name) else {
      throw UserError("there is no user \(name.quoted)")
    }
  }
}

/// Why users could not be changed.
package struct UserError: Error, CustomStringConvertible {
  /// A sentence for the person at the keyboard.
  package let reason: String

  /// The reason: it is made for reading.
  package var description: String { reason }

  init(_ reason: String) { self.reason = reason }
}
