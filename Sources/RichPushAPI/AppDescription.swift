/// What the recipients' app has to know before anybody is signed in: the response of `GET /api/app`.
package struct AppDescription: Sendable, Codable {
  /// What the app is called.
  package let name: String
  /// Its accent, as `#rrggbb`.
  package let colour: String
  /// What recipients can choose to get.
  package let subjects: [Subject]
  /// Whether anybody can sign up: `open`, or `approval` if an admin has to approve; nil if nobody can.
  @Nullable package var signUp: String?
  /// Whether this is a demonstration.
  package let demo: Bool
  /// The key with which pages subscribe at their push services (RFC 8292), in base64url; nil if the server sends no
  /// pushes to browsers.
  @Nullable package var vapidKey: String?
  /// What people call the provider at which they sign in; nil if there is none.
  @Nullable package var singleSignOn: String?
  /// Whether everybody has a password.
  package let passwords: Bool

  /// A tag with its name for people.
  package struct Subject: Sendable, Codable {
    /// The tag.
    package let tag: String
    /// Its name.
    package let name: String

    /// Creates a subject.
    package init(tag: String, name: String) { (self.tag, self.name) = (tag, name) }
  }

  /// Creates the response.
  package init(
    name: String, colour: String, subjects: [Subject], signUp: String?, demo: Bool,
    vapidKey: String?, singleSignOn: String?, passwords: Bool
  ) {
    (self.name, self.colour, self.subjects, self.demo) = (name, colour, subjects, demo)
    self.passwords = passwords
    (self.signUp, self.vapidKey, self.singleSignOn) = (signUp, vapidKey, singleSignOn)
  }
}
