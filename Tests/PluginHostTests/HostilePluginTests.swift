import Foundation
import Testing

@testable import PluginHost

/// What a broken or malicious plugin can do, and what becomes of it.
@Suite struct HostilePluginTests {
  private let workshop: Workshop

  init() throws { workshop = try Workshop() }

  private static let head = "echo 'Content-Type: text/plain'; echo"

  @Test(arguments: [
    ("exits with 3", "exit 3", 502, "status 3"),
    ("refuses the data", "exit 65", 422, "exit 65"),
    ("is not available", "exit 69", 503, "exited(69)"),
    ("is out of something", "exit 75", 503, "exited(75)"),
    ("crashes", "kill -SEGV $$", 502, "signal 11"),
    ("crashes after its header", "\(head); kill -ABRT $$", 502, "signal 6"),
    ("writes nothing", "exit 0", 502, "wrote nothing"),
    ("writes garbage", "echo garbage", 502, "garbage"),
    ("writes a stray byte", "echo x; \(head); echo hi", 502, "\"x\""),
    ("writes no empty line", "printf 'Content-Type: text/plain\\n'", 502, "no end"),
    (
      "speaks HTTP itself", "printf 'HTTP/1.1 200 OK\\r\\nContent-Type: a/b\\r\\n\\r\\n'", 502,
      "HTTP"
    ),
    ("folds a field", "printf 'Content-Type: a/b\\n x: y\\n\\n'", 502, " x: y"),
    ("says its type twice", "printf 'Content-Type: a/b\\nContent-Type: a/c\\n\\n'", 502, "twice"),
    ("says no type", "printf 'Status: 200\\n\\nhi'", 502, "no Content-Type"),
    ("says a strange status", "printf 'Status: 299\\nContent-Type: a/b\\n\\nhi'", 502, "299"),
    ("says no status", "printf 'Status: abc\\nContent-Type: a/b\\n\\nhi'", 502, "abc"),
    ("is HTML", "printf 'Content-Type: text/html\\n\\n<script>'", 502, "text/html"),
    ("is a picture with scripts", "printf 'Content-Type: image/svg+xml\\n\\n'", 502, "svg"),
    ("goes elsewhere inside", "printf 'Location: /etc/passwd\\n\\n'", 502, "Location"),
    ("goes to a script", "printf 'Location: javascript:alert(1)\\n\\n'", 502, "Location"),
    ("goes to another protocol", "printf 'Location: ftp://example.com/a\\n\\n'", 502, "Location"),
    ("writes less than it said", "echo Content-Length: 3; \(head); printf 12", 502, "wrote 2"),
    ("writes more than it said", "echo Content-Length: 1; \(head); printf 12", 502, "wrote 2"),
    ("has a control byte", "printf 'Content-Type: a/b\\001\\n\\n'", 502, "x1"),
    ("has an endless header", "yes 'X-A: b' | head -c 100000; sleep 60", 502, "16384"),
    // With a user of its own the kernel may refuse a fork, and the shell give up, before it is counted.
    ("forks without end", "f() { while :; do f & done; sleep 5; }; f", 502, "502, it "),
    ("eats memory", "exec perl -e 'my $x = \"x\" x 700_000_000; sleep 9'", 502, "status 1"),
    (
      "fills the disk",
      "for i in 1 2 3 4 5 6 7 8 9 10; do head -c 19000000 /dev/zero > $TMPDIR/$i; done; sleep 9",
      502, "144 MiB"
    ),
    ("writes 1 GB", "\(head); head -c 1000000000 /dev/zero", 502, "20 MiB"),
    (
      "sends a file of the system's", "\(head) | sed '$d'; echo X-Sendfile: /etc/passwd; echo", 502,
      "X-Sendfile"
    ),
  ])
  func `ends a call with the status and cause of the event table`(
    what: String, script: String, status: Int, cause: String
  ) async throws {
    try workshop.script("bad", script)
    #expect(await workshop.status("bad") == status, "\(what)")
    #expect(workshop.log.contains(cause), "\(what): \(workshop.log)")
    #expect(workshop.log.contains("plugin bad, render, notification 7"))
    #expect(workshop.leavings.isEmpty)
  }

