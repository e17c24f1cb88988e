package import Store

/// Who asks: a user whose credentials were verified.
package struct Caller: Sendable, Hashable {
  package let name: String
  package let role: Role

  /// Whether notifications for others, uploads and asset lists are theirs to ask for.
  var mayPublish: Bool { role != .device }
}
