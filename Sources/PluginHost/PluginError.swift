/// Why there is no answer from a plugin, as the caller is told.
package struct PluginError: Error, Sendable, Hashable {
  /// The HTTP status: 404, 410, 413, 415, 422, 451, 502, 503 or 504.
  package let status: Int
  /// One sentence a person can act on; for a refusal it is the plugin's own.
  package let reason: String
  /// After how many seconds to try again; set with every 503.
  package let retryAfter: Int?

  /// Makes an error by hand, for the rooms above and their tests.
  package init(status: Int, reason: String, retryAfter: Int? = nil) {
    self.status = status
    self.reason = reason
    self.retryAfter = retryAfter ?? (status == 503 ? 1 : nil)
  }

  /// The kernel bounds an environment.
  static let tooLong = Self(
    status: 413, reason: "The message and payload are too long for a plugin's environment.")

  static func broken(_ reason: String) -> Self { Self(status: 502, reason: reason) }
  static func busy(_ reason: String) -> Self { Self(status: 503, reason: reason) }
}
