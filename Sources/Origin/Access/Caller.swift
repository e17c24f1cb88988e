package import Store

/// Who asks: a user whose credentials were verified.
package struct Caller: Sendable, Hashable {
  /// What belongs to the caller belongs to the number; the name may be another's later.
  package let id: UserID
  package let name: String
  package let role: Role
  /// The hash that the password was compared with; nil for a guest of the demonstration.
  let hash: String?

  /// Whoever comes to a place that asks for no name.
  static let anybody = Caller(id: UserID(rawValue: 0), name: "", role: .device, hash: nil)

  /// Whether notifications for others, uploads and asset lists are theirs to ask for.
  var mayPublish: Bool { role != .device }
}
