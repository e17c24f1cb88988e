import CCurl
import Glibc
import Primitives
import Synchronization

/// Resolves host names that users chose, on a fixed number of threads.
///
/// getaddrinfo(3) can't be interrupted: with a name server that does not answer it occupies its thread for up to
/// half a minute, long after its caller has given up. libcurl would start one more thread for each name. So a user
/// has a few of the threads, counted until getaddrinfo returns.
final class HostResolver: Sendable {
  /// The threads of this process, started for the first resolver.
  private static let threads = BlockingExecutor(threads: 32)
  /// The longest that a caller waits for an answer.
  private static let timeout = Duration.seconds(10)
  /// After this time known addresses are looked up again, as libcurl does.
  private static let freshTime = Duration.seconds(60)
  /// For this time known addresses are used while they are looked up again, so that a service that is in use does
  /// not depend on the name server.
  private static let staleTime = Duration.seconds(3600)
  private static let capacity = 20_000

  /// What is known of a name.
  enum Answer: Equatable {
    /// Numeric addresses; an IPv6 address is in brackets.
    case addresses([String])
    /// Why there are none.
    case failed(String)
    /// The user has as many names looked up as a user may.
    case held
  }

  typealias LookUp = @Sendable (_ host: String) -> Answer

  private struct Known {
    let addresses: [String]
    let time: ContinuousClock.Instant
  }

  private struct State {
    var known = GenerationalCache<String, Known>(capacity: HostResolver.capacity)
    var running: [String: Lookup] = [:]
  }

  private let executor: BlockingExecutor
  private let permits = KeyedSemaphore<Int>(width: UserQuota.resolvingThreads)
  private let clock: any SteadyClock
  private let lookUp: LookUp
  private let state = Mutex(State())

  /// A resolver that looks up names on the threads of an executor.
  init(
    executor: BlockingExecutor = HostResolver.threads, clock: any SteadyClock = ContinuousClock(),
    lookUp: @escaping LookUp = HostResolver.system
  ) {
    (self.executor, self.clock, self.lookUp) = (executor, clock, lookUp)
  }

  /// The addresses of a host; `user` is whose push asks, if that is one user's.
  func addresses(of host: String, for user: Int?) async -> Answer {
    let now = clock.now
    let (known, running) = state.withLock { ($0.known.value(for: host), $0.running[host]) }
    if let known, now - known.time < Self.freshTime { return .addresses(known.addresses) }
    let lookup = running ?? begin(host, for: user)
    if let known, now - known.time < Self.staleTime { return .addresses(known.addresses) }
    guard let lookup else { return .held }
    return await lookup.answer(within: Self.timeout, clock)
      ?? .failed("The name server does not tell the address of \(host).")
  }

  /// Begins to look up a name, or returns what looks it up already; nil if the user has no thread left.
  private func begin(_ host: String, for user: Int?) -> Lookup? {
    var permit: KeyedSemaphore<Int>.Permit?
    if let user {
      permit = permits.tryPermit(user)
      if permit == nil { return nil }
    }
    let (lookup, isNew) = state.withLock { state in
      if let running = state.running[host] { return (running, false) }
      let lookup = Lookup()
      state.running[host] = lookup
      return (lookup, true)
    }
    guard isNew else { return lookup }
    Task(executorPreference: executor) { [permit] in
      let answer = self.lookUp(host)
      permit?.end()
      self.state.withLock { state in
        state.running[host] = nil
        if case .addresses(let addresses) = answer {
          state.known.insert(Known(addresses: addresses, time: self.clock.now), for: host)
        }
      }
      lookup.complete(answer)
    }
    return lookup
  }

  /// getaddrinfo(3).
  private static let system: LookUp = { host in
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(host, nil, &hints, &list)
    guard code == 0 else {
      return .failed("\(host) has no address: \(String(cString: gai_strerror(code))).")
    }
    defer { freeaddrinfo(list) }
    var addresses: [String] = []
    var next = list
    while let entry = next?.pointee, addresses.count < longestList {
      if let text = numeric(entry), !addresses.contains(text) { addresses.append(text) }
      next = entry.ai_next
    }
    return addresses.isEmpty ? .failed("\(host) has no address.") : .addresses(addresses)
  }

  /// A name server may tell more than anybody connects to.
  private static let longestList = 16

  private static func numeric(_ entry: addrinfo) -> String? {
    let longest = 64
    var isKnown = false
    let bytes = [CChar](unsafeUninitializedCapacity: longest) { buffer, count in
      isKnown =
        getnameinfo(
          entry.ai_addr, entry.ai_addrlen, buffer.baseAddress, socklen_t(longest), nil, 0,
          NI_NUMERICHOST) == 0
      count = isKnown ? longest : 0
    }
    guard isKnown else { return nil }
    let text = String(
      decoding: bytes.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    // A scope such as %eth0 belongs to a link-local address, which is not connected to.
    return text.contains("%") ? nil : text.contains(":") ? "[\(text)]" : text
  }
}

/// A name that is being looked up, for all who wait for it.
private final class Lookup: Sendable {
  private struct State {
    var answer: HostResolver.Answer?
    var waiters: [Int: CheckedContinuation<HostResolver.Answer?, Never>] = [:]
    var lastWaiter = 0
    /// Callers whose time was over before they waited.
    var late: Set<Int> = []
  }

  private let state = Mutex(State())

  /// The answer; nil if there is none within this time.
  func answer(within timeout: Duration, _ clock: any SteadyClock) async -> HostResolver.Answer? {
    let id = state.withLock { state in
      state.lastWaiter += 1
      return state.lastWaiter
    }
    let timer = Task {
      try? await clock.sleep(for: timeout)
      resume(id)
    }
    defer { timer.cancel() }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in
        let (isDone, answer) = state.withLock { state in
          if state.answer != nil || Task.isCancelled || state.late.remove(id) != nil {
            return (true, state.answer)
          }
          state.waiters[id] = waiter
          return (false, nil)
        }
        if isDone { waiter.resume(returning: answer) }
      }
    } onCancel: {
      resume(id)
    }
  }

  func complete(_ answer: HostResolver.Answer) {
    let waiters = state.withLock { state in
      state.answer = answer
      defer { state.waiters = [:] }
      return state.waiters.values
    }
    for waiter in waiters { waiter.resume(returning: answer) }
  }

  private func resume(_ id: Int) {
    let waiter = state.withLock { state in
      let waiter = state.waiters.removeValue(forKey: id)
      if waiter == nil { state.late.insert(id) }
      return waiter
    }
    waiter?.resume(returning: nil)
  }
}
