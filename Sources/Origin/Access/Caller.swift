package import Store

/// Who asks: a user whose credentials were verified.
package struct Caller: Sendable, Hashable {
  package let name: String
  package let role: Role
  /// The hash that the password was compared with; nil for a guest of the demonstration.
  let hash: String?

  /// Whoever comes to a place that asks for no name.
  static let anybody = Caller(name: "", role: .device, hash: nil)

  /// Whether notifications for others, uploads and asset lists are theirs to ask for.
  var mayPublish: Bool { role != .device }
}
