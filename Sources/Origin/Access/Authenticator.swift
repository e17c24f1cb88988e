import Dispatch
import FoundationEssentials
import Primitives
import RichPushAPI
import Store
import Synchronization

/// Authenticates requests; caches verified passwords, so that not every request is hashed.
final class Authenticator: Sendable {
  /// The result of looking up an `Authorization` field.
  enum Lookup: Sendable {
    case caller(Caller)
    /// No Basic credentials.
    case invalid
    /// Credentials that are not cached and need ``verify(_:_:from:)``.
    case unverified(Credentials)
  }

  /// The result of verifying a password.
  enum Verification: Sendable {
    case caller(Caller)
    case wrong
    /// Not checked because of too many failures; try again after this number of seconds.
    case tooManyFailures(wait: Int)
    /// Not checked because the queue is full; try again after this number of seconds.
    case busy(wait: Int)
  }

  private struct CachedLogin {
    let caller: Caller
    let expires: ContinuousClock.Instant
  }

  private struct Cache {
    /// By the value of `Authorization`.
    var logins: [String: CachedLogin] = [:]
    /// The count of user changes (``Accounts/userChanges()``) at the last check.
    var changes = 0
  }

  private let accounts: any Accounts
  private let loopReads: any EventLoopReads
  private let isDemo: Bool
  private let cache = Mutex(Cache())
  private let hashing = DispatchQueue(label: "richpush.passwords", attributes: .concurrent)
  private let limiter = HashLimiter(width: ProcessInfo.processInfo.activeProcessorCount)
  private let failures: FailedLogins
  /// How long a login is cached.
  private let lifetime: Duration
  private static let capacity = 100_000

  /// Authenticates the store's users; in demo mode, also any user whose password equals the name.
  init(
    store: Store, isDemo: Bool, failures: FailedLogins = FailedLogins(),
    lifetime: Duration = .seconds(300)
  ) {
    (accounts, loopReads, self.isDemo) = (store.accounts, store.loopReads, isDemo)
    (self.failures, self.lifetime) = (failures, lifetime)
    // Otherwise the first unknown name would take longer than later ones.
    if !isDemo { hashing.async { _ = Self.dummyHash } }
  }

  /// The caller, if known without hashing.
  func find(_ authorization: String) -> Lookup {
    let known = cache.withLock { $0.logins[authorization] }
    if let known, known.expires > .now { return .caller(known.caller) }
    guard let credentials = Credentials(authorization) else { return .invalid }
    if isDemo, credentials.password == credentials.name,
      let changes = try? loopReads.userChanges(),
      let id = try? loopReads.userID(of: credentials.name, allowingPasswordless: true)
    {
      return .caller(admit(id, credentials, authorization, changes))
    }
    return .unverified(credentials)
  }

  /// Compares the password with the stored hash, unless the address or the name has failed too often.
  ///
  /// An unknown name takes as long as a wrong password.
  func verify(
    _ credentials: Credentials, _ authorization: String, from address: String
  ) async -> Verification {
    if isDemo, credentials.password == credentials.name {
      let name = credentials.name
      guard let changes = try? await accounts.userChanges(),
        let id = try? await accounts.userIDs(of: [name], allowingPasswordless: true)[name]
      else { return .busy(wait: 1) }
      return .caller(admit(id, credentials, authorization, changes))
    }
    do throws(AdmissionQueue<Bool>.Rejection) {
      return try await limiter.run(isSuspect: failures.hasFailed(from: address)) {
        await compare(credentials, authorization, from: address)
      }
    } catch {
      guard case .full(let wait) = error else { return .busy(wait: 1) }
      return .busy(wait: Int(wait / .seconds(1)))
    }
  }

  private func compare(
    _ credentials: Credentials, _ authorization: String, from address: String
  ) async -> Verification {
    // Of many requests from one phone at once, only the first is hashed.
    if case .caller(let caller) = find(authorization) { return .caller(caller) }
    if let wait = failures.wait(credentials.name, from: address) {
      return .tooManyFailures(wait: wait)
    }
    let changes = try? await accounts.userChanges()
    let user = try? await accounts.user(named: credentials.name)
    let isRight = await withCheckedContinuation { continuation in
      hashing.async {
        let hash = user?.hash ?? Self.dummyHash
        continuation.resume(returning: PasswordHash.verify(credentials.password, hash))
      }
    }
    guard isRight, let user else {
      failures.failed(credentials.name, from: address)
      return .wrong
    }
    failures.succeeded(credentials.name, from: address)
    let caller = Caller(id: user.id, name: user.name, role: user.role, hash: user.hash)
    addToCache(caller, as: authorization, since: changes ?? 0)
    return .caller(caller)
  }

