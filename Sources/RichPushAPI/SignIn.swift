#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The body of `POST /api/session`.
package struct SignIn: Sendable, Codable {
  /// The user's name.
  package let username: String
  /// The user's password.
  package let password: String

  /// Creates the credentials.
  package init(username: String, password: String) {
    (self.username, self.password) = (username, password)
  }

  private enum CodingKeys: String, CodingKey, CaseIterable { case username, password }
}

extension SignIn: RequestMessage {
  package static func check(members: [String]) throws(ServiceError) {
    try check(members: members, known: CodingKeys.allCases.map(\.stringValue))
  }
}

/// Who is signed in: the response of `GET /api/session`.
public struct SignedIn: Sendable, Equatable, Codable {
  /// The user's name.
  public let username: String
  /// `device`, `publisher` or `admin`.
  public let role: String
  /// Whether the server admits everybody whose password is the name.
  public let demo: Bool
  /// Whether the user has a password here, which can be changed.
  public let password: Bool
  /// The session of this request; nil with a password or a token.
  @Nullable public var current: Int?
  /// The user's sessions, newest first.
  public let sessions: [Session]

  /// A sign-in on a web page.
  public struct Session: Sendable, Equatable, Codable {
    /// Its number.
    public let id: Int
    /// When the user signed in.
    public let created: Date
    /// When it was last used, to a few minutes.
    public let used: Date
    /// What the browser calls itself.
    public let userAgent: String

    /// Creates the description of a session.
    package init(id: Int, created: Date, used: Date, userAgent: String) {
      (self.id, self.created, self.used, self.userAgent) = (id, created, used, userAgent)
    }
  }

  /// Creates the response.
  package init(
    username: String, role: String, demo: Bool, password: Bool, current: Int?, sessions: [Session]
  ) {
    (self.username, self.role, self.demo) = (username, role, demo)
    (self.password, self.sessions) = (password, sessions)
    self.current = current
  }
}

/// What a page has to know before anybody signs in: the response of `GET /api/sign-in`.
public struct SignInState: Sendable, Equatable, Codable {
  /// Whether the request has the cookie of a session.
  public let signedIn: Bool
  /// Whether the server admits everybody whose password is the name.
  public let demo: Bool
  /// What people call the provider at which they sign in, by `/auth/sign-in`; nil if there is none.
  @Nullable public var singleSignOn: String?
  /// Whether everybody has a password.
  public let passwords: Bool

  /// Creates the response.
  package init(signedIn: Bool, demo: Bool, singleSignOn: String?, passwords: Bool) {
    (self.signedIn, self.demo, self.passwords) = (signedIn, demo, passwords)
    self.singleSignOn = singleSignOn
  }
}

/// Where somebody who has signed out goes on: the response of `DELETE /api/session` for a session that began at a
/// provider.
package struct SignedOut: Sendable, Equatable, Codable {
  /// Where the provider ends its own session.
  package let location: String

  /// Creates the response.
  package init(location: String) { self.location = location }
}

/// The body of `PUT /api/password`.
package struct PasswordChange: Sendable, Codable {
  /// The password so far.
  package let old: String
  /// The new one.
  package let new: String

  /// Creates a change.
  package init(old: String, new: String) {
    (self.old, self.new) = (old, new)
  }

  private enum CodingKeys: String, CodingKey, CaseIterable { case old, new }
}

extension PasswordChange: RequestMessage {
  package static func check(members: [String]) throws(ServiceError) {
    try check(members: members, known: CodingKeys.allCases.map(\.stringValue))
  }
}
