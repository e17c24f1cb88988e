import Dispatch
import FoundationEssentials
import Primitives
import RichPushAPI
import Store
import Synchronization

/// Authenticates requests; a password is hashed once in minutes instead of once a request.
final class Authenticator: Sendable {
  /// The result of looking up an `Authorization` field.
  enum Finding: Sendable {
    case caller(Caller)
    case stranger
    /// A password that no recent request had: ``verify(_:_:from:)`` hashes it.
    case unknown(Credentials)
  }

  /// The result of verifying a password.
  enum Verdict: Sendable {
    case caller(Caller)
    case wrong
    /// Not checked, since too many were wrong: try again after so many seconds.
    case tooMany(wait: Int)
    /// Not checked, since too many wait: try again after so many seconds.
    case busy(wait: Int)
  }

  private final class Remembered: Sendable {
    let caller: Caller
    let until: ContinuousClock.Instant

    init(caller: Caller, until: ContinuousClock.Instant) {
      (self.caller, self.until) = (caller, until)
    }
  }

  private struct Table {
    var callers: [String: Remembered] = [:]
    /// The count of user changes (``Store/userChanges()``) at the last check.
    var changes = 0
  }

  private let store: Store
  private let isDemo: Bool
  private let remembered = Mutex(Table())
  private let hashing = DispatchQueue(label: "richpush.passwords", attributes: .concurrent)
  private let limiter = HashLimiter(width: ProcessInfo.processInfo.activeProcessorCount)
  private let failures: FailedLogins
  private static let memory = Duration.seconds(300)
  private static let capacity = 100_000

  /// Creates one over the store's users; `isDemo` also takes any user whose password is the name.
  init(store: Store, isDemo: Bool, failures: FailedLogins = FailedLogins()) {
    (self.store, self.isDemo, self.failures) = (store, isDemo, failures)
    // The first unknown name must not take longer than later ones.
    if !isDemo { hashing.async { _ = Self.nobody } }
  }

  /// The caller, if known without hashing.
  func find(_ authorization: String?) -> Finding {
    guard let authorization else { return .stranger }
    let known = remembered.withLock { $0.callers[authorization] }
    if let known, known.until > .now { return .caller(known.caller) }
    guard let credentials = Credentials(authorization) else { return .stranger }
    if isDemo, credentials.password == credentials.name {
      if let changes = try? store.userChanges(),
        let id = try? store.userID(of: credentials.name, allowingPasswordless: true)
      {
        return .caller(admit(id, credentials, authorization, changes))
      }
    }
    return .unknown(credentials)
  }

  /// Compares the password with the store's hash, unless its address or name has failed too often.
  ///
  /// An unknown name takes as long as a wrong password.
  func verify(
    _ credentials: Credentials, _ authorization: String, from address: String
  ) async -> Verdict {
    if isDemo, credentials.password == credentials.name {
      let name = credentials.name
      guard let changes = try? store.userChanges(),
        let id = try? await store.userIDs(of: [name], allowingPasswordless: true)[name]
      else { return .busy(wait: 1) }
      return .caller(admit(id, credentials, authorization, changes))
    }
    do throws(AdmissionQueue<Bool>.Rejection) {
      return try await limiter.run(isSuspect: failures.hasFailed(from: address)) {
        await withCheckedContinuation { continuation in
          hashing.async { [self] in
            continuation.resume(returning: compare(credentials, authorization, from: address))
          }
        }
      }
    } catch {
      guard case .full(let wait) = error else { return .busy(wait: 1) }
      return .busy(wait: Int(wait / .seconds(1)))
    }
  }

  private func compare(
    _ credentials: Credentials, _ authorization: String, from address: String
  ) -> Verdict {
    // Of many requests from one phone at once, only the first is hashed.
    if case .caller(let caller) = find(authorization) { return .caller(caller) }
    if let wait = failures.wait(credentials.name, from: address) { return .tooMany(wait: wait) }
    let changes = try? store.userChanges()
    let user = try? store.user(named: credentials.name)
    guard PasswordHash.verify(credentials.password, user?.hash ?? Self.nobody), let user else {
      failures.failed(credentials.name, from: address)
      return .wrong
    }
    failures.succeeded(credentials.name, from: address)
    let caller = Caller(id: user.id, name: user.name, role: user.role, hash: user.hash)
    remember(caller, as: authorization, since: changes ?? 0)
    return .caller(caller)
  }

  /// Admits a guest of the demonstration.
  private func admit(
    _ id: UserID, _ credentials: Credentials, _ authorization: String, _ changes: Int
  ) -> Caller {
    let name = credentials.name
    let caller = Caller(id: id, name: name, role: name == "admin" ? .admin : .publisher, hash: nil)
    remember(caller, as: authorization, since: changes)
    return caller
  }

  /// Forgets callers who were removed or changed in the store, also by another process.
  ///
  /// - Returns: whether an earlier caller is still the same user, with the same password and role.
  ///   Open streams must use it: a caller may be forgotten here before its stream is closed.
  func forgetChanged() throws -> @Sendable (Caller) -> Bool {
    let changes = try store.userChanges()
    let known = Dictionary(try store.users().map { ($0.id, $0) }) { $1 }
    let isCurrent: @Sendable (Caller) -> Bool = { [store] caller in
      guard let hash = caller.hash else { return (try? store.isUser(caller.id)) == true }
      let user = known[caller.id]
      return user?.hash == hash && user?.role == caller.role
    }
    remembered.withLock { table in
      table.changes = max(changes, table.changes)
      let stale = table.callers.filter { !isCurrent($0.value.caller) }
      for authorization in stale.keys { table.callers[authorization] = nil }
    }
    return isCurrent
  }

  /// Remembers a caller, unless users were changed since: `changes` are those of before the user was read.
  private func remember(_ caller: Caller, as authorization: String, since changes: Int) {
    remembered.withLock { table in
      guard changes >= table.changes else { return }
      if table.callers.count >= Self.capacity {
        table.callers = table.callers.filter { $0.value.until > .now }
        if table.callers.count >= Self.capacity { table.callers.removeAll() }
      }
      table.callers[authorization] = Remembered(caller: caller, until: .now + Self.memory)
    }
  }

  private static let nobody = PasswordHash.make("nobody") ?? "$y$"
}

/// Limits password hashing: as many at once as there are processors, of clients that have failed lately one
/// at a time and after all others.
final class HashLimiter: Sendable {
  /// Elements say whether the client has failed lately.
  private let queue: AdmissionQueue<Bool>
  private let suspects: AdmissionQueue<Bool>
  /// A client that would wait longer gets 503 with Retry-After.
  private static let timeout = Duration.seconds(20)
  /// What one hash takes on a slow machine (yescrypt with the default cost).
  private static let initialDuration = Duration.milliseconds(50)
  /// More than any wait, so that every other client comes first.
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
