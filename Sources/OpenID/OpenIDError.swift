/// Why nobody could be signed in by a provider: a code for programs, and a reason for the operator.
package struct OpenIDError: Error, Equatable, CustomStringConvertible {
  /// The kinds of failure that a caller can tell apart.
  package enum Code: Sendable {
    /// The provider does not answer, or not in time.
    case away
    /// Its answer is not what the specification requires, or it refuses a request.
    case provider
    /// It refuses this client: its ID or its secret.
    case client
    /// A token is not valid for this client, or not now.
    case token
  }

  package let code: Code
  package let reason: String

  init(_ code: Code, _ reason: String) { (self.code, self.reason) = (code, reason) }

  package var description: String { reason }
}
