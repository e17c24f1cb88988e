/// The file a request is about: the bytes the notification pinned, readable by this plugin alone.
public struct Asset: Sendable, Hashable {
  /// Where the bytes are: a regular file that never changes.
  public let path: String
  /// The media type that the bytes showed, such as `image/png`; the name of the file is not asked.
  public let type: String
  /// The SHA-256 of the bytes in hexadecimal.
  public let sha256: String
  /// The number of bytes.
  public let size: Int

  /// Describes a file by hand, for a plugin's own tests.
  public init(path: String, type: String, sha256: String, size: Int) {
    self.path = path
    self.type = type
    self.sha256 = sha256
    self.size = size
  }
}