  @Test(arguments: [
    ("hangs", "sleep 60"),
    ("ignores SIGTERM", "trap '' TERM; sleep 60; sleep 60"),
    ("closes its output and lives on", "\(head); exec >&- 2>&-; sleep 60"),
    ("writes a byte a second", "\(head); while :; do echo x; sleep 0.3; done"),
    ("spins", "while :; do :; done"),
    ("stops itself", "kill -STOP $$"),
  ])
  func `kills what does not end at the deadline`(what: String, script: String) async throws {
    try workshop.script("slow", manifest: #"{"limits":{"seconds":1}}"#, script)
    #expect(await workshop.status("slow") == 504, "\(what): \(workshop.log)")
    #expect(workshop.log.contains("deadline of 1 s"))
  }

  @Test func `leaves no descendant alive, not even in a session of its own`() async throws {
    let workshop = try Workshop { $0.sandbox = .off }
    try workshop.script(
      "fork",
      """
      for i in 1 2 3; do setsid sh -c 'echo $$ >> '$TMPDIR'/../../pids; sleep 600' & done
      (sh -c 'echo $$ >> '$TMPDIR'/../../pids; sleep 600' &)
      while [ "$(wc -l < $TMPDIR/../../pids 2>/dev/null)" != 4 ]; do sleep 0.01; done
      \(HostilePluginTests.head); echo done
      """)
    #expect(try await workshop.text("fork") == "done\n")
    let pids = try String(contentsOfFile: "\(workshop.folder)/tmp/pids", encoding: .utf8)
      .split(separator: "\n").compactMap { Int32($0) }
    #expect(pids.count == 4)
    for pid in pids { #expect(kill(pid, 0) == -1 && errno == ESRCH) }
  }

  @Test func `answers at once though a grandchild holds the pipe`() async throws {
    try workshop.script(
      "pipe", manifest: #"{"limits":{"seconds":20}}"#,
      "\(HostilePluginTests.head); echo hi; sleep 600 & exit 0")
    let start = ContinuousClock.now
    #expect(try await workshop.text("pipe") == "hi\n")
    #expect(ContinuousClock.now - start < .seconds(10))
  }

  @Test func `says what is wrong with a plugin that cannot start`() async throws {
    try workshop.write("plugins/lame", "#!/bin/sh\n", mode: 0o644)
    #expect(await workshop.status("lame") == 502)
    #expect(workshop.log.contains("not executable"))
    try workshop.write("plugins/lost", "#!/no/such/interpreter\n")
    #expect(await workshop.status("lost") == 502)
    #expect(workshop.log.contains("execve, errno 2"))
    try workshop.write("plugins/text", "echo hi\n")
    #expect(await workshop.status("text") == 502)
    #expect(workshop.log.contains("execve, errno 8"))
  }

  @Test(arguments: ["plugins/open/open", "plugins/open/data.txt", "plugins/open", "plugins"])
  func `does not run what every user of the machine can change`(path: String) async throws {
    try workshop.script("open", manifest: "{}", "\(Self.head); echo hi")
    try workshop.write("plugins/open/data.txt", "data", mode: 0o644)
    let place = "\(workshop.folder)/\(path)"
    #expect(chmod(place, 0o777) == 0)
    #expect(await workshop.status("open") == 502)
    #expect(workshop.log.contains("every user of this machine can change \(place)"))
  }

  @Test func `kills the plugin when nobody waits any more`() async throws {
    let workshop = try Workshop { $0.sandbox = .off }
    try workshop.script(
      "long", manifest: #"{"limits":{"seconds":30}}"#,
      "echo $$ > $TMPDIR/../../pid.new; mv $TMPDIR/../../pid.new $TMPDIR/../../pid; sleep 600")
    let call = Task { await workshop.status("long") }
    var text = ""
    while text.isEmpty {
      text = (try? String(contentsOfFile: "\(workshop.folder)/tmp/pid", encoding: .utf8)) ?? ""
      await Task.yield()
    }
    call.cancel()
    #expect(await call.value == 502)
    let pid = try #require(Int32(text.trimmingCharacters(in: .whitespacesAndNewlines)))
    #expect(kill(pid, 0) == -1 && errno == ESRCH)
  }

  @Test func `keeps the standard error for the log, and not all of it`() async throws {
    try workshop.script(
      "loud", "yes 'it hurts' | head -c 10000000 >&2; \(HostilePluginTests.head); echo hi")
    #expect(try await workshop.text("loud") == "hi\n")
    #expect(workshop.log.contains("plugin loud, render, notification 7 says: it hurts"))
    #expect(workshop.log.utf8.count < 1_000_000)
  }

  @Test func `learns who asks only when its manifest says perUser`() async throws {
    let call = { PluginCall(verb: .render, richType: $0, id: "7", user: "alice") }
    let body = "\(HostilePluginTests.head); printf %s \"${REMOTE_USER-nobody}${AUTH_TYPE-}\""
    try workshop.script("open", body)
    try workshop.script("own", manifest: #"{"perUser":true}"#, body)
    #expect(try await workshop.text(call("open")) == "nobody")
    #expect(try await workshop.text(call("own")) == "aliceBasic")
  }

  @Test func `sets no field of an answer but those it may`() async throws {
    let names = [
      "Set-Cookie", "Link", "Refresh", "Content-Security-Policy", "Access-Control-Allow-Origin",
      "Cross-Origin-Resource-Policy", "X-Content-Type-Options", "ETag", "Content-Language",
    ]
    let lines = names.map { "echo '\($0): a'" }.joined(separator: "; ")
    try workshop.script("field", "\(lines); \(HostilePluginTests.head); echo hi")
    let reply = try await workshop.host.respond(to: PluginCall(verb: .render, richType: "field"))
    #expect(reply.fields.map(\.name) == ["content-language"])
  }

  @Test func `has few descriptors, and no file beyond its output`() async throws {
    try workshop.script(
      "greedy", manifest: #"{"limits":{"outputMiB":1}}"#,
      """
      \(HostilePluginTests.head)
      exec perl -e '
        $SIG{XFSZ} = "IGNORE"; open(my $f, ">", "$ENV{TMPDIR}/f");
        seek($f, 4 << 30, 0); print syswrite($f, "x") ? "written" : "stopped", " ";
        my @all; while (@all < 100_000) { open(my $g, "<", "/dev/null") or last; push @all, $g }
        print @all < 5000 ? "few" : scalar @all'
      """)
    #expect(try await workshop.text("greedy") == "stopped few", "\(workshop.log)")
  }
}
