import Store

/// The users of a data folder, for the command line; it works beside a running server.
package struct Users: Sendable {
  private let store: Store

  /// Opens the data folder.
  package init(data: String) throws { store = try Store(folder: data, access: .guest) }

  /// Adds a user.
  ///
  /// - Throws: `UsersError` for a bad name or role, or a name that is taken.
  package func add(_ name: String, password: String, role: String) async throws {
    guard UserName.isValid(name) else {
      throw UsersError(
        "a user's name has from 1 to 64 letters, digits and “-_.@”, not \(name.quoted)")
    }
    guard let role = Role(rawValue: role) else {
      throw UsersError("a role is device, publisher or admin, not \(role.quoted)")
    }
    guard let hash = PasswordHash.make(password) else {
      throw UsersError("the password could not be hashed by crypt(3)")
    }
    do {
      try await store.addUser(name, hash: hash, role: role)
    } catch let error as StoreError where error.code == .conflict {
      throw UsersError(error.reason)
    }
  }

  /// Everybody, by name.
  package func list() throws -> [(name: String, role: String)] {
    try store.users().map { ($0.name, $0.role.rawValue) }
  }

  /// Removes a user with all registrations.
  package func remove(_ name: String) async throws {
    guard try await store.removeUser(name) else {
      throw UsersError("there is no user \(name.quoted)")
    }
  }
}

/// Why users could not be changed.
package struct UsersError: Error {
  /// A sentence for the person at the keyboard.
  package let reason: String

  init(_ reason: String) { self.reason = reason }
}
