import Primitives
import RichPushAPI
import Store
import Synchronization

/// Remembers whose credentials were verified, by a keyed hash of the `Authorization` field.
///
/// An entry ends after a day, when it was not used for long and there are too many, or when its user is changed;
/// then its credentials must be checked again, which needs no password hash if only something else was changed.
final class LoginCache: Sendable {
  /// What is known of an `Authorization` field.
  enum Entry: Sendable {
    case valid(Caller)
    /// The user, a registration or a token of the user was changed since.
    case changed(Caller)
    case unknown
  }

  /// A moment between changes of users.
  typealias Moment = UInt32

  private struct Login {
    let caller: Caller
    /// In seconds since ``LoginCache/start``.
    let expires: UInt32
    let verified: Moment
  }

  private struct State {
    var logins: GenerationalCache<KeyedHash.Value, Login>
    var now: Moment = 0
    /// The moment of the last change of all users.
    var changeOfAll: Moment = 0
    /// The moment of the last change of the users whose numbers have the same remainder.
    var changes = [Moment](repeating: 0, count: LoginCache.remainders)

    func isCurrent(_ login: Login) -> Bool {
      let change = changes[login.caller.id.rawValue & (LoginCache.remainders - 1)]
      return max(change, changeOfAll) <= login.verified
    }
  }

  private let state: Mutex<State>
  private let hash = KeyedHash()
  private let start = ContinuousClock.now
  private let lifetime: UInt32

  /// A power of two.
  private static let remainders = 4096

  /// Remembers about `capacity` logins, in about 150 bytes each.
  init(capacity: Int = 1_000_000, lifetime: Duration = .seconds(86_400)) {
    self.lifetime = UInt32(lifetime / .seconds(1))
    state = Mutex(State(logins: GenerationalCache(capacity: capacity)))
  }

  /// The number of logins.
  var count: Int { state.withLock { $0.logins.count } }

  /// The present moment, to be asked for before the store is read.
  var moment: Moment { state.withLock { $0.now } }

  /// What is known of the value of an `Authorization` field.
  func find(_ authorization: String) -> Entry {
    let (key, now) = (hash(authorization), seconds)
    return state.withLock { state in
      guard let login = state.logins.value(for: key), login.expires > now else { return .unknown }
      return state.isCurrent(login) ? .valid(login.caller) : .changed(login.caller)
    }
  }

  /// Remembers a caller whose credentials were verified; `moment` was asked for before.
  func add(_ caller: Caller, as authorization: String, verified moment: Moment) {
    let login = Login(caller: caller, expires: seconds + lifetime, verified: moment)
    let key = hash(authorization)
    state.withLock { state in
      if state.isCurrent(login) { state.logins.insert(login, for: key) }
    }
  }

  /// Ends what is known of a user; of all users without one.
  func invalidate(_ user: UserID?) {
    state.withLock { state in
      state.now += 1
      if let user {
        state.changes[user.rawValue & (Self.remainders - 1)] = state.now
      } else {
        state.changeOfAll = state.now
      }
    }
  }

  private var seconds: UInt32 { UInt32((ContinuousClock.now - start) / .seconds(1)) }
}
