/// A named file that a notification's payload can name.
public struct Asset: Sendable, Equatable, Decodable {
  /// Whether it can be used.
  public enum State: String, Sendable, Decodable {
    /// It was checked and prepared.
    case ready
    /// It is being checked or prepared.
    case preparing
    /// It cannot be used, for the reason beside it.
    case refused
  }

  /// The kind of media it was filed under.
  public let richType: String
  /// Its name, as a payload writes it.
  public let name: String
  /// Whether it can be used.
  public let state: State
  /// Why it was refused, in one sentence.
  public let reason: String?
  /// Its media type, found out from its bytes.
  public let contentType: String?
  /// Its size in bytes.
  public let bytes: Int?
  /// The SHA-256 of its content, in hexadecimal digits.
  public let sha256: String?
}
