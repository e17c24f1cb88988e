#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
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
package struct SignedIn: Sendable, Codable {
  /// The user's name.
  package let username: String
  /// `device`, `publisher` or `admin`.
  package let role: String
  /// Whether the server admits everybody whose password is the name.
  package let demo: Bool
  /// The session of this request; nil with a password or a token.
  @Nullable package var current: Int?
  /// The user's sessions, newest first.
  package let sessions: [Session]

  /// A sign-in on a web page.
  package struct Session: Sendable, Codable {
    /// Its number.
    package let id: Int
    /// When the user signed in.
    package let created: Date
    /// When it was last used, to a few minutes.
    package let used: Date
    /// What the browser calls itself.
    package let userAgent: String

    /// Creates the description of a session.
    package init(id: Int, created: Date, used: Date, userAgent: String) {
      (self.id, self.created, self.used, self.userAgent) = (id, created, used, userAgent)
    }
  }

  /// Creates the response.
  package init(username: String, role: String, demo: Bool, current: Int?, sessions: [Session]) {
    (self.username, self.role, self.demo) = (username, role, demo)
    self.sessions = sessions
    self.current = current
  }
}
