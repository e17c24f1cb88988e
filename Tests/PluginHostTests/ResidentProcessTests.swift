import Foundation
import Testing
import Waiting

@testable import PluginHost

/// How resident processes are started, kept and ended.
@Suite(.serialized, .timeLimit(.minutes(2))) struct ResidentProcessTests {
  private let fixture: PluginFixture

  init() throws { fixture = try PluginFixture() }

  private func idle(_ name: String) -> Int {
    fixture.host.status().first { $0.plugin.richType == name }?.processes.idle ?? 0
  }

  @Test func `starts the minimum in advance, and replaces those that die`()
    async throws
  {
    try fixture.resident(
      "ready", manifest: #""workers":{"min":2,"max":3,"idleSeconds":1}"#, "syswrite $c, ok($$);")
    fixture.host.warmUp()
    try await eventually("two are ready") { idle("ready") == 2 }
    let victim = try #require(Int32(try await fixture.text("ready")))
    kill(victim, SIGKILL)
    try await eventually("a new one is ready") {
      kill(victim, 0) != 0 && idle("ready") == 2
    }
    #expect(try await fixture.text("ready") != String(victim))
    #expect(fixture.log.isEmpty)
  }

  @Test func `starts them for a new plugin, and ends those of a removed one`()
    async throws
  {
    fixture.host.warmUp()
    try fixture.resident("late", manifest: #""workers":{"min":1}"#, "syswrite $c, ok($$);")
    try await eventually("one is ready") { idle("late") == 1 }
    let pid = try #require(Int32(try await fixture.text("late")))
    try FileManager.default.removeItem(atPath: "\(fixture.folder)/plugins/late")
    try await eventually("it has ended") { kill(pid, 0) != 0 }
  }

  @Test func `starts processes for calls that are expected, and ends unused ones`()
    async throws
  {
    try fixture.resident(
      "eager", manifest: #""workers":{"max":2,"idleSeconds":1}"#, "syswrite $c, ok($$);")
    var counts: [Int] = []
    for attempt in 1...5 {
      let start = ContinuousClock.now
      fixture.host.prestart("eager", calls: 5)
      counts = [idle("eager")]
      fixture.host.prestart("eager", calls: 5)
      counts.append(idle("eager"))
      let wasInTime = ContinuousClock.now - start < .seconds(1)
      try await eventually("they have gone") {
        let processes = fixture.host.status().first?.processes
        return processes?.idle == 0 && processes?.busy == 0
      }
      // Otherwise the first had gone before they were counted.
      if wasInTime || attempt == 5 { break }
    }
    #expect(counts == [2, 2])
    try fixture.script("each", "exit 0")
    fixture.host.prestart("each", calls: 1)
    fixture.host.prestart("nobody", calls: 1)
    #expect(idle("each") == 0)
  }

  @Test func `starts processes that die at once less and less often`() async throws {
    try fixture.resident(
      "sick", manifest: #""workers":{"min":1}"#,
      before: "open(my $f, '>>', '\(fixture.folder)/plugins/count'); exit 4;", "")
    fixture.host.warmUp()
    try await eventually("it has failed") {
      do throws(PluginError) {
        _ = try await fixture.host.respond(to: PluginCall(verb: .render, richType: "sick"))
      } catch { return error.code == .busy && (error.retryAfter ?? 0) >= 1 }
      return false
    }
  }

  @Test func `keeps the connection to a process that keeps it`() async throws {
    try fixture.resident(
      "loyal", before: "my $lines = 0;",
      "$lines++; my $n = 0; while ($p) { $n++; syswrite $c, ok(\"$lines $n\"); ($p, $in) = request($c) }"
    )
    for count in 1...4 { #expect(try await fixture.text("loyal") == "1 \(count)") }
  }

  @Test func `opens a new connection when the process closed the old one`() async throws {
    try fixture.resident(
      "fickle", before: "my $lines = 0;",
      """
      $lines++; syswrite $c, ok($lines);
      while (my ($q) = request($c)) { last if $lines == 1; syswrite $c, ok("again $lines"); }
      """)
    // The second is sent over the kept connection, is read there, and gets no byte of an answer.
    #expect(try await fixture.text("fickle") == "1")
    #expect(try await fixture.text("fickle") == "2")
    #expect(fixture.log.isEmpty)
  }

  /// What a worker does after its first answer; each would have been the second caller's answer.
  @Test(arguments: [
    // It answers the first request again, after it has read the second.
    "syswrite $c, ok('first'); my $old = $id; request($c); $id = $old; syswrite $c, ok('first');",
    // It answers the second with the first one's number.
    "syswrite $c, ok('first'); my $old = $id; request($c); $id = $old; syswrite $c, ok('second');",
    // It writes its answer twice at once.
    "syswrite $c, ok('first') . ok('first'); request($c);",
  ])
  func `gives no caller the response of another, and ends the process`(body: String) async throws {
    try fixture.resident(
      "late", "if ($p->{RICH_ID} == 9) { syswrite $c, ok('fresh') } else { \(body) } sleep 60;")
    var answers: [String] = []
    for id in 1...2 {
      let call = PluginCall(verb: .render, richType: "late", id: String(id))
      do throws(PluginError) {
        let reply = try await fixture.host.respond(to: call)
        guard case .bytes(let bytes) = reply.body else { continue }
        answers.append(String(decoding: bytes, as: UTF8.self))
      } catch { answers.append(error.code.rawValue) }
    }
    #expect(answers == ["first", "failed"] || answers == ["failed", "failed"], "\(answers)")
    let fresh = PluginCall(verb: .render, richType: "late", id: "9")
    // The next worker of a plugin that lost one is started a little later.
    var answer = ""
    try await eventually("a fresh one answers") {
      do { answer = try await fixture.text(fresh) } catch let error as PluginError
        where error.code == .busy
      { return false }
      return true
    }
    #expect(answer == "fresh")
  }

  @Test func `logs only the beginning of what a process writes during a call`() async throws {
    try fixture.resident(
      "chatty", "syswrite STDERR, ('x' x 99) . \"\\n\" for 1..3000; syswrite $c, ok('fine');")
    for _ in 0..<2 { #expect(try await fixture.text("chatty") == "fine") }
    let logged = fixture.log.count { $0 == "x" }
    #expect(logged <= 2 * StandardError.limit)
  }

  @Test func `ends a process that writes without end between calls`() async throws {
    try fixture.resident(
      "raving",
      "syswrite $c, ok($$); close $c; if (!fork) { while (1) { syswrite STDERR, 'x' x 65536 } }")
    let pid = try #require(Int32(try await fixture.text("raving")))
    try await eventually("its process has ended") { kill(pid, 0) != 0 }
    #expect(fixture.log.contains("notification 7: its process was ended: it writes without end"))
    #expect(try await fixture.text("raving") != String(pid))
  }

  @Test func `ends a process that works between calls, and does not replace it`()
    async throws
  {
    try fixture.resident(
      "busybody", manifest: #""workers":{"min":1,"max":1},"limits":{"seconds":1}"#,
      "syswrite $c, ok($$); close $c; if (!fork) { 1 while 1 }")
    fixture.host.warmUp()
    try await eventually("one is ready") { idle("busybody") == 1 }
    let pid = try #require(Int32(try await textInTime("busybody")))
    try await eventually("its processes have ended") { kill(-pid, 0) != 0 }
    try await eventually("the log says why") {
      fixture.log.contains("its process was killed: it used more processor time without a call")
    }
    #expect(idle("busybody") == 0)
    #expect(try await textInTime("busybody") != String(pid))
  }

  @Test func `ends a process that works before its first call`() async throws {
    try fixture.resident(
      "early", manifest: #""workers":{"min":1,"max":1},"limits":{"seconds":1}"#,
      before: "1 while 1;", "")
    fixture.host.warmUp()
    try await eventually("it has ended") {
      fixture.log.contains("without a call than one may take")
    }
    #expect(idle("early") == 0)
  }

  @Test func `does not count the processor time of calls`() async throws {
    try fixture.resident(
      "diligent", manifest: #""workers":{"max":1},"limits":{"seconds":3}"#,
      "my ($t) = times; while ((times)[0] - $t < 0.4) { 1 for 1..50000 } syswrite $c, ok($$);")
    // Together they take 3.6 s of processor time, more than the 3 s that it may use between calls.
    var pids: [String] = []
    while pids.count < 9 {
      do {
        pids.append(try await fixture.text("diligent"))
      } catch let error as PluginError where error.code == .timedOut {
        // Each takes far less than the 3 s of one call: the machine stood still, and the process was killed.
        pids = []
      }
    }
    #expect(Set(pids).count == 1)
    #expect(fixture.log.split(separator: "\n").allSatisfy { $0.contains("timedOut") })
  }

  /// The answer of a plugin whose calls may take a second, from a call during which the machine did not stand still.
  private func textInTime(_ name: String) async throws -> String {
    var text = ""
    try await eventually("it answers in time") {
      do { text = try await fixture.text(name) } catch let error as PluginError
        where [.timedOut, .busy].contains(error.code)
      { return false }
      return true
    }
    return text
  }

  @Test func `a process that dies leaves the end of its standard error`() async throws {
    try fixture.resident("dying", "print STDERR qq(no such table\n); exit 4;")
    #expect(await fixture.code("dying") == .failed)
    let calls = try #require(fixture.host.status().first).calls
    #expect(calls.lastFailure == "it exited with status 4")
    #expect(calls.lastFailureOutput.hasSuffix("no such table\n"))
  }

  @Test func `counts calls, failures and times`() async throws {
    try fixture.script(
      "some", #"[ "$RICH_PAYLOAD" ] || exit 3; echo 'Content-Type: text/plain'; echo"#)
    _ = await fixture.code("some")
    _ = try await fixture.text(PluginCall(verb: .render, richType: "some", payload: "x"))
    let calls = try #require(fixture.host.status().first).calls
    #expect(calls.count == 2 && calls.failures == 1)
    #expect(calls.lastFailure == "it exited with status 3")
    #expect(
      (calls.median ?? .zero) > .zero && (calls.percentile95 ?? .zero) >= (calls.median ?? .zero))
  }
}
