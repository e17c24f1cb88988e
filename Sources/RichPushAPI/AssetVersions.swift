#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Content that an asset had before it was replaced or removed, which can be brought back for a while.
public struct AssetVersion: Sendable, Equatable, Codable {
  /// The kind of media.
  public let richType: String
  /// The asset's name.
  public let name: String
  /// The SHA-256 of the content, in hexadecimal.
  public let sha256: String
  /// Its size in bytes.
  public let bytes: Int
  /// Its media type, detected from its content.
  @Nullable public var contentType: String?
  /// When its file was last changed.
  public let modified: Date
  /// What it showed, for those who did not see it.
  @Nullable public var alt: String?
  /// The point that crops of it kept; nil for the centre.
  @Nullable public var focus: Asset.Focus?
  /// When it was replaced or removed.
  public let ended: Date
  /// How long it can be brought back, unless newer ones need the space.
  public let until: Date

  /// Describes content; the other members can be set afterwards.
  package init(
    richType: String, name: String, sha256: String, bytes: Int, modified: Date, ended: Date,
    until: Date
  ) {
    (self.richType, self.name, self.sha256, self.bytes) = (richType, name, sha256, bytes)
    (self.modified, self.ended, self.until) = (modified, ended, until)
    (contentType, alt, focus) = (nil, nil, nil)
  }
}

/// What can be brought back of an asset: the response of `GET /api/assets/<richType>/<name>/versions`.
package struct AssetVersionList: Sendable, Equatable, Codable {
  /// The content that it had, the last that was replaced first.
  package let versions: [AssetVersion]

  /// Creates the list.
  package init(versions: [AssetVersion]) { self.versions = versions }
}

/// A page of the assets that were removed and can be brought back.
package struct RemovedAssetPage: Sendable, Equatable, Codable {
  /// What they had, the last removed first.
  package let assets: [AssetVersion]
  /// The value of `after` for the next page; nil on the last one.
  @Nullable package var next: String?

  /// Creates a page.
  package init(assets: [AssetVersion], next: String?) {
    self.assets = assets
    self.next = next
  }
}

/// Another name for an asset: the body of `POST /api/assets/<richType>/<name>/rename`.
package struct AssetRenaming: Sendable, Equatable {
  /// The name.
  package var name: String

  /// Names it.
  package init(name: String) { self.name = name }
}

extension AssetRenaming: Codable {
  private enum CodingKeys: String, CodingKey, CaseIterable {
    case name
  }

  /// Decodes the body.
  ///
  /// - Throws: a `ServiceError` with a fault for each member that is missing or has the wrong type.
  package init(from decoder: any Decoder) throws {
    var reader = try MemberReader<CodingKeys>(decoder)
    name = reader.require(.name) ?? ""
    try reader.throwFaults()
  }
}

extension AssetRenaming: RequestMessage {
  package static func check(members: [String]) throws(ServiceError) {
    try check(members: members, known: CodingKeys.allCases.map(\.stringValue))
  }
}

/// Which content shall be brought back: the body of `POST /api/assets/<richType>/<name>/restore`.
package struct AssetRestoration: Sendable, Equatable {
  /// Its SHA-256; nil for what was replaced or removed last.
  package var sha256: String?

  /// Names content.
  package init(sha256: String? = nil) { self.sha256 = sha256 }
}

extension AssetRestoration: Codable {
  private enum CodingKeys: String, CodingKey, CaseIterable {
    case sha256
  }

  /// Decodes the body.
  ///
  /// - Throws: a `ServiceError` with a fault for each member that has the wrong type.
  package init(from decoder: any Decoder) throws {
    var reader = try MemberReader<CodingKeys>(decoder)
    sha256 = reader.read(.sha256)
    try reader.throwFaults()
  }
}

extension AssetRestoration: RequestMessage {
  package static func check(members: [String]) throws(ServiceError) {
    try check(members: members, known: CodingKeys.allCases.map(\.stringValue))
  }
}
