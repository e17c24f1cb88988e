/// What went wrong: a code for programs and a reason that an operator can act on.
package struct PushError: Error, Equatable, CustomStringConvertible {
  /// The kinds of failure a caller can tell apart.
  package enum Code: Sendable {
    /// A tag or tag expression does not follow the grammar, or is beyond its limits.
    case malformedTags
    /// A setting is missing or invalid; the reason names the variable.
    case configuration
    /// A key or secret can't be used.
    case key
    /// The address of a subscription can't be used.
    case endpoint
    /// The service did not respond.
    case unreachable
  }

  package let code: Code
  package let reason: String

  package init(_ code: Code, _ reason: String) {
    self.code = code
    self.reason = reason
  }

  package var description: String { reason }
}
