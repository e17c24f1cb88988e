#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The body of `POST /api/pairings`.
package struct NewPairing: Sendable, Codable {
  /// The user whose device is to be added; nil for the caller.
  package let user: String?

  /// Creates the body.
  package init(user: String? = nil) { self.user = user }

  private enum CodingKeys: String, CodingKey, CaseIterable { case user }
}

extension NewPairing: RequestMessage {
  package static func check(members: [String]) throws(ServiceError) {
    try check(members: members, known: CodingKeys.allCases.map(\.stringValue))
  }
}

/// A code by which one device of a user gets a token: the response of `POST /api/pairings`.
public struct IssuedPairing: Sendable, Equatable, Codable {
  /// Its number, by which it can be revoked.
  public let id: Int
  /// The user.
  public let user: String
  /// The code, in 22 characters.
  public let code: String
  /// The same in eight characters, to be typed.
  public let shortCode: String
  /// The address that a phone opens.
  public let link: String
  /// When it was made.
  public let created: Date
  /// When it ends, if it is not used.
  public let expires: Date
  /// The link as a QR code: its rows of modules from the top, where 1 is dark, without a quiet zone.
  public let qrCode: [String]

  /// Describes a code.
  package init(
    id: Int, user: String, code: String, shortCode: String, link: String, created: Date,
    expires: Date, qrCode: [String]
  ) {
    (self.id, self.user, self.code, self.shortCode) = (id, user, code, shortCode)
    (self.link, self.created, self.expires, self.qrCode) = (link, created, expires, qrCode)
  }
}

/// The open codes of a user: the response of `GET /api/pairings`.
public struct PairingList: Sendable, Equatable, Codable {
  /// The codes, the newest first.
  public let pairings: [Pairing]

  /// Creates a list.
  package init(pairings: [Pairing]) { self.pairings = pairings }

  /// An open code, which is not shown again.
  public struct Pairing: Sendable, Equatable, Codable {
    /// Its number, by which it can be revoked.
    public let id: Int
    /// The user.
    public let user: String
    /// When it was made.
    public let created: Date
    /// When it ends, if it is not used.
    public let expires: Date

    /// Describes a code.
    package init(id: Int, user: String, created: Date, expires: Date) {
      (self.id, self.user, self.created, self.expires) = (id, user, created, expires)
    }
  }
}

/// The body of `POST /api/pair`.
package struct PairingUse: Sendable, Codable {
  /// The code, or the short one.
  package let code: String
  /// What the device calls itself.
  package var name: String?
  /// The language that it prefers (BCP 47).
  package var language: String?
  /// The time zone that it is in, by its name in the IANA's database.
  package var timeZone: String?
  /// The id of its registration; nil for one that the server chooses.
  package var registration: String?

  /// Creates the body; the optional members can be set afterwards.
  package init(code: String) { self.code = code }

  private enum CodingKeys: String, CodingKey, CaseIterable {
    case code, name, language, timeZone, registration
  }
}

extension PairingUse: RequestMessage {
  package static func check(members: [String]) throws(ServiceError) {
    try check(members: members, known: CodingKeys.allCases.map(\.stringValue))
  }
}

/// A device that was added by a code: the response of `POST /api/pair`.
public struct PairedDevice: Sendable, Equatable, Codable {
  /// The id of its registration, which has no platform yet.
  public let registration: String
  /// The user whose device it is.
  public let user: String
  /// What the device sends as `Authorization: Bearer`.
  public let token: String

  /// Describes a device.
  package init(registration: String, user: String, token: String) {
    (self.registration, self.user, self.token) = (registration, user, token)
  }
}

/// The body of `POST /api/pair/forward`.
package struct PairingForward: Sendable, Codable {
  /// The code that ends.
  package let code: String

  /// Creates the body.
  package init(code: String) { self.code = code }

  private enum CodingKeys: String, CodingKey, CaseIterable { case code }
}

extension PairingForward: RequestMessage {
  package static func check(members: [String]) throws(ServiceError) {
    try check(members: members, known: CodingKeys.allCases.map(\.stringValue))
  }
}

/// The code that takes the place of another: the response of `POST /api/pair/forward`.
package struct NextPairing: Sendable, Equatable, Codable {
  /// The code, in 22 characters.
  package let code: String
  /// When it ends, if it is not used.
  package let expires: Date

  /// Describes a code.
  package init(code: String, expires: Date) { (self.code, self.expires) = (code, expires) }
}
