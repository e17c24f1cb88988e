import JSON
import Primitives

/// A token in three parts (RFC 7515, section 7.1), whose signature is yet to be verified.
struct SignedToken: Sendable {
  /// The algorithm that its head names.
  let algorithm: SignatureAlgorithm
  /// The name of the key that its head names.
  let keyID: String?
  private let claims: JSONTree
  private let signed: [UInt8]
  private let signature: [UInt8]

  /// The most bytes of a token.
  static let limit = 64 << 10

  /// Reads a token.
  ///
  /// - Throws: `token` if it is none, or signed by an algorithm that proves nothing.
  init(_ text: String) throws(OpenIDError) {
    guard text.utf8.count <= Self.limit else {
      throw OpenIDError(.token, "the token has more than \(Self.limit) bytes")
    }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 3, let head = Base64URL.decode(parts[0]).flatMap({ JSONTree($0) }),
      let claims = Base64URL.decode(parts[1]).flatMap({ JSONTree($0) }), case .object = claims,
      let signature = Base64URL.decode(parts[2])
    else { throw OpenIDError(.token, "the token is not signed as RFC 7515 says") }
    guard let name = head["alg"]?.text, let algorithm = SignatureAlgorithm(rawValue: name) else {
      throw OpenIDError(.token, "the token is not signed by RS256, PS256 or ES256")
    }
    guard head["crit"] == nil else {
      throw OpenIDError(.token, "the token's head has members that are not understood")
    }
    (self.algorithm, self.claims, self.signature) = (algorithm, claims, signature)
    keyID = head["kid"]?.text
    signed = Array("\(parts[0]).\(parts[1])".utf8)
  }

  /// The keys among a provider's that may have signed it.
  func candidates(in keys: [ProviderKey]) -> [ProviderKey] {
    guard let keyID else { return Array(keys.prefix(8)) }
    return Array(keys.filter { $0.id == keyID }.prefix(8))
  }

  /// What it claims; nil unless one of the keys has signed it.
  func claims(signedBy keys: [ProviderKey]) -> TokenClaims? {
    let isSigned = candidates(in: keys).contains {
      $0.verify(signature, of: signed, by: algorithm)
    }
    return isSigned ? TokenClaims(claims) : nil
  }
}

/// The claims of a token whose signature is right.
struct TokenClaims: Sendable {
  /// All of them, an object.
  let tree: JSONTree

  /// How many seconds the clocks of provider and server may differ.
  static let leeway = 60.0

  init(_ tree: JSONTree) { self.tree = tree }

  /// Checks that the token is the provider's, for this client, and valid now (OpenID Connect Core 1.0, section 3.1.3.7).
  ///
  /// - Throws: `token` with what is wrong.
  func check(_ configuration: OpenIDConfiguration, at now: Double) throws(OpenIDError) {
    guard tree["iss"]?.text == configuration.issuer else {
      throw OpenIDError(.token, "the token is another provider's")
    }
    let audience: [String]
    switch tree["aud"] {
    case .string(let one)?: audience = [one]
    case .array(let all)?: audience = all.compactMap(\.text)
    default: audience = []
    }
    let party = tree["azp"]?.text
    guard audience.contains(configuration.clientID),
      party == configuration.clientID || party == nil && audience.count == 1
    else { throw OpenIDError(.token, "the token is for another client") }
    guard let expires = number("exp"), expires > now - Self.leeway else {
      throw OpenIDError(.token, "the token has expired, or this machine's clock is wrong")
    }
    guard let issued = number("iat"), issued <= now + Self.leeway,
      number("nbf") ?? 0 <= now + Self.leeway
    else {
      throw OpenIDError(.token, "the token is not valid yet, or this machine's clock is wrong")
    }
  }

  /// The provider's name of the user, which never changes.
  ///
  /// - Throws: `token` if there is none that can be stored.
  func subject() throws(OpenIDError) -> String {
    guard let subject = tree["sub"]?.text, (1...255).contains(subject.utf8.count),
      subject.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F })
    else { throw OpenIDError(.token, "the token names no user") }
    return subject
  }

  /// A number of seconds since 1970.
  func number(_ name: String) -> Double? {
    guard case .number(let number)? = tree[name] else { return nil }
    return number
  }
}
