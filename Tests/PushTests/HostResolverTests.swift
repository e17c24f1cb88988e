import Primitives
import Synchronization
import Testing
import Waiting

@testable import Push

/// Host names of push services that users chose.
@Suite(.timeLimit(.minutes(1))) struct HostResolverTests {
  /// A name server that answers for some names, and for others only when it is told to.
  private final class NameServer: Sendable {
    private struct State {
      var asked: [String] = []
      var running = 0
      var most = 0
      var isSilent: Bool
    }

    private let state: Mutex<State>
    private let silence = BlockedThreads()

    init(isSilent: Bool = true) { state = Mutex(State(isSilent: isSilent)) }

    deinit { silence.end() }

    var asked: [String] { state.withLock { $0.asked } }
    /// The threads that wait for it now, and the most at once.
    var threads: (now: Int, most: Int) { state.withLock { ($0.running, $0.most) } }

    func lookUp(_ host: String) -> HostResolver.Answer {
      let isSilent = state.withLock { state in
        state.asked.append(host)
        state.running += 1
        state.most = max(state.most, state.running)
        return state.isSilent
      }
      if isSilent, host.hasSuffix(".evil.example") { silence.wait() }
      state.withLock { $0.running -= 1 }
      return host.hasPrefix("no.") ? .failed("no such name") : .addresses(["192.0.2.1"])
    }

    func answer() {
      state.withLock { $0.isSilent = false }
      silence.end()
    }
  }

  private let clock = ManualClock()

  private func resolver(_ server: NameServer, threads: Int = 8) -> HostResolver {
    HostResolver(executor: BlockingExecutor(threads: threads), clock: clock) { server.lookUp($0) }
  }

  @Test func `a user whose names are never answered has few threads, and others are served`()
    async throws
  {
    let server = NameServer()
    let resolver = resolver(server)
    var answers: [HostResolver.Answer] = []
    let start = clock.now
    for number in 0..<100 {
      answers.append(
        await clock.withoutWaiting {
          await resolver.addresses(of: "h\(number).evil.example", for: 1)
        })
    }
    let quota = UserQuota.resolvingThreads
    #expect(answers[..<quota].allSatisfy { if case .failed = $0 { true } else { false } })
    #expect(answers[quota...].allSatisfy { $0 == .held }, "given up is not ended")
    #expect(clock.now - start == .seconds(10) * quota)
    try await eventually("their threads wait") { server.threads.now == quota }
    #expect(server.threads.most == quota)
    #expect(await resolver.addresses(of: "push.example", for: 2) == .addresses(["192.0.2.1"]))
    server.answer()
    try await eventually("the threads are free again") {
      await resolver.addresses(of: "another.evil.example", for: 1) == .addresses(["192.0.2.1"])
    }
  }

  @Test func `many users whose names are never answered have no more threads than there are`()
    async throws
  {
    let server = NameServer()
    let resolver = resolver(server, threads: 4)
    #expect(await resolver.addresses(of: "push.example", for: 0) == .addresses(["192.0.2.1"]))
    let attackers = (1...20).map { (user: Int) in
      Task.immediate { await resolver.addresses(of: "h\(user).evil.example", for: user) }
    }
    try await eventually("all threads wait") { server.threads.now == 4 }
    #expect(await resolver.addresses(of: "push.example", for: 30) == .addresses(["192.0.2.1"]))
    server.answer()
    for attacker in attackers { #expect(await attacker.value == .addresses(["192.0.2.1"])) }
    #expect(server.threads.most <= 4)
  }

  @Test func `all who ask for a name wait for one answer, which is kept`() async throws {
    let server = NameServer()
    let resolver = resolver(server)
    let all = (0..<50).map { (user: Int) in
      Task.immediate { await resolver.addresses(of: "a.evil.example", for: user) }
    }
    try await eventually("it is asked for") { server.threads.now == 1 }
    server.answer()
    for one in all { #expect(await one.value == .addresses(["192.0.2.1"])) }
    _ = await resolver.addresses(of: "a.evil.example", for: 99)
    #expect(server.asked == ["a.evil.example"])
  }

  @Test func `known addresses are looked up again after a minute, and used meanwhile`()
    async throws
  {
    let server = NameServer(isSilent: false)
    let resolver = resolver(server)
    for (seconds, asked) in [(0, 1), (59, 1), (1, 2), (59, 2)] {
      clock.advance(by: .seconds(seconds))
      #expect(
        await resolver.addresses(of: "push.example", for: 1) == .addresses(["192.0.2.1"]))
      try await eventually("it was asked \(asked) times") { server.asked.count == asked }
      try await eventually("it has answered") { server.threads.now == 0 }
    }
  }

  @Test func `a name without an address is asked for again`() async {
    let server = NameServer(isSilent: false)
    let resolver = resolver(server)
    for _ in 0..<2 {
      #expect(await resolver.addresses(of: "no.such.example", for: 1) == .failed("no such name"))
    }
    #expect(server.asked.count == 2)
  }

  @Test func `the system's resolver tells numeric addresses, and why there are none`() async {
    let resolver = HostResolver()
    guard case .addresses(let found) = await resolver.addresses(of: "localhost", for: 1) else {
      Issue.record("localhost is unknown")
      return
    }
    #expect(
      found.contains("127.0.0.1") && found.allSatisfy { ["127.0.0.1", "[::1]"].contains($0) })
    guard case .failed(let reason) = await resolver.addresses(of: "name.invalid", for: 1) else {
      Issue.record("name.invalid is known")
      return
    }
    #expect(reason.hasPrefix("name.invalid has no address: "))
  }
}
