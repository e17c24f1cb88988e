import RichPushAPI

/// The ThumbHash of media, as its plugin said it.
struct ThumbHashText {
  /// The most characters.
  private static let longest = 48

  /// In Base64.
  let text: String

  /// Reads the details of media, a JSON text; nil if they have none.
  ///
  /// Any plugin may write them.
  init?(details: String?) {
    guard let details, let text = JSONValue(details.utf8)?.thumbHash.text,
      (8...Self.longest).contains(text.utf8.count),
      text.wholeMatch(of: /[A-Za-z0-9+\/]+={0,2}/) != nil
    else { return nil }
    self.text = text
  }
}
