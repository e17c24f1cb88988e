public import RichPushAPI

/// Adding devices by one-time codes, and people who sign up.
extension RichPushClient {
  /// Makes a code by which one device is added without a password: the caller's or, for admins, another user's.
  ///
  /// ```swift
  /// print(try await client.pair().link)
  /// ```
  public func pair(_ user: String? = nil) async throws -> IssuedPairing {
    try await value(request("POST", ["api", "pairings"], json: NewPairing(user: user)))
  }

  /// The open codes of the caller or, for admins, of another user; what they are is not shown again.
  ///
  /// ```swift
  /// for pairing in try await client.pairings().pairings { print(pairing.id, pairing.expires) }
  /// ```
  public func pairings(of user: String? = nil) async throws -> PairingList {
    try await value(request("GET", ["api", "pairings"], query: Self.query([("user", user)])))
  }

  /// Revokes an open code.
  ///
  /// ```swift
  /// for pairing in try await client.pairings().pairings { try await client.endPairing(pairing.id) }
  /// ```
  public func endPairing(_ id: Int) async throws {
    try await send(request("DELETE", ["api", "pairings", String(id)]))
  }

  /// Uses a code that a user has been given, for this device: its registration, which gets pushes once it is
  /// registered again, and its token for ``RichPushClient/init(endpoint:user:device:token:)``.
  ///
  /// ```swift
  /// let paired = try await RichPushClient(endpoint: server, user: "", password: "").use(code: scanned)
  /// client = RichPushClient(
  ///   endpoint: server, user: paired.user, device: paired.registration, token: paired.token)
  /// ```
  public func use(code: String, name: String? = nil) async throws -> PairedDevice {
    var use = PairingUse(code: code)
    (use.name, use.language) = (name, languages.first)
    return try await value(request("POST", ["api", "pair"], json: use))
  }

  /// Those who have signed up and wait for an admin; `after` takes the `next` of a page.
  ///
  /// ```swift
  /// for one in try await client.signUps().signUps { try await client.approveSignUp(of: one.user) }
  /// ```
  public func signUps(after: Int? = nil, limit: Int? = nil) async throws -> SignUpPage {
    let query = Self.query([("after", after.map(String.init)), ("limit", limit.map(String.init))])
    return try await value(request("GET", ["api", "sign-ups"], query: query))
  }

  /// Gives a user who waits the wanted subjects.
  ///
  /// ```swift
  /// try await client.approveSignUp(of: "guest-k7mw2xq9ab")
  /// ```
  public func approveSignUp(of user: String) async throws {
    try await send(request("POST", ["api", "sign-ups", user]))
  }

  /// Removes a user who waits.
  ///
  /// ```swift
  /// try await client.refuseSignUp(of: "guest-k7mw2xq9ab")
  /// ```
  public func refuseSignUp(of user: String) async throws {
    try await send(request("DELETE", ["api", "sign-ups", user]))
  }
}
