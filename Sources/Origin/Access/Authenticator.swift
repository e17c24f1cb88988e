import Dispatch
import FoundationEssentials
import HTTP
import Media
import Primitives
import RichPushAPI
import Store
import Synchronization

/// Authenticates requests by password (Basic, RFC 7617), by the token of a device or an access token (Bearer, RFC 6750,
/// or as a password), or by the cookie of a session.
final class Authenticator: Sendable {
  /// What the `Authorization` field alone tells.
  enum Lookup: Sendable {
    case caller(Caller)
    /// No well-formed credentials.
    case invalid
    /// Credentials that need ``verify(_:from:fetching:)``.
    case unverified(Unverified)
  }

  /// Well-formed credentials of an `Authorization` field.
  struct Unverified: Sendable {
    enum Secret: Sendable {
      case token(DeviceToken)
      case accessToken(ShownAccessToken)
      case password(Credentials)
    }

    /// By which they are remembered.
    let key: LoginCache.Key
    let secret: Secret
    /// Whose they were when they were verified before something of the user was changed.
    let former: Caller?

    /// Nil if they are not well-formed.
    init?(_ authorization: String, _ key: LoginCache.Key, _ known: LoginCache.Entry) {
      if let token = DeviceToken(authorization) {
        secret = .token(token)
      } else if let token = ShownAccessToken(authorization) {
        secret = .accessToken(token)
      } else if let credentials = Credentials(authorization) {
        secret = .password(credentials)
      } else {
        return nil
      }
      self.key = key
      former = if case .changed(let caller) = known { caller } else { nil }
    }
  }

  /// The result of verifying credentials.
  enum Verification: Sendable {
    /// For a device that fetches a notification, also what the store told of the fetch, if it was asked.
    case caller(Caller, FetchRecord? = nil)
    case wrong
    /// Not checked because of too many failures; try again after this number of seconds.
    case tooManyFailures(wait: Int)
    /// Not checked because the queue is full; try again after this number of seconds.
    case busy(wait: Int)
    /// Not checked because the store does not answer.
    case failed(ServiceError)
  }

  private let store: Store
  private let accounts: any Accounts
  let isDemo: Bool
  /// How people sign in.
  let signIn: SignInSettings
  private let logins: LoginCache
  private let hashing = DispatchQueue(label: "richpush.passwords", attributes: .concurrent)
  private let limiter = HashLimiter(width: Processors.count)
  private let reservations = LoginReservations()
  private let uses: AccessTokenUses
  let failures: FailedLogins
  /// When users were changed.
  var changes: ChangeClock { logins.changes }

  /// Authenticates the store's users; in demo mode, also any user whose password equals the name.
  init(
    store: Store, isDemo: Bool, signIn: SignInSettings = SignInSettings(),
    failures: FailedLogins = FailedLogins(),
    logins: LoginCache = LoginCache(), clock: any SteadyClock = ContinuousClock()
  ) {
    (self.store, accounts) = (store, store.accounts)
    (self.isDemo, self.signIn, uses) = (isDemo, signIn, AccessTokenUses(clock: clock))
    (self.failures, self.logins) = (failures, logins)
    // Otherwise the first unknown name would take longer than later ones.
    if !isDemo { hashing.async { [limiter] in limiter.record(Self.dummy.duration) } }
  }

  /// The caller, if the credentials were verified before.
  func find(_ authorization: String, from address: String) -> Lookup {
    let key = logins.key(authorization)
    let known = logins.find(key)
    if case .valid(let caller) = known, !caller.hasEnded(at: store.now()) {
      recordUse(by: caller, from: address)
      return .caller(caller)
    }
    return Unverified(authorization, key, known).map { .unverified($0) } ?? .invalid
  }

