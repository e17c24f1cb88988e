/// How the caller wants a rendition.
package struct PluginOptions: Sendable, Hashable {
  /// The name of a profile.
  package var profile: String?
  /// Pixels.
  package var width: Int?
  /// Pixels.
  package var height: Int?
  /// `contain` or `cover`.
  package var fit: String?
  /// Device pixels for each pixel asked for.
  package var dpr: Double?
  /// The most bytes the answer may have.
  package var maxBytes: Int?

  /// Asks for the original unless told otherwise.
  package init(
    profile: String? = nil, width: Int? = nil, height: Int? = nil, fit: String? = nil,
    dpr: Double? = nil, maxBytes: Int? = nil
  ) {
    self.profile = profile
    self.width = width
    self.height = height
    self.fit = fit
    self.dpr = dpr
    self.maxBytes = maxBytes
  }

  /// The names the options have in a query.
  package static let names: Set<String> = [
    "profile", "width", "height", "fit", "dpr", "maxBytes",
  ]
}
