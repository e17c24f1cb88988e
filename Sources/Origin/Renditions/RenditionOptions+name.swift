import HTTP

/// Options as one segment of a path: `original`, a profile, or sizes such as `w640`, `w320h240-cover`.
extension RenditionOptions {
  /// Reads a name.
  init(name: String) throws(Refusal) {
    if name == "original" {
      self = .none
    } else if let profile = Profile.named(name) {
      self = RenditionOptions(profile)
    } else if let sizes = name.wholeMatch(of: /(?:w([0-9]{1,6}))?(?:h([0-9]{1,6}))?(-cover)?/),
      sizes.1 != nil || sizes.2 != nil
    {
      let items = [
        sizes.1.map { ("width", String($0)) }, sizes.2.map { ("height", String($0)) },
        sizes.3.map { _ in ("fit", "cover") },
      ]
      self = try RenditionOptions(
        Query(items.compactMap { $0 }.map { (name: $0.0, value: $0.1) }), declaring: [])
    } else {
      throw Refusal(
        400, "\(name.quoted) is no rendition: it is original, a profile, or a size such as w640.")
    }
  }

  /// The name; options that a plugin declares have no place in it.
  var name: String {
    if let profile { return profile.name }
    let sizes = (width.map { "w\($0)" } ?? "") + (height.map { "h\($0)" } ?? "")
    return sizes.isEmpty ? "original" : sizes + (fit == .cover ? "-cover" : "")
  }
}
