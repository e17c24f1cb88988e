/// Changes to what the catalogue says of an asset: the body of `PATCH /api/assets/<richType>/<name>`, a JSON merge patch
/// (RFC 7396).
public struct AssetAmendment: Sendable, Equatable, Codable {
  /// What it shows, for those who do not see it: at most 1,000 bytes.
  public var alt = Change<String>.none
  /// The point that crops of the picture keep visible.
  public var focus = Change<Asset.Focus>.none
  /// The words by which it is found, in the place of those that it has: at most 20 of 64 bytes each, without commas.
  public var labels = Change<[String]>.none

  /// Creates an amendment; nil leaves a member unchanged, and `.removal` can be set afterwards.
  ///
  /// ```swift
  /// let amendment = AssetAmendment(
  ///   alt: "A dog at a lake", focus: Asset.Focus(x: 0.2, y: 0.6), labels: ["summer"])
  /// ```
  public init(alt: String? = nil, focus: Asset.Focus? = nil, labels: [String]? = nil) {
    (self.alt, self.focus, self.labels) = (Change(alt), Change(focus), Change(labels))
  }

  private enum CodingKeys: String, CodingKey, CaseIterable {
    case alt, focus, labels
  }

  /// Decodes the members that are there.
  ///
  /// - Throws: a `ServiceError` with a fault for each that is wrong.
  public init(from decoder: any Decoder) throws {
    var reader = try MemberReader<CodingKeys>(decoder)
    (alt, focus) = (reader.readChange(.alt), reader.readChange(.focus))
    labels = reader.readChange(.labels)
    try reader.throwFaults()
  }
}

extension AssetAmendment: RequestMessage {
  package static func check(members: [String]) throws(ServiceError) {
    try check(members: members, known: CodingKeys.allCases.map(\.stringValue))
  }
}

extension Asset {
  /// The point of a picture that crops keep visible, as fractions of its width and height when it is upright.
  ///
  /// JSON has it in the form of the rendition option: `"0.5,0.3"`.
  public struct Focus: Sendable, Equatable, Codable, CustomStringConvertible {
    /// From 0 (left) to 1 (right), with four decimals.
    public let x: Double
    /// From 0 (top) to 1 (bottom), with four decimals.
    public let y: Double

    /// A point, rounded to four decimals; nil unless both numbers are from 0 to 1.
    public init?(x: Double, y: Double) {
      guard (0...1).contains(x), (0...1).contains(y) else { return nil }
      (self.x, self.y) = ((x * 10_000).rounded() / 10_000, (y * 10_000).rounded() / 10_000)
    }

    /// Reads ``description``; nil if the text is no point.
    public init?(_ text: String) {
      let isPlain = text.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2E || $0 == 0x2C }
      let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
      guard isPlain, text.utf8.count <= 256, numbers.count == 2, let x = numbers[0],
        let y = numbers[1]
      else { return nil }
      self.init(x: x, y: y)
    }

    /// The numbers, such as `0.5,0.3`.
    public var description: String {
      [x, y].map { $0 == $0.rounded() ? String(Int($0)) : String($0) }.joined(separator: ",")
    }

    /// Decodes a text such as `0.5,0.3`.
    public init(from decoder: any Decoder) throws {
      let text = try decoder.singleValueContainer().decode(String.self)
      guard let focus = Self(text) else {
        throw ServiceError(
          .rejected, "focus is two fractions of width and height from 0 to 1, such as 0.5,0.3.")
      }
      self = focus
    }

    /// Encodes ``description``.
    public func encode(to encoder: any Encoder) throws {
      var value = encoder.singleValueContainer()
      try value.encode(description)
    }
  }
}

/// A label that assets have.
public struct AssetLabel: Sendable, Equatable, Codable {
  /// The word.
  public let label: String
  /// How many assets have it.
  public let count: Int

  /// The most that an asset has.
  package static let limit = 20

  /// Describes a label.
  package init(_ label: String, count: Int) { (self.label, self.count) = (label, count) }
}

/// The labels that assets have: the response of `GET /api/asset-labels`.
package struct AssetLabelList: Sendable, Equatable, Codable {
  /// The most frequent first; at most a thousand.
  package let labels: [AssetLabel]

  /// Creates the list.
  package init(labels: [AssetLabel]) { self.labels = labels }
}
