/// What the server wants of a plugin.
public enum Verb: String, Sendable, CaseIterable {
  /// A notification is being created, or a file was dropped: is this payload good, and what is it?
  case validate
  /// Somebody fetches the notification and no stored rendition fits.
  case render
  /// The manifest as JSON; ``serve(_:)`` answers this one from `plugin.json` by itself.
  case describe
}
