import COpenSSL
import FoundationEssentials
import HTTP
import OpenID
import Primitives
import Store

/// A sign-in at a provider that is under way.
///
/// The browser has it in a cookie; everything else follows from that by a key that all nodes have, so it may end at
/// another node, and nothing is stored for those who never come back.
struct SignInAttempt: Sendable {
  /// Where people want to go.
  enum Target: String, Sendable {
    case console, app
  }

  /// What the cookie has: randomness, the target, and when it began.
  let text: String
  let target: Target
  private let begun: Date

  /// How long a sign-in may take, in seconds.
  static let lifetime: TimeInterval = 900
  /// A name that only this use of the keys has.
  private static let purpose = "richpush sign-in "

  /// A new one.
  init(to target: Target, at now: Date) {
    (self.target, begun) = (target, now)
    text = "\(DeviceToken().text).\(target.rawValue).\(Int(now.timeIntervalSince1970))"
  }

  /// What a request's cookie has; nil if it has none.
  init?(in request: Request) {
    guard let name = SessionToken.cookieName(for: request),
      let text = SessionToken.value(ofCookie: name + Self.suffix, in: request),
      let match = text.wholeMatch(of: /[A-Za-z0-9_-]{43}\.([a-z]{1,8})\.([0-9]{1,12})/),
      let target = Target(rawValue: String(match.1)), let seconds = TimeInterval(match.2)
    else { return nil }
    (self.text, self.target) = (text, target)
    begun = Date(timeIntervalSince1970: seconds)
  }

  /// Whether it has taken too long.
  func hasEnded(at now: Date) -> Bool {
    !(-60...Self.lifetime).contains(now.timeIntervalSince(begun))
  }

  /// What the provider gets to see of it.
  func secrets(_ key: TicketKey) -> OpenIDProvider.Secrets {
    OpenIDProvider.Secrets(
      state: derived("state", key), nonce: derived("nonce", key), verifier: derived("verifier", key)
    )
  }

  /// The same, if the provider has sent back this state; nil if it belongs to no cookie that this server has set.
  func secrets(_ keys: [TicketKey], state: String) -> OpenIDProvider.Secrets? {
    let secrets = keys.map { self.secrets($0) }
    return secrets.first { secret in
      secret.state.utf8.count == state.utf8.count
        && copenssl_equal(secret.state, state, state.utf8.count)
    }
  }

  /// By which the store remembers that it has counted.
  var hash: Digest { Digest(of: Self.purpose + text) }

  private func derived(_ name: String, _ key: TicketKey) -> String {
    var code = [UInt8](repeating: 0, count: 32)
    let message = Self.purpose + name + " " + text
    copenssl_hmac_sha256(
      key.secret, key.secret.count, message, message.utf8.count, &code)
    return Base64URL.encode(code)
  }

  private static let suffix = "-sign-in"

  /// The `Set-Cookie` field that keeps it in the browser while people are at the provider.
  ///
  /// It comes back with the redirection from there, which a stricter cookie would not.
  func setCookie(_ name: String) -> String {
    SessionToken.setCookie(
      name + Self.suffix, text, maxAge: Int(Self.lifetime), sameSite: "Lax")
  }

  /// The `Set-Cookie` field that removes it.
  static func removeCookie(_ name: String) -> String {
    SessionToken.setCookie(name + suffix, "", maxAge: 0, sameSite: "Lax")
  }
}
