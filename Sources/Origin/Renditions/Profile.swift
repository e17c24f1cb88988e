/// A named set of rendition options with hard limits, made for every notification before its push.
package struct Profile: Sendable, Hashable {
  /// What the query says: `profile=ios`.
  package let name: String
  /// The widest and highest picture, in pixels.
  package let edge: Int
  /// How a picture fills the square: `contain` or `cover`.
  package let fit: Fit
  /// The largest rendition, in bytes.
  package let maxBytes: Int

  /// Every profile there is.
  ///
  /// The ceilings are the phones': an iOS attachment image is at most 10 MB
  /// (`UNNotificationAttachment`), Firebase shows at most 1 MB on Android.
  package static let all = [
    Profile(name: "ios", edge: 1170, fit: .contain, maxBytes: 10_000_000),
    Profile(name: "android", edge: 1080, fit: .contain, maxBytes: 1_000_000),
    Profile(name: "watch", edge: 400, fit: .contain, maxBytes: 64_000),
    Profile(name: "web", edge: 1920, fit: .contain, maxBytes: 2_000_000),
    Profile(name: "thumb", edge: 160, fit: .cover, maxBytes: 32_000),
  ]

  /// The profile of this name, or nil.
  package static func named(_ name: String) -> Profile? { all.first { $0.name == name } }
}

/// How a picture fills the size asked for.
package enum Fit: String, Sendable {
  /// The whole picture, inside the size.
  case contain
  /// The whole size, with the picture's overhang cut away.
  case cover
}
