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

  private struct Table {
    var callers: [String: Remembered] = [:]
    /// The changes of users (``Store/userChanges()``) that were looked at.
    var changes = 0
    /// Whether the last look found changes: what was begun before it may come to light only now.
    var isUnsettled = false
  }

  private let store: Store
  private let isDemo: Bool
  private let remembered = Mutex(Table())
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
    let known = remembered.withLock { $0.callers[authorization] }
    if let known, known.until > .now { return .caller(known.caller) }
    guard let credentials = Credentials(authorization) else { return .stranger }
    if isDemo, credentials.password == credentials.name {
      if let changes = try? store.userChanges(),
        let id = try? store.userID(of: credentials.name, admittingGuests: true)
      {
        return .caller(admit(id, credentials, authorization, changes))
      }
    }
    return .unknown(credentials)
  }

  /// Compares the password with the store's hash, unless its address or name has failed too often.
  ///
  /// A name that nobody has costs the same time as a wrong password.
  func verify(
    _ credentials: Credentials, _ authorization: String, from address: String
  ) async -> Verdict {
    if isDemo, credentials.password == credentials.name {
      let name = credentials.name
      guard let changes = try? store.userChanges(),
        let id = try? await store.userIDs(of: [name], admittingGuests: true)[name]
      else { return .busy(wait: 1) }
      return .caller(admit(id, credentials, authorization, changes))
    }
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

  /// Lets a guest of the demonstration in.
  private func admit(
    _ id: UserID, _ credentials: Credentials, _ authorization: String, _ changes: Int
  ) -> Caller {
    let name = credentials.name
    let caller = Caller(id: id, name: name, role: name == "admin" ? .admin : .publisher, hash: nil)
    remember(caller, as: authorization, since: changes)
    return caller
  }

  /// Forgets whoever was removed or changed in the store meanwhile, by another process too.
  ///
  /// - Returns: whether a caller who was let in before is still the same user, with the same password
  ///   and role. What lasts must ask this, since what is remembered here may be gone before.
  func forgetChanged() throws -> @Sendable (Caller) -> Bool {
    let changes = try store.userChanges()
    guard remembered.withLock({ $0.changes != changes || $0.isUnsettled }) else {
      return { _ in true }
    }
    let known = Dictionary(try store.users().map { ($0.id, $0) }) { $1 }
    let isCurrent: @Sendable (Caller) -> Bool = { [store] caller in
      guard let hash = caller.hash else { return (try? store.isUser(caller.id)) == true }
      let user = known[caller.id]
      return user?.hash == hash && user?.role == caller.role
    }
    remembered.withLock { table in
      // A stream that was being opened meanwhile is seen by the next look.
      table.isUnsettled = table.changes != changes
      table.changes = changes
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
