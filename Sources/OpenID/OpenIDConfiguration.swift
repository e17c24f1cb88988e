import Primitives

/// How this server asks a provider of OpenID Connect (OpenID Connect Core 1.0), whose client it is.
package struct OpenIDConfiguration: Sendable {
  /// The provider's own name, a URL.
  package let issuer: String
  /// The name that the provider knows this server by.
  package let clientID: String
  /// The secret that it has for this server; nil for a public client, which PKCE alone protects.
  package var clientSecret: String?
  /// What is asked for; `openid` is always.
  package var scopes = ["openid", "profile", "email"]
  /// A claim with the name of a new user.
  package var nameClaim = "preferred_username"
  /// A claim with the groups of the user; dots lead into objects.
  package var groupsClaim = "groups"
  /// A PEM file with certificates to trust besides the system's.
  package var authority: String?
  /// How long an answer of the provider may take.
  package var timeout = Duration.seconds(10)

  /// The client of a provider; everything else can be set afterwards.
  ///
  /// - Throws: `provider` if the issuer is not a URL of https, or of http on this machine.
  package init(issuer: String, clientID: String) throws(OpenIDError) {
    guard Self.isProtected(issuer), !issuer.contains(where: { $0 == "?" || $0 == "#" }) else {
      throw OpenIDError(
        .provider,
        "it must be the URL by which the provider calls itself, with https, such as https://login.example, not \(issuer.printable)"
      )
    }
    (self.issuer, self.clientID) = (issuer, clientID)
  }

  /// Where the provider describes itself (OpenID Connect Discovery 1.0, section 4).
  var discovery: String {
    (issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer)
      + "/.well-known/openid-configuration"
  }

  /// Whether nobody on the network can read what is sent to a URL.
  package static func isProtected(_ url: String) -> Bool {
    guard url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") }) else {
      return false
    }
    let isPlain = url.hasPrefix("http://")
    guard isPlain || url.hasPrefix("https://") else { return false }
    let authority = url.drop { $0 != "/" }.dropFirst(2).prefix { !"/?#".contains($0) }
    guard !authority.isEmpty, !authority.contains("@") else { return false }
    return !isPlain
      || authority.wholeMatch(of: /(localhost|127(\.[0-9]{1,3}){3}|\[::1\])(:[0-9]{1,5})?/) != nil
  }
}
