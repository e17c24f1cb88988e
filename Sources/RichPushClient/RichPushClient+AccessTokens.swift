public import RichPushAPI

/// Access tokens, with which programs send for a publisher.
///
/// Such a program signs in with the token instead of the password.
extension RichPushClient {
  /// Makes an access token, whose secret is not shown again: the caller's or, for admins, of the user that it names.
  ///
  /// ```swift
  /// let ci = try await client.addAccessToken(NewAccessToken("ci", to: .tags("news")))
  /// client = RichPushClient(endpoint: server, user: ci.accessToken.user, password: ci.token)
  /// ```
  public func addAccessToken(_ new: NewAccessToken) async throws -> IssuedAccessToken {
    try await value(request("POST", ["api", "tokens"], json: new))
  }

  /// The access tokens of the caller or, for admins, of another user.
  ///
  /// ```swift
  /// for token in try await client.accessTokens().tokens where token.used == nil { print(token.name) }
  /// ```
  public func accessTokens(of user: String? = nil) async throws -> AccessTokenList {
    try await value(request("GET", ["api", "tokens"], query: Self.query([("user", user)])))
  }

  /// Removes an access token, which does not count from then on.
  ///
  /// ```swift
  /// for token in try await client.accessTokens().tokens { try await client.removeAccessToken(token.id) }
  /// ```
  public func removeAccessToken(_ id: Int) async throws {
    try await send(request("DELETE", ["api", "tokens", String(id)]))
  }
}
