import COpenSSL
package import FoundationEssentials
import Primitives
package import Store
import Synchronization

/// Signs and verifies links to media that need no password.
///
/// A link, `/media/<id>/<rendition>?expires=<seconds since 1970>&key=<id>&signature=<HMAC-SHA-256>`,
/// gives access only to that rendition of that content, until it expires.
package final class MediaLinks: Sendable {
  /// What a link leads to.
  package struct Target: Sendable, Equatable {
    package let id: Int
    /// A ``RenditionOptions/name``.
    package let rendition: String
    /// ``RenditionSource/content`` when the link was signed: after a change the link is invalid.
    package let content: String
    /// In whole seconds since 1970.
    package let expires: Int

    /// Names a rendition of a notification's content.
    package init(id: Int, rendition: String, content: String, expires: Int) {
      (self.id, self.rendition) = (id, rendition)
      (self.content, self.expires) = (content, expires)
    }
  }

  /// The result of verifying a link.
  package enum Verdict: Sendable {
    /// Valid for this number of seconds.
    case valid(secondsLeft: Int)
    case expired
    case forged
  }

  /// How long a link is valid, in seconds: a week, since phones may be off for days.
  static let lifetime = 7 * 86_400

  private let store: Store
  private let base: String?
  fileprivate let keys: Mutex<[LinkKey]>

  /// Reads the store's keys; `base` is the server's public URL, such as `https://push.example`.
  package init(store: Store, base: String?) async throws {
    (self.store, self.base) = (store, base)
    keys = Mutex(try await store.accounts.linkKeys())
  }

  /// Reads the keys again: another process may have changed them.
  ///
  /// - Returns: Whether a key was removed, so that links that were valid may not be any more.
  package func reload() async throws -> Bool {
    let fresh = try await store.accounts.linkKeys()
    return keys.withLock { keys in
      defer { keys = fresh }
      return !Set(keys.map(\.id)).isSubset(of: fresh.map(\.id))
    }
  }

  /// When a link that is signed now expires, in seconds since 1970.
  ///
  /// Rounded up to a whole hour, so that links signed within it are equal and caches can reuse them.
  package static func expiry(of notificationExpires: Date?, now: Date) -> Int {
    let end = (Int(now.timeIntervalSince1970) / 3600 + 1) * 3600 + lifetime
    return min(end, notificationExpires.map { Int($0.timeIntervalSince1970) } ?? end)
  }

  /// The link without scheme and host.
  package func path(to target: Target) -> String {
    guard let key = keys.withLock({ $0.first }) else { return "" }
    return Self.path(to: target, by: key)
  }

  private static func path(to target: Target, by key: LinkKey) -> String {
    "/media/\(target.id)/\(target.rendition)?expires=\(target.expires)&key=\(key.id)"
      + "&signature=\(Base64URL.encode(code(of: target, by: key)))"
  }

  /// The whole link; nil if the server's public URL is not configured.
  package func url(to target: Target) -> String? { base.map { $0 + path(to: target) } }

  /// Verifies a link, byte for byte and in constant time.
  ///
  /// Another spelling of the same link counts as forged: each would be another entry in every cache.
  package func verify(_ target: Target, key id: Int, link: String, now: Date) -> Verdict {
    guard let key = keys.withLock({ $0.first { $0.id == id } }) else { return .forged }
    let expected = Self.path(to: target, by: key)
    guard expected.utf8.count == link.utf8.count,
      copenssl_equal(expected, link, expected.utf8.count)
    else { return .forged }
    let left = target.expires - Int(now.timeIntervalSince1970)
    return left > 0 ? .valid(secondsLeft: left) : .expired
  }

  private static func code(of target: Target, by key: LinkKey) -> [UInt8] {
    code(of: "\(target.id)/\(target.rendition)\n\(target.expires)\n\(target.content)", by: key)
  }

  fileprivate static func code(of text: String, by key: LinkKey) -> [UInt8] {
    let (secret, text) = (Array(key.secret.utf8), Array(text.utf8))
    var code = [UInt8](repeating: 0, count: 32)
    copenssl_hmac_sha256(secret, secret.count, text, text.count, &code)
    return code
  }
}