  /// Whose credentials a request has, as they were last verified, for logs.
  @Sendable func knownCaller(_ request: Request) -> Caller? {
    let session = { () -> String? in
      SessionToken.isFromOwnPage(request) ? SessionToken(in: request)?.loginKey : nil
    }
    guard let credentials = request.fields["Authorization"] ?? session() else { return nil }
    switch logins.find(logins.key(credentials)) {
    case .valid(let caller), .changed(let caller): return caller
    case .unknown: return nil
    }
  }

  /// Verifies credentials.
  ///
  /// A password is hashed, unless the name, there or at all, or the address has failed too often. An unknown name takes as
  /// long as a wrong password. What a device with a token fetches is read together with the token.
  func verify(
    _ given: Unverified, from address: String, fetching fetch: Fetch? = nil
  ) async -> Verification {
    do {
      if let former = given.former {
        let found = try await remembering(given.key) {
          try await store.isCurrent(former) ? .caller(former) : .wrong
        }
        if case .caller(let caller, _) = found {
          recordUse(by: caller, from: address)
          return found
        }
      }
      return switch given.secret {
      case .token(let token):
        try await remembering(given.key) { try await verify(token, fetching: fetch) }
      case .accessToken(let shown):
        try await remembering(given.key) { try await verify(shown, from: address) }
      case .password(let credentials):
        try await verify(credentials, given.key, from: address)
      }
    } catch {
      switch error {
      case AdmissionQueue.Rejection.full(let wait): return .busy(wait: Int(wait / .seconds(1)))
      case is AdmissionQueue.Rejection: return .busy(wait: 1)
      default: return .failed(ServiceError(any: error))
      }
    }
  }

  // Inlined, these would make one frame so large that allocating it costs a microsecond.

  @inline(never)
  private func verify(
    _ token: DeviceToken, fetching fetch: Fetch?
  ) async throws -> Verification {
    let hash = token.hash
    guard let device = try await accounts.device(withToken: hash, fetching: fetch?.notification)
    else { return .wrong }
    let caller = Caller(
      id: device.user, name: device.name, role: .device,
      proof: .token(hash, device: device.registration))
    return .caller(
      caller, fetch.map { FetchRecord(fetch: $0, isRecorded: device.isFetchRecorded) })
  }

  @inline(never)
  private func verify(
    _ shown: ShownAccessToken, from address: String
  ) async throws -> Verification {
    let hash = shown.token.hash
    guard let owner = try await store.accessTokens.owner(ofAccessToken: hash),
      shown.user == nil || shown.user == owner.name, isDemo || !owner.isPasswordless,
      let caller = Caller(owner, hash: hash)
    else { return .wrong }
    recordUse(by: caller, from: address)
    return .caller(caller)
  }

  /// Has the store know that the caller's access token was used, if it was not within the last minute.
  private func recordUse(by caller: Caller, from address: String) {
    guard case .accessToken(_, let id, _) = caller.proof, uses.isToBeStored(of: id) else { return }
    store.accessTokens.recordUse(ofAccessToken: id, from: address)
  }

  /// Counts a notification that the caller is about to send or to change.
  ///
  /// - Throws: `tooManyRequests` if the caller's access token has sent as many within a minute as it may, at this node.
  func countNotification(by caller: Caller) throws(ServiceError) {
    guard case .accessToken(_, let id, let scope) = caller.proof, let rate = scope.rate else {
      return
    }
    try uses.count(id, rate: rate)
  }

  @inline(never)
  private func verify(
    _ credentials: Credentials, _ key: LoginCache.Key, from address: String
  ) async throws -> Verification {
    if isDemo {
      let found = try await remembering(key) {
        try await guest(credentials).map { .caller($0) } ?? .wrong
      }
      if case .caller = found { return found }
    }
    if let token = DeviceToken(shown: credentials.password) {
      // Other programs' apps have no other place for it. A password may have the same form.
      let found = try await remembering(key) {
        let found = try await verify(token, fetching: nil)
        if case .caller(let caller, _) = found, caller.name == credentials.name { return found }
        return .wrong
      }
      if case .caller = found { return found }
    }
    return try await inTurn(credentials, key, from: address)
  }

