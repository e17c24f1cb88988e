import COpenSSL
import FoundationEssentials
import Primitives
import Synchronization

/// The signatures that push services require.
enum Signing {
  /// HMAC-SHA-256 (RFC 2104).
  static func hmac(key: [UInt8], _ message: [UInt8]) -> [UInt8] {
    var code = [UInt8](repeating: 0, count: 32)
    copenssl_hmac_sha256(key, key.count, message, message.count, &code)
    return code
  }

  /// The SHA-256 of a text, in hexadecimal.
  static func sha256(_ text: String) -> String {
    var hex = [CChar](repeating: 0, count: 65)
    copenssl_sha256_hex(text, text.utf8.count, &hex)
    return String(decoding: hex.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// ES256 (RFC 7518 section 3.4) with a P-256 private key in PEM.
  static func es256(pem: String, _ message: [UInt8]) throws(PushError) -> [UInt8] {
    var signature = [UInt8](repeating: 0, count: 64)
    let key = Array(pem.utf8CString.dropLast())
    let problem = copenssl_es256_sign(key, key.count, message, message.count, &signature)
    guard let problem else { return signature }
    throw PushError(.key, "The private key cannot sign: \(String(cString: problem)).")
  }

  /// RS256 (RFC 7518 section 3.3) with an RSA private key in PEM.
  static func rs256(pem: String, _ message: [UInt8]) throws(PushError) -> [UInt8] {
    var signature = [UInt8](repeating: 0, count: Int(COPENSSL_LONGEST_RSA))
    var size = 0
    let key = Array(pem.utf8CString.dropLast())
    let problem = copenssl_rs256_sign(
      key, key.count, message, message.count, &signature, &size)
    guard let problem else { return Array(signature[..<size]) }
    throw PushError(.key, "The private key cannot sign: \(String(cString: problem)).")
  }

  /// A short text that is the same for the same settings, and from which they can't be told.
  static func identifier(of settings: String...) -> String {
    let text = settings.map(JSONText.quoted).joined(separator: ",")
    return String(Base64URL.encode(hmac(key: Array("settings".utf8), Array(text.utf8))).prefix(16))
  }

  static func base64(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }
}

/// The token that authenticates a team to APNs (a JSON Web Token, ES256), shared by all connections.
///
/// APNs rejects tokens older than an hour, and throttles a team that makes new ones within 20 minutes
/// (developer.apple.com, "Establishing a token-based connection to APNs").
final class ProviderToken: Sendable {
  /// The age at which a new token is made.
  static let renewalAge: TimeInterval = 40 * 60
  /// The age below which no new token may be made.
  static let minimumAge: TimeInterval = 20 * 60

  /// A token and when it was made.
  struct Issue: Sendable, Equatable {
    let text: String
    let time: Date
  }

  private let key: APNsKey
  private let current = Mutex<Issue?>(nil)

  init(_ key: APNsKey) { self.key = key }

  /// The token to use now; a new one once the old is 40 minutes old.
  func issue(at now: Date) throws(PushError) -> Issue {
    try issue(at: now) { abs(now.timeIntervalSince($0.time)) < Self.renewalAge }
  }

  /// A token other than the rejected one; nil if it is too early for a new one.
  func replacement(for rejected: Issue, at now: Date) throws(PushError) -> Issue? {
    let issue = try issue(at: now) {
      $0 != rejected || abs(now.timeIntervalSince($0.time)) < Self.minimumAge
    }
    return issue == rejected ? nil : issue
  }

  private func issue(at now: Date, keepIf isGood: (Issue) -> Bool) throws(PushError) -> Issue {
    try current.withLock { current throws(PushError) in
      if let current, isGood(current) { return current }
      let issue = Issue(text: try key.token(issued: now), time: now)
      current = issue
      return issue
    }
  }
}

/// A signing key of an Apple developer team.
package struct APNsKey: Sendable {
  private let pem: String
  let keyID: String
  let teamID: String

  /// Takes the text of the `.p8` file and Apple's ten-character ids of key and team; signs once to check it.
  package init(pem: String, keyID: String, teamID: String) throws(PushError) {
    (self.pem, self.keyID, self.teamID) = (pem, keyID, teamID)
    _ = try token(issued: Date())
  }

  /// A signed token (RFC 7519) with the claims `iss` and `iat`.
  func token(issued: Date) throws(PushError) -> String {
    let header = #"{"alg":"ES256","kid":\#(JSONText.quoted(keyID))}"#
    let seconds = Int(issued.timeIntervalSince1970)
    let claims = #"{"iss":\#(JSONText.quoted(teamID)),"iat":\#(seconds)}"#
    let unsigned = [header, claims].map { Base64URL.encode(Array($0.utf8)) }
      .joined(separator: ".")
    let signature = try Signing.es256(pem: pem, Array(unsigned.utf8))
    return unsigned + "." + Base64URL.encode(signature)
  }
}
