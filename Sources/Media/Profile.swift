/// A named set of rendition options with hard limits, rendered for every notification before its push.
package struct Profile: Sendable, Hashable {
  /// The value of the query parameter `profile`.
  package let name: String
  /// The largest width, in pixels.
  package let width: Int
  /// The largest height, in pixels.
  package let height: Int
  /// The largest rendition, in bytes.
  package let maxBytes: Int

  /// The largest rendition of a media type, in bytes: a film or a sound is sent as it is, and only iPhones limit it.
  package func limit(of mediaType: String) -> Int {
    switch mediaType.prefix(6) {
    case "video/": Self.largestFilm
    case "audio/": Self.largestSound
    default: maxBytes
    }
  }

  /// The largest film and sound of an iPhone's notification, in bytes (UNNotificationAttachment).
  package static let largestFilm = 50_000_000
  package static let largestSound = 5_000_000

  /// The devices that it is for, as text for people.
  package var devices: String {
    switch name {
    case "ios": "iPhones"
    case "android": "Android"
    case "watch": "watches"
    case "web": "browsers"
    default: "small previews"
    }
  }

  /// Where it is shown, as text for people.
  package var place: String { name == "web" ? "in browsers" : "on \(devices)" }

  /// Whether its devices play animations.
  package var plays: Bool { name == "ios" || name == "web" }

  /// Every profile; `docs/IMAGES.md` has the reason for each figure.
  package static let all = [
    Profile(name: "ios", width: 1170, height: 1170, maxBytes: 10_000_000),
    Profile(name: "android", width: 1440, height: 1440, maxBytes: 1_000_000),
    Profile(name: "watch", width: 400, height: 480, maxBytes: 60_000),
    Profile(name: "web", width: 1920, height: 1920, maxBytes: 2_000_000),
    Profile(name: "thumb", width: 160, height: 160, maxBytes: 24_000),
  ]

  /// The profile of this name, or nil.
  package static func named(_ name: String) -> Profile? { all.first { $0.name == name } }
}

/// How a picture fills the requested size.
package enum Fit: String, Sendable {
  /// The whole picture, inside the size.
  case contain
  /// The whole size; what extends beyond it is cropped.
  case cover
}