  /// Verifies the value of an `Authorization` field.
  func verify(_ authorization: String, from address: String) async -> Verification {
    let key = logins.key(authorization)
    guard let given = Unverified(authorization, key, logins.find(key)) else { return .wrong }
    return await verify(given, from: address)
  }

  /// The caller of a session, if its token was verified before.
  func find(_ token: SessionToken) -> Caller? {
    guard case .valid(let caller) = logins.find(logins.key(token.loginKey)),
      !caller.hasEnded(at: store.now())
    else { return nil }
    return caller
  }

  /// Verifies the token of a session.
  func verify(_ token: SessionToken) async -> Verification {
    do {
      return try await remembering(logins.key(token.loginKey)) {
        guard let user = try await store.sessions.sessionUser(withToken: token.hash),
          isDemo || !user.isPasswordless
        else { return .wrong }
        return .caller(Caller(user, hash: token.hash))
      }
    } catch { return .failed(ServiceError(any: error)) }
  }

  /// Verifies credentials, and remembers whose they are, marked as changed if that user changes meanwhile: what was
  /// read may be from before the change.
  func remembering(
    _ key: LoginCache.Key, _ verify: () async throws -> Verification
  ) async rethrows -> Verification {
    let moment = logins.changes.moment
    let verification = try await verify()
    if case .caller(let caller, _) = verification {
      logins.add(caller, as: key, verified: moment)
    }
    return verification
  }

  /// Checks and hashes a new password when it is admitted.
  ///
  /// - Throws: `rejected` if it is easily guessed, `busy` if too many wait.
  func makeHash(of password: String, for name: String) async throws(ServiceError) -> String {
    do {
      return try await limiter.run(isSuspect: false) {
        await withCheckedContinuation { continuation in
          hashing.async {
            continuation.resume(
              returning: Result { () throws(OperatorError) in
                try NewPassword(password, of: name).hash
              })
          }
        }
      }.get()
    } catch let error as OperatorError {
      throw ServiceError(
        .rejected, error.reason.prefix(1).uppercased() + error.reason.dropFirst() + ".")
    } catch {
      throw ServiceError(.busy, "Too many logins at once.", retryAfter: 1)
    }
  }

  /// Hashes the password when it is the login's turn, or says when that is.
  private func inTurn(
    _ credentials: Credentials, _ key: LoginCache.Key, from address: String
  ) async throws(AdmissionQueue.Rejection) -> Verification {
    let isSuspect = failures.isSuspect(credentials.name, from: address)
    let login = reservations.login(credentials.name, from: address)
    let interval = limiter.interval(isSuspect: isSuspect)
    var turn = reservations.turn(of: login, isSuspect: isSuspect, every: interval)
    if case .distant = turn {
      let isKnown = (try? await accounts.user(named: credentials.name)) != nil
      turn = reservations.reserve(
        login, isTrusted: isKnown && !isSuspect, isSuspect: isSuspect, every: interval)
    }
    switch turn {
    case .now:
      defer { reservations.end(login) }
      let (verification, user) = try await limiter.run(isSuspect: isSuspect) {
        // Of many requests from one phone at once, only the first is hashed.
        if case .valid(let caller) = logins.find(key) {
          return (Verification.caller(caller), UserID?.none)
        }
        var user: UserID?
        let verification = await remembering(key) {
          let found = await compare(credentials, from: address)
          user = found.user
          return found.verification
        }
        return (verification, user)
      }
      if case .wrong = verification {
        // Others are hashed meanwhile. The password is wrong also while the database takes no entries.
        try? await store.audit.addFailedSignIn(of: user, from: address)
      }
      return verification
    case .reserved(let wait), .distant(let wait):
      return .busy(wait: max(1, Int((wait / .seconds(1)).rounded(.up))))
    }
  }

