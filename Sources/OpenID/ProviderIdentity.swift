import JSON

/// Who has signed in at a provider.
package struct ProviderIdentity: Sendable {
  /// The provider's name of the user, which never changes.
  package let subject: String
  /// What a new user is called; nil if the provider does not say, or has not verified it.
  package let name: String?
  /// The user's groups; nil if the provider does not say.
  package let groups: [String]?
  /// The provider's name of the session, by which it ends it; nil if it has none.
  package let session: String?
  /// The token, by which the session can be ended at the provider.
  package let token: String

  /// Whether the provider has named more groups elsewhere, since there are too many.
  let lacksGroups: Bool

  /// Reads the claims of an ID token, and those of the provider's user information.
  init(
    _ claims: TokenClaims, _ information: JSONTree?, token: String,
    _ configuration: OpenIDConfiguration
  ) throws(OpenIDError) {
    subject = try claims.subject()
    self.token = token
    session = claims.tree["sid"]?.text.flatMap { $0.utf8.count <= 255 ? $0 : nil }
    let sources = [claims.tree, information].compactMap(\.self)
    let name = sources.lazy.compactMap { Self.claim(configuration.nameClaim, in: $0)?.text }.first
    let isUnverified =
      configuration.nameClaim == "email"
      && sources.contains { source in
        source["email_verified"].map { ![.bool(true), .string("true")].contains($0) } ?? false
      }
    self.name = isUnverified ? nil : name
    groups =
      sources.lazy.compactMap { source -> [String]? in
        switch Self.claim(configuration.groupsClaim, in: source) {
        case .string(let one)?: [one]
        case .array(let all)?: all.compactMap(\.text)
        default: nil
        }
      }.first
    lacksGroups = sources.contains { $0["_claim_names"]?[configuration.groupsClaim] != nil }
  }

  /// A claim by its name or, if there is none, by the names on the way to it, such as `realm_access.roles`.
  private static func claim(_ name: String, in tree: JSONTree) -> JSONTree? {
    if let claim = tree[name] { return claim }
    return name.split(separator: ".").reduce(tree) { tree, part in tree?[String(part)] }
  }
}

/// Whose sessions a provider has ended: of a user, or one.
package struct EndedSessions: Sendable, Equatable {
  /// The provider's name of the user.
  package let subject: String?
  /// The provider's name of the session; nil for all of the user.
  package let session: String?
}