// MARK: - Recipients

/// Names the recipient in a link to media that is in no push, so that a fetch shows whose it is:
/// `&for=<user>.<key id>.<HMAC-SHA-256>.<registration>`.
package struct LinkRecipient: Sendable, Equatable {
  /// The user.
  package let user: UserID
  /// The registration of the user's device; nil if it is not known.
  package let device: String?

  /// Names a user, or a device of the user.
  package init(_ user: UserID, device: String? = nil) { (self.user, self.device) = (user, device) }

  fileprivate func signed(_ notification: Int, by key: LinkKey) -> String {
    let text = "recipient\n\(notification)\n\(user.rawValue)\n\(device ?? "")"
    let code = Base64URL.encode(MediaLinks.code(of: text, by: key))
    return "&for=\(user.rawValue).\(key.id).\(code).\(device ?? "")"
  }
}

extension MediaLinks {
  /// The end of a link to a notification's media that names its recipient.
  package func suffix(for recipient: LinkRecipient, of notification: Int) -> String {
    keys.withLock { $0.first }.map { recipient.signed(notification, by: $0) } ?? ""
  }

  /// Splits a link into the part that all recipients share and the recipient; nil if it does not end with one, or
  /// with one that was not signed for this notification.
  package func splitting(
    _ link: String, of notification: Int
  ) -> (shared: String, recipient: LinkRecipient)? {
    guard let start = link.ranges(of: "&for=").last else { return nil }
    let words = link[start.upperBound...].split(
      separator: ".", maxSplits: 3, omittingEmptySubsequences: false)
    guard words.count == 4, let user = Int(words[0]), let id = Int(words[1]),
      let key = keys.withLock({ $0.first { $0.id == id } })
    else { return nil }
    let device = words[3].isEmpty ? nil : String(words[3])
    let recipient = LinkRecipient(UserID(rawValue: user), device: device)
    let (given, expected) = (
      String(link[start.lowerBound...]), recipient.signed(notification, by: key)
    )
    guard given.utf8.count == expected.utf8.count,
      copenssl_equal(expected, given, expected.utf8.count)
    else { return nil }
    return (String(link[..<start.lowerBound]), recipient)
  }
}

// MARK: - Secrets of pushes

/// The secret of a push: `<job>.<key id>.<HMAC-SHA-256>`.
///
/// Its payload carries it and no link does, because links pass through others' hands. With it a device answers.
package struct PushSecret: Sendable {
  /// The number of the job.
  package let job: Int
  private let text: String
  private let key: Int

  /// Parses a secret; nil if it has another form.
  package init?(_ text: some StringProtocol) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let job = Int(parts[0]), let key = Int(parts[1]) else { return nil }
    (self.job, self.key, self.text) = (job, key, String(text))
  }

  fileprivate func matches(_ keys: [LinkKey], token: String) -> Bool {
    guard let key = keys.first(where: { $0.id == key }) else { return false }
    let expected = MediaLinks.secret(of: job, token: token, by: key)
    return expected.utf8.count == text.utf8.count
      && copenssl_equal(expected, text, expected.utf8.count)
  }
}

extension MediaLinks {
  /// The secret of the push with this number and UUID.
  package func secret(of job: Int, token: String) -> String {
    keys.withLock { $0.first }.map { Self.secret(of: job, token: token, by: $0) } ?? ""
  }

  /// Whether a secret is that of the job with this UUID, in constant time.
  package func verify(_ secret: PushSecret, token: String) -> Bool {
    secret.matches(keys.withLock { $0 }, token: token)
  }

  // The text of a link begins with a number. The UUID: after a restore a later job may have the same number.
  fileprivate static func secret(of job: Int, token: String, by key: LinkKey) -> String {
    "\(job).\(key.id).\(Base64URL.encode(code(of: "interactions\n\(job)\n\(token)", by: key)))"
  }
}
