import HTTP

/// Options as one segment of a path: `original`, a profile, or sizes such as `w640`, `w320h240-cover`,
/// and behind it what the plugin declares, such as `original;view=waveform`.
extension RenditionOptions {
  /// Reads a name.
  init(name: String, declaring keys: [String]) throws(Refusal) {
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
        throw Refusal(
          400,
          "\(String(part).quoted) cannot stand in an address: it is not declared, or not plain.")
      }
      items.append((String(pair.1), String(pair.2)))
    }
    self = try RenditionOptions(Query(items), declaring: keys)
  }

  private static func sizes(_ text: String) throws(Refusal) -> [(name: String, value: String)] {
    guard let sizes = text.wholeMatch(of: /(?:w([0-9]{1,6}))?(?:h([0-9]{1,6}))?(-cover)?/),
      sizes.1 != nil || sizes.2 != nil
    else {
      throw Refusal(
        400, "\(text.quoted) is no rendition: it is original, a profile, or a size such as w640.")
    }
    let items = [
      sizes.1.map { ("width", String($0)) }, sizes.2.map { ("height", String($0)) },
      sizes.3.map { _ in ("fit", "cover") },
    ]
    return items.compactMap { $0 }.map { (name: $0.0, value: $0.1) }
  }

  /// The name that gives the same options.
  var name: String {
    let sizes = (width.map { "w\($0)" } ?? "") + (height.map { "h\($0)" } ?? "")
    let sized = sizes.isEmpty ? "original" : sizes + (fit == .cover ? "-cover" : "")
    return declared.sorted { $0.key < $1.key }.reduce(into: profile?.name ?? sized) {
      $0 += ";\($1.key)=\($1.value)"
    }
  }
}
