/// The tokens that a client's devices send instead of a password; all copies of a client share them.
///
/// A device keeps at most two tokens, so requests that need one at the same time must share it.
actor DeviceTokens {
  private var tokens: [String: Task<String, any Error>] = [:]

  /// Creates tokens with those that are known already.
  init(_ known: [String: String] = [:]) {
    tokens = known.mapValues { token in Task { token } }
  }

  /// The token of a device, which `issue` requests if there is none, or only the one that the server has rejected.
  ///
  /// Who waits for the same request gets the same error: a server that is away is not asked by one after the other.
  func token(
    of device: String, insteadOf rejected: String? = nil,
    issue: @escaping @Sendable () async throws -> String
  ) async throws -> String {
    while let known = tokens[device] {
      let token = try await known.value
      if token != rejected { return token }
      // Another caller may have replaced it meanwhile.
      if tokens[device] == known { tokens[device] = nil }
    }
    let issued = Task { try await issue() }
    tokens[device] = issued
    do { return try await issued.value } catch {
      if tokens[device] == issued { tokens[device] = nil }
      throw error
    }
  }
}
