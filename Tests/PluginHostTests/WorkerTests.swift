import Foundation
import Testing

@testable import PluginHost

/// How resident workers come, stay and go.
@Suite struct WorkerTests {
  private let workshop: Workshop

  init() throws { workshop = try Workshop() }

  private func idle(_ name: String) -> Int {
    workshop.host.status().first { $0.plugin.richType == name }?.processes.idle ?? 0
  }

  private func wait(_ what: Comment, until isTrue: () async throws -> Bool) async throws {
    let deadline = ContinuousClock.now + .seconds(20)
    while try await !isTrue() {
      guard ContinuousClock.now < deadline else {
        Issue.record(what)
        return
      }
      try await Task.sleep(for: .milliseconds(10))
    }
  }

  @Test func `has the least number ready before anybody asks, and replaces those that die`()
    async throws
  {
    try workshop.resident(
      "ready", manifest: #""workers":{"min":2,"max":3,"idleSeconds":1}"#, "syswrite $c, ok($$);")
    workshop.host.warmUp()
    try await wait("two are ready") { idle("ready") == 2 }
    let victim = try #require(Int32(try await workshop.text("ready")))
    kill(victim, SIGKILL)
    try await wait("a new one is ready") { kill(victim, 0) != 0 && idle("ready") == 2 }
    #expect(try await workshop.text("ready") != String(victim))
    #expect(workshop.log.isEmpty)
  }

  @Test func `has them ready for a plugin that comes, and ends those of one that goes`()
    async throws
  {
    workshop.host.warmUp()
    try workshop.resident("late", manifest: #""workers":{"min":1}"#, "syswrite $c, ok($$);")
    try await wait("one is ready") { idle("late") == 1 }
    let pid = try #require(Int32(try await workshop.text("late")))
    try FileManager.default.removeItem(atPath: "\(workshop.folder)/plugins/late")
    try await wait("it has ended") { kill(pid, 0) != 0 }
  }

  @Test func `has workers ready for calls that are about to come, and lets unused ones go`()
    async throws
  {
    try workshop.resident(
      "eager", manifest: #""workers":{"max":2,"idleSeconds":1}"#, "syswrite $c, ok($$);")
    workshop.host.prepare("eager", calls: 5)
    #expect(idle("eager") == 2)
    workshop.host.prepare("eager", calls: 5)
    #expect(idle("eager") == 2)
    try await wait("they have gone") { idle("eager") == 0 }
    try workshop.script("each", "exit 0")
    workshop.host.prepare("each", calls: 1)
    workshop.host.prepare("nobody", calls: 1)
    #expect(idle("each") == 0)
  }

  @Test func `tries ever more slowly to have them when they die at once`() async throws {
    try workshop.resident(
      "sick", manifest: #""workers":{"min":1}"#,
      before: "open(my $f, '>>', '\(workshop.folder)/plugins/count'); exit 4;", "")
    workshop.host.warmUp()
    try await wait("it has failed") {
      do throws(PluginError) {
        _ = try await workshop.host.respond(to: PluginCall(verb: .render, richType: "sick"))
      } catch { return error.status == 503 && (error.retryAfter ?? 0) >= 1 }
      return false
    }
  }

  @Test func `keeps the connection to a worker that keeps it`() async throws {
    try workshop.resident(
      "loyal", before: "my $lines = 0;",
      "$lines++; my $n = 0; while ($p) { $n++; syswrite $c, ok(\"$lines $n\"); ($p, $in) = request($c) }"
    )
    for count in 1...4 { #expect(try await workshop.text("loyal") == "1 \(count)") }
  }

  @Test func `asks over a new connection when a worker let go of the old one`() async throws {
    try workshop.resident(
      "fickle", before: "my $lines = 0;",
      """
      $lines++; syswrite $c, ok($lines);
      while (my ($q) = request($c)) { last if $lines == 1; syswrite $c, ok("again $lines"); }
      """)
    // The second is sent over the kept connection, is read there, and gets no byte of an answer.
    #expect(try await workshop.text("fickle") == "1")
    #expect(try await workshop.text("fickle") == "2")
    #expect(workshop.log.isEmpty)
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
  func `gives no caller what was meant for another, and ends the worker`(body: String) async throws
  {
    try workshop.resident(
      "late", "if ($p->{RICH_ID} == 9) { syswrite $c, ok('fresh') } else { \(body) } sleep 60;")
    var answers: [String] = []
    for id in 1...2 {
      let call = PluginCall(verb: .render, richType: "late", id: String(id))
      do throws(PluginError) {
        let reply = try await workshop.host.respond(to: call)
        guard case .bytes(let bytes) = reply.body else { continue }
        answers.append(String(decoding: bytes, as: UTF8.self))
      } catch { answers.append("\(error.status)") }
    }
    #expect(answers == ["first", "502"] || answers == ["502", "502"], "\(answers)")
    let fresh = PluginCall(verb: .render, richType: "late", id: "9")
    // The next worker of a plugin that lost one is started a little later.
    var answer = ""
    try await wait("a fresh one answers") {
      do { answer = try await workshop.text(fresh) } catch let error as PluginError
        where error.status == 503
      { return false }
      return true
    }
    #expect(answer == "fresh")
  }

  @Test(.timeLimit(.minutes(1)))
  func `ends a worker that writes without end while nobody asks`() async throws {
    try workshop.resident(
      "raving",
      "syswrite $c, ok($$); close $c; if (!fork) { while (1) { syswrite STDERR, 'x' x 65536 } }")
    let pid = try #require(Int32(try await workshop.text("raving")))
    while kill(pid, 0) == 0 { try await Task.sleep(for: .milliseconds(20)) }
    #expect(workshop.log.contains("notification 7: its process is ended: nobody asks it"))
    #expect(try await workshop.text("raving") != String(pid))
  }

  @Test(.timeLimit(.minutes(1)))
  func `ends a worker that works on while nobody asks, and keeps no other ready`() async throws {
    try workshop.resident(
      "busybody", manifest: #""workers":{"min":1,"max":1},"limits":{"seconds":1}"#,
      "syswrite $c, ok($$); close $c; if (!fork) { 1 while 1 }")
    workshop.host.warmUp()
    try await wait("one is ready") { idle("busybody") == 1 }
    let pid = try #require(Int32(try await workshop.text("busybody")))
    while kill(-pid, 0) == 0 { try await Task.sleep(for: .milliseconds(20)) }
    try await wait("the log says why") {
      workshop.log.contains("its process was killed: it used more processor time without a call")
    }
    #expect(idle("busybody") == 0)
    #expect(try await workshop.text("busybody") != String(pid))
  }

  @Test(.timeLimit(.minutes(1)))
  func `ends a worker that works without having been asked`() async throws {
    try workshop.resident(
      "early", manifest: #""workers":{"min":1,"max":1},"limits":{"seconds":1}"#,
      before: "1 while 1;", "")
    workshop.host.warmUp()
    try await wait("it has ended") { workshop.log.contains("without a call than one may take") }
    #expect(idle("early") == 0)
  }

  @Test func `does not count the processor time of calls`() async throws {
    try workshop.resident(
      "diligent", manifest: #""workers":{"max":1},"limits":{"seconds":3}"#,
      "my ($t) = times; while ((times)[0] - $t < 1) { 1 for 1..50000 } syswrite $c, ok($$);")
    let pid = try await workshop.text("diligent")
    for _ in 0..<4 { #expect(try await workshop.text("diligent") == pid) }
    #expect(workshop.log.isEmpty)
  }

  @Test func `counts calls, failures and times`() async throws {
    try workshop.script(
      "some", #"[ "$RICH_PAYLOAD" ] || exit 3; echo 'Content-Type: text/plain'; echo"#)
    _ = await workshop.status("some")
    _ = try await workshop.text(PluginCall(verb: .render, richType: "some", payload: "x"))
    let calls = try #require(workshop.host.status().first).calls
    #expect(calls.count == 2 && calls.failures == 1)
    #expect(calls.lastFailure == "it exited with status 3")
    #expect((calls.median ?? .zero) > .zero && (calls.slowest ?? .zero) >= (calls.median ?? .zero))
  }
}
