import Foundation
import Testing
import Waiting

@testable import PluginHost

@Suite(.serialized, .timeLimit(.minutes(2))) struct ResidentPluginTests {
  private let fixture: PluginFixture

  init() throws { fixture = try PluginFixture() }

  @Test func `sends call after call to one process`() async throws {
    try fixture.resident("hello", "syswrite $c, ok(\"$$ $count $p->{RICH_ID}\");")
    let first = try await fixture.text("hello").split(separator: " ")
    let second = try await fixture.text("hello").split(separator: " ")
    #expect(first.first == second.first && first.first != nil)
    #expect(first.dropFirst() == ["1", "7"])
    #expect(second.dropFirst() == ["2", "7"])
  }

  @Test func `has no hold on a file that it has sent`() async throws {
    try fixture.resident(
      "sent", before: "our $h;",
      """
      if ($count == 1) { open($h, '+>', "$ENV{TMPDIR}/answer"); syswrite $h, 'a' x 3_000_000;
        syswrite $c, rec(6, "Content-Type: text/plain\nX-Sendfile: answer\n\n") . rec(6, '')
          . rec(3, "\0" x 8) }
      else { sysseek $h, 0, 0; syswrite $c, ok(syswrite $h, 'b' x 4_000_000) }
      """)
    let reply = try await fixture.host.respond(to: PluginCall(verb: .render, richType: "sent"))
    guard case .file(let file) = reply.body else { throw PluginError(.failed, "bytes") }
    #expect(try await fixture.text("sent") == "4000000")
    let data = try Data(contentsOf: URL(fileURLWithPath: file.path))
    #expect(data == Data(repeating: UInt8(ascii: "a"), count: 3_000_000))
  }

  @Test func `finds nothing of an earlier call in its folder`() async throws {
    try fixture.resident(
      "tidy",
      """
      my @left = glob("$ENV{TMPDIR}/*"); open(my $f, '>', "$ENV{TMPDIR}/call$count"); close $f;
      syswrite $c, ok("$count " . scalar(@left));
      """)
    #expect(try await fixture.text("tidy") == "1 0")
    #expect(try await fixture.text("tidy") == "2 0")
  }

  @Test func `sends long parameters and content whole`() async throws {
    try fixture.resident(
      "long", manifest: #""verbs":["validate"]"#,
      "syswrite $c, ok(length($p->{RICH_MESSAGE}) . ' ' . length($p->{RICH_PAYLOAD}) . ' ' . $in);")
    let body = [UInt8](repeating: 0x62, count: 2_000_000)
    let reply = try await fixture.host.respond(
      to: PluginCall(
        verb: .validate, richType: "long", message: String(repeating: "é", count: 64),
        payload: String(repeating: "x", count: 100_000), body: body))
    guard case .file(let file) = reply.body else { throw PluginError(.failed, "bytes") }
    let data = try Data(contentsOf: URL(fileURLWithPath: file.path))
    #expect(data.elementsEqual("128 100000 ".utf8 + body))
  }

  @Test func `reads records however they are cut and padded`() async throws {
    try fixture.resident(
      "cut",
      """
      my $a = rec(6, "Content-Type: te", 7) . rec(7, "a complaint\\n", 255) . rec(6, "xt/plain\\n\\nhi", 1)
        . pack('CCnnCC', 1, 11, 0, 8, 0, 0) . ("\\0" x 8) . rec(6, '') . rec(3, "\\0" x 8, 9);
      for (split //, $a) { syswrite $c, $_ }
      """)
    #expect(try await fixture.text("cut") == "hi")
    #expect(fixture.log.contains("notification 7 says: a complaint"))
  }

  @Test func `asks another process when one died before its response`() async throws {
    try fixture.resident("weak", "kill 9, $$ if $count == 2; syswrite $c, ok($count);")
    for _ in 0..<5 { #expect(try await fixture.text("weak") == "1") }
    #expect(fixture.log.isEmpty)
  }

  @Test func `replaces a process after its requests`() async throws {
    try fixture.resident(
      "brief", manifest: #""workers":{"max":1,"requests":3}"#, "syswrite $c, ok($count);")
    var counts: [String] = []
    for _ in 0..<7 { counts.append(try await fixture.text("brief")) }
    #expect(counts == ["1", "2", "3", "1", "2", "3", "1"])
  }

  @Test func `ends an idle process`() async throws {
    try fixture.resident(
      "idle", manifest: #""workers":{"max":1,"idleSeconds":1}"#, "syswrite $c, ok($$);")
    let pid = try #require(Int32(try await fixture.text("idle")))
    try await eventually("its process has ended") { kill(pid, 0) != 0 }
    #expect(try await fixture.text("idle") != String(pid))
  }

  @Test func `calls the new version as soon as it is installed`() async throws {
    try fixture.resident("new", "syswrite $c, ok('one');")
    #expect(try await fixture.text("new") == "one")
    try fixture.resident("new", "syswrite $c, ok('two');")
    #expect(try await fixture.text("new") == "two")
  }

  @Test func `runs no more processes than allowed and keeps their responses apart`() async throws {
    let fixture = try PluginFixture {
      $0.queueLength = 1000
      $0.queueTimeout = .seconds(30)
    }
    try fixture.resident(
      "many", manifest: #""workers":{"max":3}"#, "syswrite $c, ok(\"$$ $p->{RICH_ID}\");")
    let pids = try await withThrowingTaskGroup(of: Substring.self) { group in
      for id in 0..<300 {
        group.addTask {
          let text = try await fixture.text(
            PluginCall(verb: .render, richType: "many", id: String(id)))
          let words = text.split(separator: " ")
          #expect(words.last.map(String.init) == String(id))
          return try #require(words.first)
        }
      }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(1...3 ~= pids.count)
  }

  private static let misdeeds:
    [(what: String, body: String, code: PluginError.Code, cause: String)] = [
      ("drops the connection", "close $c;", .failed, "closed the connection"),
      ("dies", "kill 'SEGV', $$; sleep 60;", .failed, "signal 11"),
      (
        "dies in its answer",
        "syswrite $c, rec(6, \"Content-Type: a/b\\n\\nhi\"); kill 9, $$; sleep 60;", .failed,
        "signal 9"
      ),
      ("exits", "exit 3;", .failed, "status 3"),
      ("says it failed", "syswrite $c, ok('hi', 65);", .invalidContent, "exit 65"),
      ("is overloaded", "syswrite $c, ok('', 0, 2);", .busy, "overloaded"),
      ("knows no role", "syswrite $c, ok('', 0, 3);", .failed, "protocol status 3"),
      (
        "speaks HTTP", "syswrite $c, \"HTTP/1.1 200 OK\\r\\n\\r\\n\"; sleep 60;", .failed,
        "FastCGI record begins"
      ),
      (
        "speaks of another request",
        "syswrite $c, pack('CCnnCC', 1, 6, 77, 2, 0, 0) . 'hi'; sleep 60;", .failed,
        "FastCGI record"
      ),
      (
        "ends in a short record", "syswrite $c, rec(3, 'x'); sleep 60;", .failed,
        "end record has 1 bytes"
      ),
      (
        "writes without end",
        "syswrite $c, rec(6, \"Content-Type: a/b\\n\\n\"); while (1) { syswrite $c, rec(6, 'x' x 65000) or exit }",
        .failed, "1 MiB"
      ),
      (
        "answers nothing", "syswrite $c, rec(6, '') . rec(3, \"\\0\" x 8);", .failed,
        "wrote nothing"
      ),
    ]

  @Test(arguments: misdeeds)
  func `ends a call with the error and the cause that docs/PLUGINS.md names`(
    what: String, body: String, code: PluginError.Code, cause: String
  ) async throws {
    try fixture.resident(
      "bad", manifest: #""limits":{"seconds":20,"outputMiB":1},"workers":{"max":1}"#, body)
    #expect(await fixture.code("bad") == code, "\(what)")
    #expect(fixture.log.contains(cause), "\(what): \(fixture.log)")
    try fixture.resident("good", "syswrite $c, ok('fine');")
    #expect(try await fixture.text("good") == "fine")
  }

  @Test func `ends a call at its deadline`() async throws {
    let bodies = [
      "hangs": "sleep 60;",
      "hangs-later": "syswrite $c, rec(6, \"Content-Type: a/b\\n\\n\"); sleep 60;",
      "trickles": "while (1) { syswrite $c, rec(7, 'x') or exit; sleep 0.2 }",
    ]
    for (name, body) in bodies {
      try fixture.resident(name, manifest: #""limits":{"seconds":1}"#, body)
    }
    let start = ContinuousClock.now
    await withTaskGroup { group in
      for name in bodies.keys {
        group.addTask { #expect(await fixture.code(name) == .timedOut, "\(name): \(fixture.log)") }
      }
    }
    #expect((.seconds(1)...(.seconds(30))).contains(ContinuousClock.now - start))
    #expect(fixture.log.contains("timedOut: killed at its deadline of 1 s"))
  }

  @Test func `is not asked again after a byte of its response`() async throws {
    let fixture = try PluginFixture { $0.sandbox = .off }
    try fixture.resident(
      "once",
      """
      open(my $f, '>>', "$ENV{TMPDIR}/../../calls"); print $f 'x'; close $f;
      syswrite $c, rec(6, "Content-Type: a/b\\n\\n"); kill 9, $$; sleep 60;
      """)
    #expect(await fixture.code("once") == .failed)
    #expect(try String(contentsOfFile: "\(fixture.folder)/tmp/calls", encoding: .utf8) == "x")
  }

  @Test func `numbers its requests from 1, so that late answers are recognised`() async throws {
    try fixture.resident("number", "syswrite $c, ok($id);")
    for id in ["1", "2", "3"] { #expect(try await fixture.text("number") == id) }
  }

  @Test func `starts a plugin that always dies less and less often`() async throws {
    try fixture.resident("sick", before: "exit 4;", "")
    #expect(await fixture.code("sick") == .failed)
    // The first pauses are short: a call that comes later fails like the one before it.
    try await eventually("it is not started now") {
      let error = await fixture.error(PluginCall(verb: .render, richType: "sick"))
      return error?.code == .busy && error?.retryAfter ?? 0 > 0
    }
  }

  @Test func `leaves no process behind when the host is gone`() async throws {
    var pid: Int32 = 0
    do {
      let fixture = try PluginFixture()
      try fixture.resident("left", "syswrite $c, ok($$);")
      pid = try #require(Int32(try await fixture.text("left")))
    }
    try await eventually("its process has ended") { kill(pid, 0) != 0 }
  }
}
