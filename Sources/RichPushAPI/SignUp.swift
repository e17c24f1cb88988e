#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The body of `POST /api/sign-up`.
package struct SignUpRequest: Sendable, Codable {
  /// The tags of the subjects that are wanted.
  package let subjects: [String]
  /// What the device calls itself.
  package var name: String?
  /// The language that it prefers (BCP 47).
  package var language: String?
  /// The time zone that it is in, by its name in the IANA's database.
  package var timeZone: String?
  /// A Web Push subscription.
  package var webpush: Subscription?

  /// A Web Push subscription, as a page has it.
  package struct Subscription: Sendable, Codable {
    /// The push service's address for it.
    package let endpoint: String
    /// Its keys.
    package let keys: Registration.Keys

    /// Creates a subscription.
    package init(endpoint: String, keys: Registration.Keys) {
      (self.endpoint, self.keys) = (endpoint, keys)
    }
  }

  /// Creates the body; the optional members can be set afterwards.
  package init(subjects: [String]) { self.subjects = subjects }

  private enum CodingKeys: String, CodingKey, CaseIterable {
    case subjects, name, language, timeZone, webpush
  }
}

extension SignUpRequest: RequestMessage {
  package static func check(members: [String]) throws(ServiceError) {
    try check(members: members, known: CodingKeys.allCases.map(\.stringValue))
  }
}

/// A device whose owner has signed up: the response of `POST /api/sign-up`.
package struct SignedUp: Sendable, Equatable, Codable {
  /// The id of its registration.
  package let registration: String
  /// The user that was added.
  package let user: String
  /// What the device sends as `Authorization: Bearer`.
  package let token: String
  /// Whether the subjects begin only when an admin has approved.
  package let waiting: Bool

  /// Creates the response.
  package init(registration: String, user: String, token: String, waiting: Bool) {
    (self.registration, self.user, self.token) = (registration, user, token)
    self.waiting = waiting
  }
}

/// A page of people who wait for approval: the response of `GET /api/sign-ups`.
public struct SignUpPage: Sendable, Equatable, Codable {
  /// Those who wait, the longest first.
  public let signUps: [SignUp]
  /// The value of `after` on the next page; nil on the last one.
  @Nullable public var next: Int?

  /// Creates a page.
  package init(signUps: [SignUp], next: Int?) {
    self.signUps = signUps
    self.next = next
  }

  /// Somebody who waits.
  public struct SignUp: Sendable, Equatable, Codable {
    /// The user that was added.
    public let user: String
    /// What the device calls itself.
    @Nullable public var name: String?
    /// The tags of the subjects that are wanted.
    public let subjects: [String]
    /// When.
    public let created: Date

    /// Describes somebody.
    package init(user: String, name: String?, subjects: [String], created: Date) {
      (self.user, self.subjects, self.created) = (user, subjects, created)
      self.name = name
    }
  }
}
