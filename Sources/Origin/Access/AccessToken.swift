import Delivery
import FoundationEssentials
import Primitives
import Push
import RichPushAPI
import Store

/// The secret of an access token, which a program sends as a bearer token (RFC 6750) or as the password of Basic
/// authentication, with the name of its user or an empty one.
struct AccessToken: Sendable {
  /// `rpt_` and 43 characters of base64url.
  let text: String

  /// Tells it from all other secrets, also for scanners of source code.
  static let prefix = "rpt_"

  /// 256 bits of the system's randomness.
  init() { text = Self.prefix + DeviceToken().text }

  /// Nil if the text has not the form of a token.
  init?(_ text: some StringProtocol) {
    guard text.utf8.count == Self.prefix.utf8.count + 43, text.hasPrefix(Self.prefix) else {
      return nil
    }
    self.text = String(text)
  }

  /// What the store keeps; a random token needs no slow hash.
  var hash: Digest { Digest(of: text) }
}

extension NewAccessToken {
  /// Whether it only reads what admins may.
  var isForReading: Bool { status || audit }
}

extension IssuedAccessToken {
  /// Makes a token for a publisher of a store; nil if there is no such user.
  ///
  /// - Throws: what is wrong with it, or `conflict` if the user has too many, or one of that name.
  static func issue(
    _ new: NewAccessToken, for user: UserID, in store: Store
  ) async throws -> IssuedAccessToken? {
    let token = AccessToken()
    let scope = try AccessTokenScope(new, at: store.now())
    let added = try await store.accessTokens.addAccessToken(
      token.hash, new.name, scope, of: user)
    return added.map { IssuedAccessToken(token.text, AccessTokenList.Token($0)) }
  }
}

extension AccessTokenScope {
  /// The most notifications a minute that a token can allow.
  private static let rates = 1...100_000

  /// What a new token allows.
  ///
  /// - Throws: everything that is wrong with the token.
  init(_ new: NewAccessToken, at now: Date) throws(ServiceError) {
    var faults: [ServiceError.Fault] = []
    // The command line takes a name or an ID.
    if !UserName.isValid(new.name) || new.name.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      let reason = "name must have from 1 to 64 letters, digits and “-_.@”, not only digits."
      faults.append(.init("name", .rejected, reason))
    }
    if let rate = new.rate, !Self.rates.contains(rate) {
      let reason =
        "rate must be a number of notifications a minute from 1 to \(Self.rates.upperBound)."
      faults.append(.init("rate", .rejected, reason))
    }
    if let expires = new.expires, expires <= now {
      faults.append(.init("expires", .rejected, "expires is in the past."))
    }
    self.init()
    to = new.audience?.tags
    if let to {
      do throws(ServiceError) { _ = try Draft.audience(to) } catch { faults += error.faults }
    }
    if new.isForReading,
      new.audience != nil || new.receipts || new.assets || new.rate != nil
    {
      let reason =
        "With status or audit, a token only reads that: leave out to, receipts, assets and rate."
      faults.append(.init(new.status ? "status" : "audit", .rejected, reason))
    }
    if let error = ServiceError(faults) { throw error }
    (readsReceipts, uploadsAssets) = (new.receipts, new.assets)
    (readsStatus, readsAudit) = (new.status, new.audit)
    (rate, expires) = (new.rate, new.expires)
  }
}

extension AccessTokenList.Token {
  /// A token of the store.
  init(_ stored: StoredAccessToken) {
    self.init(id: stored.id, name: stored.name, user: stored.user, created: stored.created)
    let scope = stored.scope
    (to, receipts, assets) = (scope.to, scope.readsReceipts, scope.uploadsAssets)
    (status, audit) = (scope.readsStatus, scope.readsAudit)
    (rate, expires) = (scope.rate, scope.expires)
    (used, address) = (stored.used, stored.address)
  }
}
