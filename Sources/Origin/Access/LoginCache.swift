import Primitives
import RichPushAPI
import Store
import Synchronization

/// Remembers whose credentials were verified, by a keyed hash of the `Authorization` field or of a session's token.
///
/// An entry ends after a day, when it was not used for long and there are too many, or when its user is changed;
/// then its credentials must be checked again, which needs no password hash if only something else was changed.
final class LoginCache: Sendable {
  /// A keyed hash of credentials.
  typealias Key = KeyedHash.Value

  /// What is known of credentials.
  enum Entry: Sendable {
    case valid(Caller)
    /// The user, a registration or a token of the user was changed since.
    case changed(Caller)
    case unknown
  }

  private struct Known {
    let caller: Caller
    /// In seconds since ``LoginCache/start``.
    let expires: UInt32
    let verified: ChangeClock.Moment
  }

  /// When users were changed.
  let changes = ChangeClock()
  private let logins: Mutex<GenerationalCache<Key, Known>>
  private let hash = KeyedHash()
  private let start = ContinuousClock.now
  private let lifetime: UInt32

  /// Remembers about `capacity` logins, in about 150 bytes each.
  init(capacity: Int = 1_000_000, lifetime: Duration = .seconds(86_400)) {
    self.lifetime = UInt32(lifetime / .seconds(1))
    logins = Mutex(GenerationalCache(capacity: capacity))
  }

  /// The number of logins.
  var count: Int { logins.withLock { $0.count } }

  /// The key of the value of an `Authorization` field, or of another text that only its owner knows.
  func key(_ credentials: String) -> Key { hash(credentials) }

  /// What is known of credentials.
  func find(_ key: Key) -> Entry {
    guard let login = logins.withLock({ $0.value(for: key) }), login.expires > seconds
    else { return .unknown }
    return changes.hasChanged(login.caller.id.rawValue, since: login.verified)
      ? .changed(login.caller) : .valid(login.caller)
  }

  /// Remembers a caller whose credentials were verified; `moment` was asked for before.
  func add(_ caller: Caller, as key: Key, verified moment: ChangeClock.Moment) {
    let login = Known(caller: caller, expires: seconds + lifetime, verified: moment)
    logins.withLock { $0.insert(login, for: key) }
  }

  private var seconds: UInt32 { UInt32((ContinuousClock.now - start).components.seconds) }
}

/// A user's login as of a moment.
struct Login: Sendable {
  let user: UserID
  let moment: ChangeClock.Moment
  let changes: ChangeClock

  /// Whether the user was not changed since.
  var isCurrent: Bool { !changes.hasChanged(user.rawValue, since: moment) }
}
