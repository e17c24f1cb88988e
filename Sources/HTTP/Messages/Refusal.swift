/// Why a request is refused before any responder sees it.
package struct Refusal: Error, Sendable {
  /// The status that says so.
  package let status: Int
  /// A sentence a person can act on.
  package let reason: String

  init(_ status: Int, _ reason: String) {
    self.status = status
    self.reason = reason
  }

  var response: Response { .problem(status, reason) }
}

extension Refusal {
  static func tooLarge(_ limit: Int) -> Refusal {
    Refusal(413, "The body is larger than the \(limit) bytes that are taken here.")
  }
}
