import HTTP
import PluginHost

/// What a device asked of a picture, in its canonical form: equal wishes have equal text.
struct RenditionOptions: Sendable, Hashable {
  var profile: Profile?
  var width: Int?
  var height: Int?
  var fit: Fit?
  /// The keys that the plugin's manifest declares, with what the device said, by name.
  var declared: [String: String] = [:]

  /// The original, cleaned.
  static let none = RenditionOptions()

  init() {}

  init(_ profile: Profile) { self.profile = profile }

  /// Reads a query string.
  ///
  /// Sizes are device pixels once `dpr` is multiplied in, and snap up to the ladder. Of the keys that
  /// the plugin declares, those said to be what they are by default are left out.
  init(
    _ query: Query, declaring keys: [String], defaults: [String: String] = [:]
  ) throws(Refusal) {
    var scale = 1.0
    var seen: Set<String> = []
    for (name, value) in query.items {
      guard seen.insert(name).inserted else {
        throw Refusal(400, "The option \(name) is given twice.")
      }
      switch name {
      case "profile":
        guard let profile = Profile.named(value) else {
          let names = Profile.all.map(\.name).joined(separator: ", ")
          throw Refusal(400, "There is no profile \(value.quoted): it is one of \(names).")
        }
        self.profile = profile
      case "width": width = try Self.pixels(name, value)
      case "height": height = try Self.pixels(name, value)
      case "fit":
        guard let fit = Fit(rawValue: value) else {
          throw Refusal(400, "fit is contain or cover, not \(value.quoted).")
        }
        self.fit = fit
      case "dpr":
        guard let ratio = Double(value), (0.5...4).contains(ratio) else {
          throw Refusal(400, "dpr is a number from 0.5 to 4, not \(value.quoted).")
        }
        scale = ratio
      case _ where keys.contains(name):
        guard value.utf8.count <= 256 else {
          throw Refusal(400, "The option \(name) has at most 256 bytes.")
        }
        if defaults[name] != value { declared[name] = value }
      default: throw Refusal(400, "There is no option \(name.quoted).")
      }
    }
    width = width.map { Ladder.snap(Int((Double($0) * scale).rounded(.up))) }
    height = height.map { Ladder.snap(Int((Double($0) * scale).rounded(.up))) }
    let isSized = width != nil || height != nil || profile != nil
    if !isSized || fit == .contain { fit = nil }
  }

  private static func pixels(_ name: String, _ value: String) throws(Refusal) -> Int {
    guard let pixels = Int(value), (1...100_000).contains(pixels) else {
      throw Refusal(400, "\(name) is a whole number of pixels from 1 up, not \(value.quoted).")
    }
    return pixels
  }

  /// The canonical text: the query string a plugin sees, and the cache key.
  var items: [(name: String, value: String)] {
    var items: [(name: String, value: String)] = []
    if let profile { items.append(("profile", profile.name)) }
    if let width { items.append(("width", String(width))) }
    if let height { items.append(("height", String(height))) }
    if let fit { items.append(("fit", fit.rawValue)) }
    if declared.isEmpty { return items }
    return items + declared.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// The same with the profile's limits filled in, as a plugin gets them.
  var limits: PluginOptions {
    let sized = width != nil || height != nil
    return PluginOptions(
      profile: profile?.name, width: sized ? width : profile?.width,
      height: sized ? height : profile?.height, fit: fit?.rawValue, dpr: nil,
      maxBytes: profile?.maxBytes)
  }
}