  /// Compares a password; `user` is who has the name, if the password is wrong.
  private func compare(
    _ credentials: Credentials, from address: String
  ) async -> (verification: Verification, user: UserID?) {
    if let wait = failures.wait(credentials.name, from: address) {
      return (.tooManyFailures(wait: wait), nil)
    }
    let user: User?
    do {
      // Somebody without a password takes as long as an unknown name.
      let found = try await accounts.user(named: credentials.name)
      let hasPassword = signIn.admitsPassword(of: credentials.name) && found?.hasPassword == true
      user = hasPassword ? found : nil
    } catch { return (.failed(ServiceError(any: error)), nil) }
    let isRight = await withCheckedContinuation { continuation in
      hashing.async { [limiter] in
        let hash = user?.hash ?? Self.dummy.hash
        let start = ContinuousClock.now
        let isRight = PasswordHash.verify(credentials.password, hash)
        limiter.record(.now - start)
        continuation.resume(returning: isRight)
      }
    }
    guard isRight, let user else {
      failures.failed(credentials.name, from: address)
      return (.wrong, user?.id)
    }
    failures.succeeded(credentials.name, from: address)
    let caller = Caller(
      id: user.id, name: user.name, role: user.role, proof: .password(user.hash))
    return (.caller(caller), nil)
  }

  /// The guest of demo mode with these credentials; nil if the password is not the name.
  private func guest(_ credentials: Credentials) async throws -> Caller? {
    let name = credentials.name
    guard credentials.password == name,
      let id = try await accounts.userIDs(of: [name], allowingPasswordless: true)[name]
    else { return nil }
    return Caller(guest: name, id)
  }

  /// Makes the next request of a user, or of all users, be verified against the store again.
  func invalidate(_ user: UserID?) { logins.changes.record(user?.rawValue) }

  /// Compared with the passwords of unknown names; and how long it took to make.
  private static let dummy: (hash: String, duration: Duration) = {
    let start = ContinuousClock.now
    let hash = PasswordHash.make("nobody") ?? "$y$"
    return (hash, .now - start)
  }()
}

/// Limits password hashing to one per processor; clients with recent failures come last, one at a time.
final class HashLimiter: Sendable {
  private let queue: AdmissionQueue
  private let suspects: AdmissionQueue
  /// How long a hash takes, as measured lately.
  private let average = Mutex<Duration?>(nil)
  /// A client that would wait longer gets a 503 with Retry-After.
  private static let timeout = Duration.seconds(20)
  /// The duration of a hash on a slow machine (yescrypt with the default cost).
  private static let initialDuration = Duration.milliseconds(50)
  /// More than any wait, so that other clients come before suspects.
  private static let precedence = Duration.seconds(1000)

  /// `width` is the number of processors.
  init(width: Int) {
    queue = AdmissionQueue(
      width: width, timeout: Self.timeout, initialDuration: Self.initialDuration)
    suspects = AdmissionQueue(
      width: 1, timeout: Self.timeout, initialDuration: Self.initialDuration)
  }

  /// Records how long a hash took.
  func record(_ duration: Duration) {
    average.withLock { $0 = $0.map { ($0 * 7 + duration) / 8 } ?? duration }
  }

  /// The time between two hashes when all processors hash.
  ///
  /// A little more than measured, so that those that come at their moment find a short queue.
  func interval(isSuspect: Bool) -> Duration {
    let duration = average.withLock { $0 } ?? Self.initialDuration
    return duration * 1.15 / (isSuspect ? 1 : queue.width)
  }

  /// The number of clients that wait.
  var waiting: Int { queue.status.waiting + suspects.status.waiting }

  /// Runs `hash` when it is admitted.
  ///
  /// - Throws: The rejection, if too many wait.
  func run<R>(
    isSuspect: Bool, _ hash: () async -> R
  ) async throws(AdmissionQueue.Rejection) -> R {
    guard isSuspect else {
      return try await queue.withAdmission(priority: { $0 + Self.precedence }, hash).get()
    }
    return try await suspects.withAdmission { () async throws(AdmissionQueue.Rejection) in
      try await queue.withAdmission(priority: { $0 }, hash).get()
    }.get()
  }
}
