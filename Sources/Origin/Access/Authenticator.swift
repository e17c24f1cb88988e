import Dispatch
import FoundationEssentials
import Primitives
import RichPushAPI
import Store
import Synchronization

/// Authenticates requests by password (Basic, RFC 7617) or by the token of a device (Bearer, RFC 6750).
final class Authenticator: Sendable {
  /// What the `Authorization` field alone tells.
  enum Lookup: Sendable {
    case caller(Caller)
    /// No well-formed credentials.
    case invalid
    /// Credentials that need ``verify(_:from:)``.
    case unverified
  }

  /// The result of verifying credentials.
  enum Verification: Sendable {
    case caller(Caller)
    case wrong
    /// Not checked because of too many failures; try again after this number of seconds.
    case tooManyFailures(wait: Int)
    /// Not checked because the queue is full; try again after this number of seconds.
    case busy(wait: Int)
  }

  private let accounts: any Accounts
  private let loopReads: any EventLoopReads
  private let isDemo: Bool
  private let logins: LoginCache
  private let hashing = DispatchQueue(label: "richpush.passwords", attributes: .concurrent)
  private let limiter = HashLimiter(width: ProcessInfo.processInfo.activeProcessorCount)
  private let failures: FailedLogins

  /// Authenticates the store's users; in demo mode, also any user whose password equals the name.
  init(
    store: Store, isDemo: Bool, failures: FailedLogins = FailedLogins(),
    logins: LoginCache = LoginCache()
  ) {
    (accounts, loopReads, self.isDemo) = (store.accounts, store.loopReads, isDemo)
    (self.failures, self.logins) = (failures, logins)
    // Otherwise the first unknown name would take longer than later ones.
    if !isDemo { hashing.async { _ = Self.dummyHash } }
  }

  /// The caller, if the credentials were verified before.
  func find(_ authorization: String) -> Lookup {
    if case .valid(let caller) = logins.find(authorization) { return .caller(caller) }
    guard let credentials = Credentials(authorization) else {
      return DeviceToken(authorization) == nil ? .invalid : .unverified
    }
    let moment = logins.moment
    guard isDemo, credentials.password == credentials.name,
      let id = try? loopReads.userID(of: credentials.name, allowingPasswordless: true)
    else { return .unverified }
    return .caller(remember(Caller(guest: credentials.name, id), authorization, moment))
  }

  /// Verifies credentials.
  ///
  /// A password is hashed, unless the address or the name has failed too often. An unknown name takes as
  /// long as a wrong password.
  func verify(_ authorization: String, from address: String) async -> Verification {
    let moment = logins.moment
    do {
      if case .changed(let caller) = logins.find(authorization),
        try await accounts.isCurrent(caller)
      {
        return .caller(remember(caller, authorization, moment))
      }
      if let token = DeviceToken(authorization) {
        let hash = token.hash
        guard let device = try await accounts.device(withToken: hash) else { return .wrong }
        let caller = Caller(
          id: device.user, name: device.name, role: .device,
          proof: .token(hash, device: device.registration))
        return .caller(remember(caller, authorization, moment))
      }
      guard let credentials = Credentials(authorization) else { return .wrong }
      if isDemo, let guest = try await guest(credentials) {
        return .caller(remember(guest, authorization, moment))
      }
      return try await limiter.run(isSuspect: failures.hasFailed(from: address)) {
        await compare(credentials, authorization, from: address)
      }
    } catch {
      guard case AdmissionQueue.Rejection.full(let wait) = error else { return .busy(wait: 1) }
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
    let moment = logins.moment
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
    let caller = Caller(
      id: user.id, name: user.name, role: user.role, proof: .password(user.hash))
    return .caller(remember(caller, authorization, moment))
  }

  /// The guest of demo mode with these credentials; nil if the password is not the name.
  private func guest(_ credentials: Credentials) async throws -> Caller? {
    let name = credentials.name
    guard credentials.password == name,
      let id = try await accounts.userIDs(of: [name], allowingPasswordless: true)[name]
    else { return nil }
    return Caller(guest: name, id)
  }

  private func remember(
    _ caller: Caller, _ authorization: String, _ moment: LoginCache.Moment
  ) -> Caller {
    logins.add(caller, as: authorization, verified: moment)
    return caller
  }

  /// Makes the next request of a user, or of all users, be verified against the store again.
  func invalidate(_ user: UserID?) { logins.invalidate(user) }

  /// Compared with the passwords of unknown names.
  private static let dummyHash = PasswordHash.make("nobody") ?? "$y$"
}

/// Limits password hashing to one per processor; clients with recent failures come last, one at a time.
final class HashLimiter: Sendable {
  private let queue: AdmissionQueue
  private let suspects: AdmissionQueue
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
