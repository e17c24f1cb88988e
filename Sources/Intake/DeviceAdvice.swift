import Media
import MediaTypes

/// Advice for the author of a usable asset, derived from its renditions.
struct DeviceAdvice: Sendable {
  private let original: Int
  private let animation: DeviceRendition?
  private var served: [(rendition: DeviceRendition, profile: Profile)] = []
  private var sentences: [String] = []

  /// From this size in bytes, the advice includes the size of the renditions.
  private static let large = 2_000_000
  /// The largest picture that Firebase displays on Android, in bytes.
  private static let firebasePicture = 1_000_000
  /// The largest attachments of iOS, in bytes (UNNotificationAttachment).
  private static let applePicture = 10_000_000
  private static let applePictures: Set = ["image/jpeg", "image/png", "image/gif"]

  /// `original` is the size of the file; `animation` is the rendition without options if the file is animated.
  init(original: Int, animation: DeviceRendition? = nil) {
    (self.original, self.animation) = (original, animation)
  }

  /// Whether there is no rendition for any device.
  var isEmpty: Bool { served.isEmpty }

  /// Adds the rendition for a profile's devices.
  mutating func add(_ rendition: DeviceRendition, for profile: Profile) {
    served.append((rendition, profile))
    let isPicture = rendition.type.hasPrefix("image/")
    switch profile.name {
    case "ios" where isPicture && !Self.applePictures.contains(rendition.type):
      let name = MediaType(rendition.type)?.fileExtension.uppercased() ?? rendition.type
      sentences.append("iPhones show JPEG, PNG and GIF in a notification, not \(name).")
    case "ios" where isPicture: addExcess(rendition, Self.applePicture, "for iPhones")
    case "ios" where rendition.type.hasPrefix("video/"):
      addExcess(rendition, Profile.largestFilm, "for iPhones")
    case "android" where isPicture: addExcess(rendition, Self.firebasePicture, "for Android")
    default: break
    }
  }

  private mutating func addExcess(_ rendition: DeviceRendition, _ limit: Int, _ purpose: String) {
    guard rendition.bytes > limit else { return }
    sentences.append(Self.excess(rendition.bytes, over: limit, purpose))
  }

  /// Adds that there is no rendition for a profile.
  mutating func addMissing(_ profile: Profile, _ reason: String) {
    sentences.append("There is no version for \(profile.devices): \(reason)")
  }

  /// The advice; nil if there is none.
  var text: String? {
    var all = playback + sentences
    let largest = served.map(\.rendition.bytes).max() ?? 0
    if original >= Self.large, largest < original / 2 {
      all.insert("\(Self.size(original)) original; devices get \(Self.size(largest)).", at: 0)
    }
    return all.isEmpty ? nil : all.joined(separator: " ")
  }

  /// Which devices get an animation that they play, and for which it is too large.
  private var playback: [String] {
    guard let animation else { return [] }
    let players = served.filter { $0.profile.plays }
    let places = players.filter(\.rendition.moves).map(\.profile.place).joined(separator: " and ")
    // One that is never sent as an animation is not too large for it.
    let still = players.filter { animation.moves && !$0.rendition.moves }
    let excesses = still.filter { original > $0.profile.maxBytes }.map {
      Self.excess(original, over: $0.profile.maxBytes, "to move \($0.profile.place)")
    }
    return excesses + [
      places.isEmpty
        ? "All devices show its first picture only."
        : "It moves \(places); other devices show its first picture."
    ]
  }

  private static func excess(_ bytes: Int, over limit: Int, _ purpose: String) -> String {
    let (amount, most) = (size(bytes), size(limit))
    let excess = amount == most ? "slightly over the limit of" : "\(amount), the limit is"
    return "Too big \(purpose): \(excess) \(most)."
  }

  /// A size in bytes for people.
  static func size(_ bytes: Int) -> String {
    let text =
      switch bytes {
      case ..<1000: "\(bytes) bytes"
      case ..<1_000_000: "\((bytes + 500) / 1000) kB"
      case ..<10_000_000: "\(bytes / 1_000_000).\(bytes / 100_000 % 10) MB"
      default: "\((bytes + 500_000) / 1_000_000) MB"
      }
    return text.replacing(".0 MB", with: " MB")
  }
}

/// The rendition of an asset for a device.
struct DeviceRendition: Sendable {
  let type: String
  let bytes: Int
  /// Whether it is a picture with more than one frame.
  var moves = false
  /// Whether it is stored, as a file that is the same for all.
  var isKept = true
}

extension DeviceRendition {
  /// A rendition that is not kept has no reliable size.
  init(_ media: RenderedMedia) {
    let stored = media.stored
    self.init(
      type: media.mediaType, bytes: stored?.size ?? 0,
      moves: stored.flatMap { OpenFile($0.path) }?.isAnimation ?? false, isKept: stored != nil)
  }
}
