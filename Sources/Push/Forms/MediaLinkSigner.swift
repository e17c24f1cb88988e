package import FoundationEssentials

/// Makes and checks addresses at which a service extension fetches media without a password.
package struct MediaLinkSigner: Sendable {
  /// What one address allows: one user to fetch one notification in one profile, until a time.
  package struct Grant: Sendable, Equatable {
    package let id: Int
    package let user: String
    package let profile: String
    /// Whole seconds since 1970.
    package let expires: Int

    package init(id: Int, user: String, profile: String, expires: Int) {
      self.id = id
      self.user = user
      self.profile = profile
      self.expires = expires
    }
  }

  private let base: String
  private let key: [UInt8]

  /// A signer for the server at `base` (such as `https://push.example`, no slash at its end).
  package init(base: String, key: [UInt8]) {
    self.base = base
    self.key = key
  }

  /// The signed address of a notification's media.
  package func url(for grant: Grant) -> String {
    "\(base)/api/notifications/\(grant.id)?profile=\(PercentEncoding.encoded(grant.profile))"
      + "&user=\(PercentEncoding.encoded(grant.user))&expires=\(grant.expires)"
      + "&signature=\(Signing.base64URL(code(for: grant)))"
  }

  /// Whether the signature is ours, for just this grant, and its time is not over.
  package func allows(_ grant: Grant, signature: String, at now: Date) -> Bool {
    let expected = Array(Signing.base64URL(code(for: grant)).utf8)
    return Signing.isEqual(expected, Array(signature.utf8))
      && now.timeIntervalSince1970 < Double(grant.expires)
  }

  private func code(for grant: Grant) -> [UInt8] {
    let fields = [grant.profile, grant.user].map { PercentEncoding.encoded($0) }
    let message = "\(grant.id)&\(fields[0])&\(fields[1])&\(grant.expires)"
    return Signing.hmac(key: key, Array(message.utf8))
  }
}
