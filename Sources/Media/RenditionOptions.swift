package import PluginHost
package import RichPushAPI

/// The options of a rendition in canonical form: equal requests have equal text.
package struct RenditionOptions: Sendable, Hashable {
  package private(set) var profile: Profile?
  private var width: Int?
  private var height: Int?
  private var fit: Fit?
  /// The options that the plugin's manifest declares, by name.
  private var declared: [String: String] = [:]
  /// Whether they name a focus, be it the plugin's own.
  private var namesFocus = false

  /// The original, without metadata.
  package static let none = RenditionOptions()

  private init() {}

  /// A profile's options.
  package init(_ profile: Profile) { self.profile = profile }

  /// Reads the parameters of a query, in order.
  ///
  /// Sizes are device pixels: they are multiplied by `dpr` and rounded up to the next of ``steps``.
  /// Options that the plugin declares (`keys`) are left out if they are equal to their default.
  package init(
    _ query: [(name: String, value: String)], declaring keys: [String],
    defaults: [String: String] = [:]
  ) throws(ServiceError) {
    var scale = 1.0
    var seen: Set<String> = []
    for (name, value) in query {
      guard seen.insert(name).inserted else {
        throw ServiceError(.invalidRequest, "The option \(name) is repeated.")
      }
      switch name {
      case "profile":
        guard let profile = Profile.named(value) else {
          let names = Profile.all.map(\.name).joined(separator: ", ")
          throw ServiceError(
            .invalidRequest, "There is no profile \(value.quoted); there are: \(names).")
        }
        self.profile = profile
      case "width": width = try Self.pixels(name, value)
      case "height": height = try Self.pixels(name, value)
      case "fit":
        guard let fit = Fit(rawValue: value) else {
          throw ServiceError(.invalidRequest, "fit is contain or cover, not \(value.quoted).")
        }
        self.fit = fit
      case "dpr":
        guard let ratio = Double(value), (0.5...4).contains(ratio) else {
          throw ServiceError(
            .invalidRequest, "dpr must be a number from 0.5 to 4, not \(value.quoted).")
        }
        scale = ratio
      case _ where keys.contains(name):
        guard value.utf8.count <= 256 else {
          throw ServiceError(.invalidRequest, "The option \(name) must have at most 256 bytes.")
        }
        if name == Self.focus { namesFocus = true }
        if defaults[name] != value { declared[name] = value }
      default:
        let known = ["profile", "width", "height", "fit", "dpr"] + keys
        throw ServiceError(unknown: "query parameter", name, among: known)
      }
    }
    width = width.map { Self.snap(Int((Double($0) * scale).rounded(.up))) }
    height = height.map { Self.snap(Int((Double($0) * scale).rounded(.up))) }
    let isSized = width != nil || height != nil || profile != nil
    if !isSized || fit == .contain { fit = nil }
  }

  /// The widths and heights of renditions: only a few, so that the cache stays small.
  ///
  /// They are common widths of screens and of `srcset`.
  private static let steps = [
    64, 96, 128, 160, 240, 320, 400, 480, 512, 640, 750, 828, 1080, 1170, 1440, 1920, 2560,
  ]

  /// The first step that is at least `pixels`, or the last one.
  private static func snap(_ pixels: Int) -> Int {
    steps.first { $0 >= pixels } ?? steps[steps.count - 1]
  }

  private static func pixels(_ name: String, _ value: String) throws(ServiceError) -> Int {
    guard let pixels = Int(value), (1...100_000).contains(pixels) else {
      throw ServiceError(
        .invalidRequest,
        "\(name) must be a whole number of pixels, at least 1, not \(value.quoted).")
    }
    return pixels
  }

  /// The name of the option that says around which point a plugin crops.
  private static let focus = "focus"

  /// Whether a plugin crops around a focus.
  package static func haveFocus(of plugin: Plugin) -> Bool {
    plugin.manifest.query.contains(focus)
  }

  /// The options with the focus of an asset, unless they name one or ask for the original, which is not cropped.
  func cropped(around focus: String?, by plugin: Plugin) -> RenditionOptions {
    let isSized = width != nil || height != nil || profile != nil
    guard let focus, isSized, !namesFocus, Self.haveFocus(of: plugin),
      plugin.manifest.queryDefaults[Self.focus] != focus
    else { return self }
    var cropped = self
    cropped.declared[Self.focus] = focus
    return cropped
  }

  /// The canonical parameters: the plugin's query string, and a part of the rendition's key.
  package var items: [(name: String, value: String)] {
    var items: [(name: String, value: String)] = []
    if let profile { items.append(("profile", profile.name)) }
    if let width { items.append(("width", String(width))) }
    if let height { items.append(("height", String(height))) }
    if let fit { items.append(("fit", fit.rawValue)) }
    if declared.isEmpty { return items }
    return items + declared.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// The options for the plugin, with the limits of the profile.
  package var limits: PluginOptions {
    let sized = width != nil || height != nil
    return PluginOptions(
      profile: profile?.name, width: sized ? width : profile?.width,
      height: sized ? height : profile?.height, fit: fit?.rawValue, dpr: nil,
      maxBytes: profile?.maxBytes)
  }
}

// Options as a path segment: `original`, a profile, or a size such as `w640` or `w320h240-cover`,
// followed by options that the plugin declares, such as `original;view=waveform`.
extension RenditionOptions {
  /// Parses a ``name``.
  package init(name: String, declaring keys: [String]) throws(ServiceError) {
    let parts = name.split(separator: ";", omittingEmptySubsequences: false)
    var items: [(name: String, value: String)] = []
    let base = parts.first.map(String.init) ?? ""
    if Profile.named(base) != nil {
      items.append(("profile", base))
    } else if base != "original" {
      items += try Self.sizes(base)
    }
    for part in parts.dropFirst() {
      guard let pair = part.wholeMatch(of: /([A-Za-z0-9._-]+)=([A-Za-z0-9._-]*)/),
        keys.contains(String(pair.1))
      else {
        throw ServiceError(
          .invalidRequest,
          "\(String(part).quoted) cannot be in a link: the plugin does not declare it, or it has other "
            + "characters than letters, digits and ._-")
      }
      items.append((String(pair.1), String(pair.2)))
    }
    self = try RenditionOptions(items, declaring: keys)
  }

  private static func sizes(_ text: String) throws(ServiceError) -> [(name: String, value: String)]
  {
    guard let sizes = text.wholeMatch(of: /(?:w([0-9]{1,6}))?(?:h([0-9]{1,6}))?(-cover)?/),
      sizes.1 != nil || sizes.2 != nil
    else {
      throw ServiceError(
        .invalidRequest,
        "\(text.quoted) is not a rendition: use original, a profile, or a size such as w640.")
    }
    let items = [("width", sizes.1), ("height", sizes.2), ("fit", sizes.3.map { _ in "cover" })]
    return items.compactMap { name, value in value.map { (name, String($0)) } }
  }

  /// The options as a path segment.
  package var name: String {
    let sizes = (width.map { "w\($0)" } ?? "") + (height.map { "h\($0)" } ?? "")
    let sized = sizes.isEmpty ? "original" : sizes + (fit == .cover ? "-cover" : "")
    return declared.sorted { $0.key < $1.key }.reduce(into: profile?.name ?? sized) {
      $0 += ";\($1.key)=\($1.value)"
    }
  }
}

extension PluginCall {
  /// Sets the options from a query, as the server does.
  ///
  /// - Throws: the error that a device would get.
  package mutating func setOptions(
    _ query: [(name: String, value: String)], for plugin: Plugin
  ) throws(ServiceError) {
    let parsed = try RenditionOptions(
      query, declaring: plugin.manifest.query, defaults: plugin.manifest.queryDefaults)
    (options, self.query) = (parsed.limits, parsed.items)
  }
}
