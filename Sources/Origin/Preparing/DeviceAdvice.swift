/// What an author should know of an asset that can be used, once its renditions are there.
struct DeviceAdvice: Sendable {
  private let original: Int
  private var served: [Served] = []
  private var sentences: [String] = []

  /// From this size on an author hears what devices get of it, in bytes.
  private static let large = 2_000_000
  /// The largest picture that Firebase shows on Android, in bytes.
  private static let firebasePicture = 1_000_000
  /// What iOS attaches, in bytes (UNNotificationAttachment).
  private static let applePicture = 10_000_000
  private static let appleMovie = 50_000_000
  private static let applePictures: Set = ["image/jpeg", "image/png", "image/gif"]

  init(original: Int) { self.original = original }

  /// Whether nothing can be served at all.
  var isEmpty: Bool { served.isEmpty }

  /// Notes what a profile's devices get.
  mutating func add(_ rendition: Served, for profile: Profile) {
    served.append(rendition)
    let isPicture = rendition.type.hasPrefix("image/")
    switch profile.name {
    case "ios" where isPicture && !Self.applePictures.contains(rendition.type):
      sentences.append("iOS attaches JPEG, PNG and GIF, not \(rendition.type).")
    case "ios" where isPicture && rendition.bytes > Self.applePicture:
      sentences.append("iOS attaches pictures of at most 10 MB.")
    case "ios" where rendition.type.hasPrefix("video/") && rendition.bytes > Self.appleMovie:
      sentences.append("iOS attaches movies of at most 50 MB.")
    case "android" where isPicture && rendition.bytes > Self.firebasePicture:
      sentences.append(
        "Android shows pictures of at most 1 MB, and this stays at "
          + "\(Self.size(rendition.bytes)).")
    default: break
    }
  }

  /// Notes that there is nothing for a profile.
  mutating func addMissing(_ profile: Profile, _ reason: String) {
    sentences.append("There is none for \(profile.name): \(reason)")
  }

  /// All of it, or nil when there is nothing to say.
  var text: String? {
    var all = sentences
    let largest = served.map(\.bytes).max() ?? 0
    if original >= Self.large, largest < original / 2 {
      all.insert("\(Self.size(original)) original; devices get \(Self.size(largest)).", at: 0)
    }
    return all.isEmpty ? nil : all.joined(separator: " ")
  }

  /// Bytes as people say them.
  static func size(_ bytes: Int) -> String {
    switch bytes {
    case ..<1000: "\(bytes) bytes"
    case ..<1_000_000: "\((bytes + 500) / 1000) KB"
    case ..<10_000_000: "\(bytes / 1_000_000).\(bytes / 100_000 % 10) MB"
    default: "\((bytes + 500_000) / 1_000_000) MB"
    }
  }
}
