/// A named file that payloads can refer to.
public struct Asset: Sendable, Equatable, Decodable {
  /// Whether payloads can refer to it.
  public enum State: String, Sendable, Decodable, CaseIterable {
    /// It is checked, and its renditions are stored.
    case ready
    /// It can be used already; its renditions are being made.
    case preparing
    /// It cannot be used, see `reason`.
    case refused
  }

  /// The kind of media.
  public let richType: String
  /// Its name, as payloads contain it.
  public let name: String
  /// Whether payloads can refer to it.
  public let state: State
  /// Why it was refused, in one sentence.
  public let reason: String?
  /// Advice for its author, such as the size that devices receive.
  public let advice: String?
  /// Its media type, detected from its content.
  public let contentType: String?
  /// Its size in bytes.
  public let bytes: Int?
  /// The SHA-256 of its content, in hexadecimal.
  public let sha256: String?
  /// Everything that the server knows about it: also width, height, duration and more.
  public let details: JSONValue

  private enum CodingKeys: String, CodingKey {
    case richType, name, state, reason, advice, contentType, bytes, sha256
  }

  /// Decodes the server's JSON; unknown members are in `details`.
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

  /// The progress of an asset's preparation.
  public struct Progress: Sendable, Equatable {
    /// The number of renditions made.
    public let made: Int
    /// The number of renditions to be made, including those.
    public let total: Int
  }

  /// The progress of its preparation; nil if it is not being prepared.
  public var progress: Progress? {
    guard let made = details.progress.made.integer, let total = details.progress.of.integer else {
      return nil
    }
    return Progress(made: made, total: total)
  }
}

/// The number of assets in each state.
public struct AssetCounts: Sendable, Equatable, Decodable {
  /// Checked, with all renditions.
  public let ready: Int
  /// Being prepared.
  public let preparing: Int
  /// Refused.
  public let refused: Int
}
