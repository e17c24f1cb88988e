#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// An access token to be made: the body of `POST /api/tokens`.
public struct NewAccessToken: Sendable, Equatable {
  /// What it is called, in letters, digits and `-_.@`; no other token of the user may have that name.
  public var name: String
  /// To whom notifications may be sent with it; nil for everybody.
  ///
  /// Each of the recipients of a notification must be one of these. A notification that names none is for all of these.
  public var audience: NewNotification.Audience?
  /// Whether it may read receipts, deliveries and answers.
  public var receipts = false
  /// Whether it may list, upload, change and remove assets.
  public var assets = false
  /// Whether it may read how the server is, and do nothing else but what ``audit`` allows; only an admin's.
  public var status = false
  /// Whether it may read the audit log, and do nothing else but what ``status`` allows; only an admin's.
  public var audit = false
  /// The most notifications a minute; nil for as many as its user may send.
  public var rate: Int?
  /// When it ends, if ever.
  public var expires: Date?
  /// The user whose it is; nil for the caller.
  public var user: String?

  /// Describes a token; the other members can be set afterwards.
  ///
  /// ```swift
  /// var new = NewAccessToken("ci", to: .tags("news"))
  /// new.rate = 10
  /// ```
  public init(
    _ name: String, to audience: NewNotification.Audience? = nil, expires: Date? = nil
  ) {
    (self.name, self.audience, self.expires) = (name, audience, expires)
  }
}

extension NewAccessToken: Codable {
  private enum CodingKeys: String, CodingKey, CaseIterable {
    case name
    case audience = "to"
    case receipts, assets, status, audit, rate, expires, user
  }

  /// Decodes the body.
  ///
  /// - Throws: a `ServiceError` with a fault for each member that is missing or has the wrong type.
  public init(from decoder: any Decoder) throws {
    var reader = try MemberReader<CodingKeys>(decoder)
    name = reader.require(.name) ?? ""
    audience = reader.read(.audience)
    (receipts, assets) = (reader.read(.receipts) ?? false, reader.read(.assets) ?? false)
    (status, audit) = (reader.read(.status) ?? false, reader.read(.audit) ?? false)
    (rate, expires, user) = (reader.read(.rate), reader.read(.expires), reader.read(.user))
    try reader.throwFaults()
  }
}

extension NewAccessToken: RequestMessage {
  package static func check(members: [String]) throws(ServiceError) {
    try check(members: members, known: CodingKeys.allCases.map(\.stringValue))
  }
}

/// The access tokens of a user, without their secrets: the response of `GET /api/tokens`.
public struct AccessTokenList: Sendable, Equatable, Codable {
  /// The tokens, the newest first; one that has expired is among them for 30 days.
  public let tokens: [Token]

  /// Creates a list.
  package init(tokens: [Token]) { self.tokens = tokens }

  /// An access token.
  public struct Token: Sendable, Equatable, Codable {
    /// Its number, by which it can be removed.
    public let id: Int
    /// What it is called.
    public let name: String
    /// The user whose it is.
    public let user: String
    /// To whom notifications may be sent with it: tags, or one tag expression; nil for everybody.
    @Nullable public var to: [String]?
    /// Whether it may read receipts, deliveries and answers.
    public var receipts = false
    /// Whether it may list, upload, change and remove assets.
    public var assets = false
    /// Whether it may read how the server is, and sends nothing.
    public var status = false
    /// Whether it may read the audit log, and sends nothing.
    public var audit = false
    /// The most notifications a minute; nil for as many as its user may send.
    @Nullable public var rate: Int?
    /// When it was made.
    public let created: Date
    /// When it ends, if ever.
    @Nullable public var expires: Date?
    /// When it was last used, to a minute; nil if it never was.
    @Nullable public var used: Date?
    /// The address from which it was used then.
    @Nullable public var address: String?

    /// Describes a token; the optional members can be set afterwards.
    package init(id: Int, name: String, user: String, created: Date) {
      (self.id, self.name, self.user, self.created) = (id, name, user, created)
    }
  }
}

/// An access token with its secret, which is shown once: the response of `POST /api/tokens`.
public struct IssuedAccessToken: Sendable, Equatable {
  /// What is sent as `Authorization: Bearer …`, or as the password of the user.
  public let token: String
  /// What it is and allows.
  public let accessToken: AccessTokenList.Token

  /// Describes a token.
  package init(_ token: String, _ accessToken: AccessTokenList.Token) {
    (self.token, self.accessToken) = (token, accessToken)
  }
}

extension IssuedAccessToken: Codable {
  private enum CodingKeys: String, CodingKey { case token }

  /// Decodes the members of the token, and its secret.
  public init(from decoder: any Decoder) throws {
    token = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .token)
    accessToken = try AccessTokenList.Token(from: decoder)
  }

  /// Encodes the members of the token, and its secret.
  public func encode(to encoder: any Encoder) throws {
    try accessToken.encode(to: encoder)
    var members = encoder.container(keyedBy: CodingKeys.self)
    try members.encode(token, forKey: .token)
  }
}
