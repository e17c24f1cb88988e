#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A named file that payloads can refer to.
public struct Asset: Sendable, Equatable, Codable {
  /// Whether payloads can refer to it.
  public enum State: String, Sendable, Codable, CaseIterable {
    /// It is checked, and its renditions are stored.
    case ready
    /// It can be used already; its renditions are being made.
    case preparing
    /// It cannot be used, see `reason`.
    case refused
  }

  /// How assets are listed; equal ones are by name.
  public enum Order: String, Sendable, CaseIterable {
    /// Names as people sort them: without case and accents, and numbers by their values.
    case name
    /// By when their files were last changed.
    case newest, oldest
    /// By size.
    case largest, smallest
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
  /// When the file was last changed; nil from a server that does not tell.
  public var modified: Date?
  /// What it shows, for those who do not see it; a notification that names no alternative text has this one.
  public var alt: String?
  /// The point that crops of the picture keep visible; nil for the centre.
  public var focus: Focus?
  /// Words by which it is found.
  public var labels: [String] = []
  /// The SHA-256 of its content, in hexadecimal.
  public let sha256: String?
  /// The progress of its preparation; nil if it is not being prepared.
  public let progress: Progress?
  /// Everything that the server knows about it: also width, height, duration and more.
  public let details: JSONValue

  /// The progress of an asset's preparation.
  public struct Progress: Sendable, Equatable, Codable {
    /// The number of renditions made.
    public let made: Int
    /// The number of renditions to be made, including those.
    public let total: Int

    private enum CodingKeys: String, CodingKey {
      case made
      case total = "of"
    }

    /// Creates the progress.
    package init(made: Int, total: Int) { (self.made, self.total) = (made, total) }
  }

  private enum CodingKeys: String, CodingKey {
    case richType, name, state, reason, advice, contentType, bytes, modified, alt, focus, labels,
      sha256,
      progress
  }

  /// Creates an asset; `details` are its plugin's.
  package init(
    richType: String, name: String, state: State, reason: String?, advice: String?,
    contentType: String?, bytes: Int, sha256: String?, progress: Progress?, details: JSONValue
  ) {
    (self.richType, self.name, self.state) = (richType, name, state)
    (self.reason, self.advice, self.contentType) = (reason, advice, contentType)
    (self.bytes, self.sha256, self.progress) = (bytes, sha256, progress)
    self.details = details
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
    modified = try members.decodeIfPresent(Date.self, forKey: .modified)
    // From an earlier server they can be details of the plugin.
    alt = try? members.decodeIfPresent(String.self, forKey: .alt)
    focus = try? members.decodeIfPresent(Focus.self, forKey: .focus)
    labels = (try? members.decodeIfPresent([String].self, forKey: .labels)) ?? []
    sha256 = try members.decodeIfPresent(String.self, forKey: .sha256)
    // Unless the server has one, it can be a detail of the plugin.
    progress = try? members.decodeIfPresent(Progress.self, forKey: .progress)
    details = try JSONValue(from: decoder)
  }

  /// Encodes all members, over the details of the same names.
  public func encode(to encoder: any Encoder) throws {
    try details.encode(to: encoder)
    var members = encoder.container(keyedBy: CodingKeys.self)
    try members.encode(richType, forKey: .richType)
    try members.encode(name, forKey: .name)
    try members.encode(state, forKey: .state)
    try members.encode(reason, forKey: .reason)
    try members.encode(advice, forKey: .advice)
    try members.encode(contentType, forKey: .contentType)
    try members.encode(bytes, forKey: .bytes)
    try members.encodeIfPresent(modified, forKey: .modified)
    try members.encode(alt, forKey: .alt)
    try members.encode(focus, forKey: .focus)
    try members.encode(labels, forKey: .labels)
    try members.encode(sha256, forKey: .sha256)
    try members.encodeIfPresent(progress, forKey: .progress)
  }
}

/// The number of assets in each state.
public struct AssetCounts: Sendable, Equatable, Codable {
  /// Checked, with all renditions.
  public let ready: Int
  /// Being prepared.
  public let preparing: Int
  /// Refused.
  public let refused: Int

  /// Creates the numbers.
  package init(ready: Int, preparing: Int, refused: Int) {
    (self.ready, self.preparing, self.refused) = (ready, preparing, refused)
  }
}

/// One page of the assets.
package struct AssetPage: Sendable, Codable {
  /// The assets in the order that was asked for.
  package let assets: [Asset]
  /// The value of `after` for the next page; nil on the last one.
  @Nullable package var next: String?
  /// On the first page, the number of assets in each state.
  package let counts: AssetCounts?

  /// Creates a page.
  package init(assets: [Asset], next: String?, counts: AssetCounts?) {
    (self.assets, self.counts) = (assets, counts)
    self.next = next
  }
}
