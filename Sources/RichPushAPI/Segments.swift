#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The conditions of a segment, of which a person and a device meet all: the body of `PUT /api/segments/<name>`.
///
/// It has at least one. Without `to`, `language`, `platform` and `lastContact`, people belong to it even without a
/// device.
public struct Segment: Sendable, Equatable {
  /// The tags of the device, or the names of people, as in a notification; no segment.
  public var audience: NewNotification.Audience?
  /// What is known of the person, each exactly as it is here.
  public var attributes: [String: String]?
  /// The language that the device prefers: `de` also stands for `de-CH`.
  public var language: String?
  /// The device's platform, such as `apns`.
  public var platform: String?
  /// So many days ago or later the device was heard of.
  public var lastContact: Int?
  /// A notification that the person has opened or marked read.
  public var opened: Int?
  /// A notification that the person got, and has neither opened nor marked read.
  public var notOpened: Int?

  /// A segment without conditions, which are set afterwards.
  ///
  /// ```swift
  /// var segment = Segment(to: .tags("news && !muted"))
  /// (segment.language, segment.attributes) = ("de", ["plan": "gold"])
  /// ```
  public init(to audience: NewNotification.Audience? = nil) { self.audience = audience }

  /// Whether it can be the name of a segment: up to 50 letters of ASCII, digits and `_.-`, the first of them a letter or a digit.
  package static func isValid(name: String) -> Bool {
    (1...50).contains(name.utf8.count) && name.utf8.first.map { !"_.-".utf8.contains($0) } == true
      && name.utf8.allSatisfy { $0 != UInt8(ascii: "@") && UserName.isValid(byte: $0) }
  }

  /// The days that `lastContact` can name.
  private static let days = 1...3650

  /// All that is wrong with it, but for its audience and its platform.
  package var faults: [ServiceError.Fault] {
    var faults: [ServiceError.Fault] = []
    if self == Segment() {
      faults.append(
        .init(
          "", .invalidRequest,
          "A segment needs a condition: to, attributes, language, platform, lastContact, opened or notOpened."
        ))
    }
    if let attributes {
      faults += UserAttributes(attributes).faults.map {
        .init("attributes", $0.code, $0.reason)
      }
      if attributes.isEmpty {
        faults.append(.init("attributes", .invalidRequest, "attributes names none."))
      }
    }
    if let language, !LanguageTag.isValid(language) {
      faults.append(
        .init("language", .rejected, "language must be a tag such as de or pt-BR (BCP 47)."))
    }
    if let lastContact, !Self.days.contains(lastContact) {
      faults.append(
        .init(
          "lastContact", .rejected,
          "lastContact must be a number of days from 1 to \(Self.days.upperBound)."))
    }
    for (name, id) in [("opened", opened), ("notOpened", notOpened)] {
      if let id, id < 0 {
        faults.append(.init(name, .rejected, "\(name) must be the ID of a notification."))
      }
    }
    return faults
  }
}

extension Segment: Codable {
  private enum CodingKeys: String, CodingKey, CaseIterable {
    case audience = "to"
    case attributes, language, platform, lastContact, opened, notOpened
  }

  /// Decodes the conditions.
  ///
  /// - Throws: a `ServiceError` with a fault for each member that has the wrong type.
  public init(from decoder: any Decoder) throws {
    var reader = try MemberReader<CodingKeys>(decoder)
    (audience, attributes) = (reader.read(.audience), reader.readEntries(.attributes))
    (language, platform) = (reader.read(.language), reader.read(.platform))
    lastContact = reader.read(.lastContact)
    (opened, notOpened) = (reader.read(.opened), reader.read(.notOpened))
    try reader.throwFaults()
  }
}

extension Segment: RequestMessage {
  package static func check(members: [String]) throws(ServiceError) {
    try check(members: members, known: CodingKeys.allCases.map(\.stringValue))
  }
}

/// An audience that publishers have saved, for all of them: the response of `GET /api/segments/<name>`.
public struct SavedSegment: Sendable, Equatable, Codable {
  /// The name; as an audience, it follows `segment:`.
  public let name: String
  /// The conditions.
  public let segment: Segment
  /// Another number with each change, also as `ETag`.
  public let version: Int
  /// Who has made it; nil if that user was removed.
  @Nullable public var author: String?
  /// Who has changed it last; nil if that user was removed.
  @Nullable public var editor: String?
  /// When it was made.
  public let created: Date
  /// When it was changed last.
  public let updated: Date

  /// Describes a segment; `author` and `editor` can be set afterwards.
  package init(name: String, segment: Segment, version: Int, created: Date, updated: Date) {
    (self.name, self.segment, self.version) = (name, segment, version)
    (self.created, self.updated) = (created, updated)
    (author, editor) = (nil, nil)
  }
}

/// The segments by their names: the response of `GET /api/segments`.
public struct SegmentList: Sendable, Equatable, Codable {
  /// The segments.
  public let segments: [SavedSegment]
  /// What `after` is for the next page; nil on the last one.
  @Nullable public var next: String?

  /// Creates a page.
  package init(segments: [SavedSegment], next: String?) {
    self.segments = segments
    self.next = next
  }
}
