import Dispatch
import FoundationEssentials
import Store
import Synchronization

/// Tells who asks, and pays for a password's hash once in minutes instead of once a request.
final class Authenticator: Sendable {
  /// What the `Authorization` field of a request says.
  enum Finding: Sendable {
    case caller(Caller)
    case stranger
    /// A password that no recent request has shown: `verify()` tells, after the hash is paid for.
    case unknown(Credentials)
  }

  /// What a password is worth that had to be verified.
  enum Verdict: Sendable {
    case caller(Caller)
    case wrong
    /// It was not looked at: try again after so many seconds.
    case tooMany(wait: Int)
    /// So many others wait for theirs: try again after so many seconds.
    case busy(wait: Int)
  }

  private final class Remembered: Sendable {
    let caller: Caller
    let until: ContinuousClock.Instant

    init(caller: Caller, until: ContinuousClock.Instant) {
      (self.caller, self.until) = (caller, until)
    }
  }

  private let store: Store
  private let isDemo: Bool
  private let remembered = Mutex<[String: Remembered]>([:])
  private let hashing = DispatchQueue(label: "richpush.passwords", attributes: .concurrent)
  private let gate = HashGate(lanes: ProcessInfo.processInfo.activeProcessorCount)
  private let failures: FailedLogins
  private static let memory = Duration.seconds(300)
  private static let capacity = 100_000

  /// Creates one over the store's users; `isDemo` also takes any user whose password is the name.
  init(store: Store, isDemo: Bool, failures: FailedLogins = FailedLogins()) {
    (self.store, self.isDemo, self.failures) = (store, isDemo, failures)
    // The first name that nobody has must not take longer than the others.
    if !isDemo { hashing.async { _ = Self.nobody } }
  }

  /// Who the field names, without waiting for anything.
  func find(_ authorization: String?) -> Finding {
    guard let authorization else { return .stranger }
    let known = remembered.withLock { $0[authorization] }
    if let known, known.until > .now { return .caller(known.caller) }
    guard let credentials = Credentials(authorization) else { return .stranger }
    if isDemo, credentials.password == credentials.name {
      let caller = Caller(
        name: credentials.name, role: credentials.name == "admin" ? .admin : .publisher,
        hash: nil)
      remember(caller, as: authorization)
      return .caller(caller)
    }
    return .unknown(credentials)
  }

  /// Compares the password with the store's hash, unless its address or name has failed too often.
  ///
  /// A name that nobody has costs the same time as a wrong password.
  func verify(
    _ credentials: Credentials, _ authorization: String, from address: String
  ) async -> Verdict {
    let isSuspect = failures.hasFailed(from: address)
    if let wait = await gate.enter(isSuspect: isSuspect) { return .busy(wait: wait) }
    let start = ContinuousClock.now
    defer { gate.leave(isSuspect: isSuspect, after: .now - start) }
    return await withCheckedContinuation { continuation in
      hashing.async { [self] in
        continuation.resume(returning: compare(credentials, authorization, from: address))
      }
    }
  }

  private func compare(
    _ credentials: Credentials, _ authorization: String, from address: String
  ) -> Verdict {
    // A herd from one phone: the first has paid for all.
    if case .caller(let caller) = find(authorization) { return .caller(caller) }
    if let wait = failures.wait(credentials.name, from: address) { return .tooMany(wait: wait) }
    let user = try? store.user(named: credentials.name)
    guard PasswordHash.verify(credentials.password, user?.hash ?? Self.nobody), let user else {
      failures.failed(credentials.name, from: address)
      return .wrong
    }
    failures.succeeded(credentials.name, from: address)
    let caller = Caller(name: user.name, role: user.role, hash: user.hash)
    remember(caller, as: authorization)
    return .caller(caller)
  }

  /// Forgets whoever was removed or changed in the store meanwhile, by another process too.
  ///
  /// - Returns: whether a caller who was let in before is still the same user, with the same password
  ///   and role. What lasts must ask this, since what is remembered here may be gone before.
  func forgetChanged() throws -> @Sendable (Caller) -> Bool {
    let known = Dictionary(try store.users().map { ($0.name, $0) }) { $1 }
    let isCurrent: @Sendable (Caller) -> Bool = { caller in
      guard let hash = caller.hash else { return true }
      let user = known[caller.name]
      return user?.hash == hash && user?.role == caller.role
    }
    remembered.withLock { table in
      let stale = table.filter { !isCurrent($0.value.caller) }
      for authorization in stale.keys { table[authorization] = nil }
    }
    return isCurrent
  }

  private func remember(_ caller: Caller, as authorization: String) {
    remembered.withLock { table in
      if table.count >= Self.capacity {
        table = table.filter { $0.value.until > .now }
        if table.count >= Self.capacity { table.removeAll() }
      }
      table[authorization] = Remembered(caller: caller, until: .now + Self.memory)
    }
  }

  private static let nobody = PasswordHash.make("nobody") ?? "$y$"
}
