/// What went wrong in this room, and a sentence that an operator can act on.
package struct PushError: Error, Equatable, CustomStringConvertible {
  /// The kinds of trouble a caller may want to tell apart.
  package enum Code: Sendable {
    /// A tag or tag expression does not follow the grammar, or is beyond its limits.
    case malformedTags
    /// A setting is missing or makes no sense; the reason names the variable.
    case configuration
    /// A key or secret can't be used.
    case key
    /// Nothing was heard from the service.
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
