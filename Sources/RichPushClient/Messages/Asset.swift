/// A named file that a notification's payload can name.
public struct Asset: Sendable, Equatable, Decodable {
  /// Whether it can be used.
  public enum State: String, Sendable, Decodable {
    /// It was checked and prepared.
    case ready
    /// It can be used by its name, and its renditions are being made.
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
  /// What its author should know although it can be used, such as how small devices get it.
  public let advice: String?
  /// Its media type, found out from its bytes.
  public let contentType: String?
  /// Its size in bytes.
  public let bytes: Int?
  /// The SHA-256 of its content, in hexadecimal digits.
  public let sha256: String?
  /// All that the server says of it, with what the plugin found out: width, height, duration and more.
  public let details: JSONValue
}

extension Asset {
  private enum CodingKeys: String, CodingKey {
    case richType, name, state, reason, advice, contentType, bytes, sha256
  }

  /// Reads the server's JSON form; members it does not know are in `details`.
  public init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    richType = try members.decode(String.self, forKey: .richType)
    name = try members.decode(String.self, forKey: .name)
    state = try members.decode(State.self, forKey: .state)
    reason = try members.decodeIfPresent(String.self, forKey: .reason)
    advice = try members.decodeIfPresent(String.self, forKey: .advice)
    contentType = try members.decodeIfPresent(String.self, forKey: .contentType)
    bytes = try members.decodeIfPresent(Int.self, forKey: .bytes)
    sha256 = try members.decodeIfPresent(String.self, forKey: .sha256)
    details = try JSONValue(from: decoder)
  }
}

extension Asset {
  /// How much of an asset's preparation is done.
  public struct Progress: Sendable, Equatable {
    /// The renditions that are made.
    public let made: Int
    /// All that are to be made.
    public let total: Int
  }

  /// How far its preparation has come; nil when it is not being prepared.
  public var progress: Progress? {
    guard let made = details.progress.made.integer, let total = details.progress.of.integer else {
      return nil
    }
    return Progress(made: made, total: total)
  }
}

/// How far the drop folder has come.
public struct AssetCounts: Sendable, Equatable, Decodable {
  /// How many assets were checked and prepared.
  public let ready: Int
  /// How many are being prepared.
  public let preparing: Int
  /// How many files were refused.
  public let refused: Int
}
