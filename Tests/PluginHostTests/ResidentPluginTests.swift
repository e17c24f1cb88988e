import Foundation
import Testing

@testable import PluginHost

@Suite struct ResidentPluginTests {
  private let workshop: Workshop

  init() throws { workshop = try Workshop() }

  @Test func `asks one process again and again`() async throws {
    try workshop.resident("hello", "syswrite $c, ok(\"$$ $count $p->{RICH_ID}\");")
    let first = try await workshop.text("hello").split(separator: " ")
    let second = try await workshop.text("hello").split(separator: " ")
    #expect(first[0] == second[0])
    #expect(first[1...] == ["1", "7"])
    #expect(second[1...] == ["2", "7"])
  }

  @Test func `sends long parameters and content whole`() async throws {
    try workshop.resident(
      "long", manifest: #""verbs":["validate"]"#,
      "syswrite $c, ok(length($p->{RICH_MESSAGE}) . ' ' . length($p->{RICH_PAYLOAD}) . ' ' . $in);")
    let body = [UInt8](repeating: 0x62, count: 2_000_000)
    let reply = try await workshop.host.respond(
      to: PluginCall(
        verb: .validate, richType: "long", message: String(repeating: "é", count: 64),
        payload: String(repeating: "x", count: 100_000), body: body))
    guard case .file(let file) = reply.body else { throw PluginError(status: 0, reason: "bytes") }
    let data = try Data(contentsOf: URL(fileURLWithPath: file.path))
    #expect(data.elementsEqual("128 100000 ".utf8 + body))
  }

  @Test func `reads records however they are cut and padded`() async throws {
    try workshop.resident(
      "cut",
      """
      my $a = rec(6, "Content-Type: te", 7) . rec(7, "a complaint\\n", 255) . rec(6, "xt/plain\\n\\nhi", 1)
        . pack('CCnnCC', 1, 11, 0, 8, 0, 0) . ("\\0" x 8) . rec(6, '') . rec(3, "\\0" x 8, 9);
      for (split //, $a) { syswrite $c, $_ }
      """)
    #expect(try await workshop.text("cut") == "hi")
    #expect(workshop.log.contains("notification 7 says: a complaint"))
  }

  @Test func `asks another worker when one died before its reply`() async throws {
    try workshop.resident("weak", "kill 9, $$ if $count == 2; syswrite $c, ok($count);")
    for _ in 0..<5 { #expect(try await workshop.text("weak") == "1") }
    #expect(workshop.log.isEmpty)
  }

  @Test func `retires a worker after its requests and starts another`() async throws {
    try workshop.resident(
      "brief", manifest: #""workers":{"max":1,"requests":3}"#, "syswrite $c, ok($count);")
    var counts: [String] = []
    for _ in 0..<7 { counts.append(try await workshop.text("brief")) }
    #expect(counts == ["1", "2", "3", "1", "2", "3", "1"])
  }

  @Test func `lets an idle worker go`() async throws {
    try workshop.resident(
      "idle", manifest: #""workers":{"max":1,"idleSeconds":1}"#, "syswrite $c, ok($$);")
    let pid = try #require(Int32(try await workshop.text("idle")))
    while kill(pid, 0) == 0 { try await Task.sleep(for: .milliseconds(20)) }
    #expect(try await workshop.text("idle") != String(pid))
  }

  @Test func `asks the new version as soon as it is there`() async throws {
    try workshop.resident("new", "syswrite $c, ok('one');")
    #expect(try await workshop.text("new") == "one")
    try workshop.resident("new", "syswrite $c, ok('two');")
    #expect(try await workshop.text("new") == "two")
  }

  @Test func `runs no more workers than allowed and keeps their answers apart`() async throws {
    let workshop = try Workshop {
      $0.queueLength = 1000
      $0.queuePatience = .seconds(30)
    }
    try workshop.resident(
      "many", manifest: #""workers":{"max":3}"#, "syswrite $c, ok(\"$$ $p->{RICH_ID}\");")
    let pids = try await withThrowingTaskGroup(of: Substring.self) { group in
      for id in 0..<300 {
        group.addTask {
          let text = try await workshop.text(
            PluginCall(verb: .render, richType: "many", id: String(id)))
          let words = text.split(separator: " ")
          #expect(words.last.map(String.init) == String(id))
          return words[0]
        }
      }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(1...3 ~= pids.count)
  }

  @Test(arguments: [
    ("hangs", "sleep 60;", 504, "deadline of 2 s"),
    (
      "hangs after its header", "syswrite $c, rec(6, \"Content-Type: a/b\\n\\n\"); sleep 60;", 504,
      "deadline"
    ),
    ("drops the connection", "close $c;", 502, "let go of the connection"),
    ("dies", "kill 'SEGV', $$; sleep 60;", 502, "signal 11"),
    (
      "dies in its answer",
      "syswrite $c, rec(6, \"Content-Type: a/b\\n\\nhi\"); kill 9, $$; sleep 60;", 502, "signal 9"
    ),
    ("exits", "exit 3;", 502, "status 3"),
    ("says it failed", "syswrite $c, ok('hi', 65);", 422, "exit 65"),
    ("is overloaded", "syswrite $c, ok('', 0, 2);", 503, "overloaded"),
    ("knows no role", "syswrite $c, ok('', 0, 3);", 502, "protocol status 3"),
    (
      "speaks HTTP", "syswrite $c, \"HTTP/1.1 200 OK\\r\\n\\r\\n\"; sleep 60;", 502,
      "FastCGI record begins"
    ),
    (
      "speaks of another request",
      "syswrite $c, pack('CCnnCC', 1, 6, 77, 2, 0, 0) . 'hi'; sleep 60;", 502, "FastCGI record"
    ),
    (
      "ends in a short record", "syswrite $c, rec(3, 'x'); sleep 60;", 502, "end record has 1 bytes"
    ),
    (
      "writes without end",
      "syswrite $c, rec(6, \"Content-Type: a/b\\n\\n\"); while (1) { syswrite $c, rec(6, 'x' x 65000) or exit }",
      502, "1 MiB"
    ),
    ("answers nothing", "syswrite $c, rec(6, '') . rec(3, \"\\0\" x 8);", 502, "wrote nothing"),
  ])
  func `ends a call with the status and cause of the event table`(
    what: String, body: String, status: Int, cause: String
  ) async throws {
    try workshop.resident(
      "bad", manifest: #""limits":{"seconds":2,"outputMiB":1},"workers":{"max":1}"#, body)
    #expect(await workshop.status("bad") == status, "\(what)")
    #expect(workshop.log.contains(cause), "\(what): \(workshop.log)")
    try workshop.resident("good", "syswrite $c, ok('fine');")
    #expect(try await workshop.text("good") == "fine")
  }

  @Test func `starts a plugin that always dies ever more slowly`() async throws {
    try workshop.resident("sick", before: "exit 4;", "")
    #expect(await workshop.status("sick") == 502)
    do throws(PluginError) {
      _ = try await workshop.host.respond(to: PluginCall(verb: .render, richType: "sick"))
    } catch {
      #expect(error.status == 503)
      #expect(error.retryAfter ?? 0 > 0)
    }
  }

  @Test func `leaves no worker behind when the host goes`() async throws {
    var pid: Int32 = 0
    do {
      let workshop = try Workshop()
      try workshop.resident("left", "syswrite $c, ok($$);")
      pid = try #require(Int32(try await workshop.text("left")))
    }
    while kill(pid, 0) == 0 { try await Task.sleep(for: .milliseconds(20)) }
  }
}
