import COpenSSL
import JSON
import Primitives

/// The algorithms by which tokens may be signed (RFC 7518, section 3.1); all have a public key, none is `none`.
enum SignatureAlgorithm: String, Sendable {
  case rs256 = "RS256"
  case ps256 = "PS256"
  case es256 = "ES256"
}

/// A public key of a provider (RFC 7517), by which it signs tokens.
struct ProviderKey: Sendable, Equatable {
  private enum Material: Sendable, Equatable {
    case rsa(modulus: [UInt8], exponent: [UInt8])
    /// A point on P-256: 4, x, y.
    case p256([UInt8])
  }

  /// By which tokens name it; nil if it has no name.
  let id: String?
  /// The only algorithm that it is for; nil for all of its kind.
  private let algorithm: SignatureAlgorithm?
  private let material: Material

  /// Nil for a key that signs no tokens which are accepted here.
  init?(_ key: JSONTree) {
    id = key["kid"]?.text
    if let use = key["use"], use.text != "sig" { return nil }
    if let operations = key["key_ops"]?.elements, !operations.contains(.string("verify")) {
      return nil
    }
    if let name = key["alg"] {
      guard let known = name.text.flatMap(SignatureAlgorithm.init) else { return nil }
      algorithm = known
    } else {
      algorithm = nil
    }
    func number(_ name: String) -> [UInt8]? {
      key[name]?.text.flatMap { $0.utf8.count <= 1400 ? Base64URL.decode($0) : nil }
    }
    switch key["kty"]?.text {
    case "RSA":
      guard let modulus = number("n"), let exponent = number("e") else { return nil }
      material = .rsa(modulus: modulus, exponent: exponent)
    case "EC":
      guard key["crv"]?.text == "P-256", let x = number("x"), let y = number("y"), x.count == 32,
        y.count == 32, copenssl_p256_is_point([4] + x + y)
      else { return nil }
      material = .p256([4] + x + y)
    default: return nil
    }
  }

  /// Whether a signature of a text is right; never for an algorithm that the key is not for.
  func verify(
    _ signature: [UInt8], of text: [UInt8], by algorithm: SignatureAlgorithm
  ) -> Bool {
    guard self.algorithm ?? algorithm == algorithm else { return false }
    switch (material, algorithm) {
    case (.rsa(let modulus, let exponent), .rs256), (.rsa(let modulus, let exponent), .ps256):
      return copenssl_rsa_verify(
        modulus, modulus.count, exponent, exponent.count, algorithm == .ps256, text, text.count,
        signature, signature.count)
    case (.p256(let point), .es256):
      return signature.count == 64 && copenssl_es256_verify(point, text, text.count, signature)
    default: return false
    }
  }

  /// The keys of a provider's document, of which others are left out.
  ///
  /// - Throws: `provider` if it is none.
  static func all(in document: JSONTree) throws(OpenIDError) -> [ProviderKey] {
    guard let keys = document["keys"]?.elements else {
      throw OpenIDError(.provider, "the provider's jwks_uri has no list of keys")
    }
    return keys.prefix(64).compactMap(ProviderKey.init)
  }
}
