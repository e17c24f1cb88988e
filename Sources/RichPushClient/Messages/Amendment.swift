public import Foundation

/// What is to change in a notification that no device has fetched yet; nil leaves a member alone.
public struct Amendment: Sendable, Equatable, Encodable {
  /// The text shown beside the media.
  public var message: String?
  /// The kind of media.
  public var richType: String?
  /// An asset's name, or literal content such as a link.
  public var payload: String?
  /// When its recipients get to know of it; only while they do not.
  public var notBefore: Date?
  /// When its media goes away.
  public var expires: Date?

  /// An amendment; everything can be set afterwards.
  public init(
    message: String? = nil, richType: String? = nil, payload: String? = nil,
    notBefore: Date? = nil, expires: Date? = nil
  ) {
    self.message = message
    self.richType = richType
    self.payload = payload
    self.notBefore = notBefore
    self.expires = expires
  }
}