  /// Logs a guest of demo mode in.
  private func admit(
    _ id: UserID, _ credentials: Credentials, _ authorization: String, _ changes: Int
  ) -> Caller {
    let name = credentials.name
    let caller = Caller(id: id, name: name, role: name == "admin" ? .admin : .publisher, hash: nil)
    addToCache(caller, as: authorization, since: changes)
    return caller
  }

  /// Removes callers from the cache who were removed or changed in the store, also by another process.
  ///
  /// - Returns: a check whether an earlier caller is still the same user, with the same password and
  ///   role. Open streams must use it, since their callers may no longer be cached.
  func forgetChanged() async throws -> @Sendable (Caller) async -> Bool {
    let changes = try await accounts.userChanges()
    let known = Dictionary(try await accounts.users().map { ($0.id, $0) }) { $1 }
    let isCurrent: @Sendable (Caller) async -> Bool = { [accounts] caller in
      guard let hash = caller.hash else { return (try? await accounts.isUser(caller.id)) == true }
      let user = known[caller.id]
      return user?.hash == hash && user?.role == caller.role
    }
    // From here on, no login that was verified before the changes is added.
    let logins = cache.withLock { cache in
      cache.changes = max(changes, cache.changes)
      return cache.logins
    }
    for (authorization, login) in logins {
      if await isCurrent(login.caller) { continue }
      cache.withLock { cache in
        if cache.logins[authorization]?.caller == login.caller { cache.logins[authorization] = nil }
      }
    }
    return isCurrent
  }

  /// Caches a login, unless users were changed since; `changes` was read before the user was.
  private func addToCache(_ caller: Caller, as authorization: String, since changes: Int) {
    cache.withLock { cache in
      guard changes >= cache.changes else { return }
      if cache.logins.count >= Self.capacity {
        cache.logins = cache.logins.filter { $0.value.expires > .now }
        if cache.logins.count >= Self.capacity { cache.logins.removeAll() }
      }
      cache.logins[authorization] = CachedLogin(caller: caller, expires: .now + lifetime)
    }
  }

  /// Compared with the passwords of unknown names.
  private static let dummyHash = PasswordHash.make("nobody") ?? "$y$"
}

/// Limits password hashing to one per processor; clients with recent failures come last, one at a time.
final class HashLimiter: Sendable {
  /// Elements tell whether the client has failed recently.
  private let queue: AdmissionQueue<Bool>
  private let suspects: AdmissionQueue<Bool>
  /// A client that would wait longer gets a 503 with Retry-After.
  private static let timeout = Duration.seconds(20)
  /// The duration of a hash on a slow machine (yescrypt with the default cost).
  private static let initialDuration = Duration.milliseconds(50)
  /// More than any wait, so that other clients come before suspects.
  private static let precedence = Duration.seconds(1000)

  /// `width` is the number of processors.
  init(width: Int) {
    queue = AdmissionQueue(
      width: width, timeout: Self.timeout, initialDuration: Self.initialDuration
    ) { isSuspect, waited in isSuspect ? waited : waited + Self.precedence }
    suspects = AdmissionQueue(
      width: 1, timeout: Self.timeout, initialDuration: Self.initialDuration)
  }

  /// The number of clients that wait.
  var waiting: Int { queue.status.waiting + suspects.status.waiting }

  /// Runs `hash` when it is admitted.
  ///
  /// - Throws: The rejection, if too many wait.
  func run<R>(
    isSuspect: Bool, _ hash: () async -> R
  ) async throws(AdmissionQueue<Bool>.Rejection) -> R {
    guard isSuspect else { return try await queue.withAdmission(false, hash).get() }
    return try await suspects.withAdmission(true) {
      () async throws(AdmissionQueue<Bool>.Rejection) in
      try await queue.withAdmission(true, hash).get()
    }.get()
  }
}
