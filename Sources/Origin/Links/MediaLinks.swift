import CGnuTLS
import FoundationEssentials
import Store
import Synchronization

/// Makes and checks addresses at which media is fetched without a password.
///
/// `/media/<id>/<rendition>?expires=<seconds since 1970>&key=<id>&signature=<HMAC-SHA-256>`: whoever
/// holds the address may fetch that rendition of that content until then, and nothing else.
final class MediaLinks: Sendable {
  /// What an address opens.
  struct Place: Sendable, Equatable {
    let id: Int
    /// A name that ``RenditionOptions/init(name:)`` reads.
    let rendition: String
    /// What the notification held when the address was made: another content needs another one.
    let content: String
    /// Whole seconds since 1970.
    let expires: Int
  }

  /// What an address is worth.
  enum Verdict: Sendable {
    /// Ours, and its time is not over: so many seconds are left.
    case valid(left: Int)
    /// Ours, but its time is over.
    case expired
    case forged
  }

  /// How long an address is good for, in seconds: as long as a phone may be off.
  static let lifetime = 7 * 86_400

  private let store: Store
  private let base: String?
  private let keys: Mutex<[LinkKey]>

  /// Reads the store's keys; `base` is where the world reaches this server, such as
  /// `https://push.example`.
  init(store: Store, base: String?) throws {
    (self.store, self.base) = (store, base)
    keys = Mutex(try store.linkKeys())
  }

  /// Reads the keys anew: another process may have changed them.
  func reload() throws {
    let fresh = try store.linkKeys()
    keys.withLock { $0 = fresh }
  }

  /// When an address that is made now should end, as a number of seconds since 1970.
  ///
  /// Whole hours, so that whoever asks again gets the same address, and caches profit.
  static func expiry(of notificationExpires: Date?, now: Date) -> Int {
    let end = (Int(now.timeIntervalSince1970) / 3600 + 1) * 3600 + lifetime
    return min(end, notificationExpires.map { Int($0.timeIntervalSince1970) } ?? end)
  }

  /// The address without its host.
  func path(to place: Place) -> String {
    guard let key = keys.withLock({ $0.first }) else { return "" }
    return Self.path(to: place, by: key)
  }

  private static func path(to place: Place, by key: LinkKey) -> String {
    "/media/\(place.id)/\(place.rendition)?expires=\(place.expires)&key=\(key.id)"
      + "&signature=\(text(of: code(of: place, by: key)))"
  }

  /// The whole address; nil unless the operator said where the world reaches this server.
  func url(to place: Place) -> String? { base.map { $0 + path(to: place) } }

  /// Whether the address is the one that is made for just this, byte for byte.
  ///
  /// Another spelling would be another entry for every cache. Compared in constant time.
  func check(_ place: Place, key id: Int, address: String, now: Date) -> Verdict {
    guard let key = keys.withLock({ $0.first { $0.id == id } }) else { return .forged }
    let expected = Self.path(to: place, by: key)
    guard expected.utf8.count == address.utf8.count,
      gnutls_memcmp(expected, address, expected.utf8.count) == 0
    else { return .forged }
    let left = place.expires - Int(now.timeIntervalSince1970)
    return left > 0 ? .valid(left: left) : .expired
  }

  private static func code(of place: Place, by key: LinkKey) -> [UInt8] {
    let secret = Array(key.secret.utf8)
    let text = Array("\(place.id)/\(place.rendition)\n\(place.expires)\n\(place.content)".utf8)
    var code = [UInt8](repeating: 0, count: 32)
    cgnutls_hmac_sha256(secret, secret.count, text, text.count, &code)
    return code
  }

  /// Base64 for URLs, without padding (RFC 4648, section 5).
  private static func text(of code: [UInt8]) -> String {
    String(
      Data(code).base64EncodedString().compactMap { character -> Character? in
        switch character {
        case "+": "-"
        case "/": "_"
        case "=": nil
        default: character
        }
      })
  }
}
