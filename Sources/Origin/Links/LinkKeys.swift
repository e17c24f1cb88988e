package import FoundationEssentials
import Store

/// The keys that sign addresses of media, for the command line; it works beside a running server.
package struct LinkKeys: Sendable {
  private let store: Store

  /// Opens the data folder.
  package init(data: String) throws { store = try Store(folder: data, access: .guest) }

  /// Every key that is valid, the one that signs first.
  package func list() throws -> [(id: Int, created: Date)] {
    try store.linkKeys().map { ($0.id, $0.created) }
  }

  /// Makes the key that signs from now on, and returns its id.
  package func rotate() async throws -> Int { try await store.addLinkKey() }

  /// Ends every address that an older key signed.
  ///
  /// - Throws: `LinkKeysError` for the key that signs, and for one that does not exist.
  package func remove(_ id: Int) async throws {
    guard try await store.removeLinkKey(id) else {
      throw LinkKeysError(
        reason: "there is no older key \(id); the newest signs, so rotate before you remove it")
    }
  }
}

/// Why the keys could not be changed.
package struct LinkKeysError: Error {
  /// A sentence for the person at the keyboard.
  package let reason: String
}
