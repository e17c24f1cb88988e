import Foundation
import Testing
import Waiting

@testable import PluginHost

/// What a broken or malicious plugin can do, and how its call ends.
@Suite(.serialized, .timeLimit(.minutes(2))) struct HostilePluginTests {
  private let fixture: PluginFixture

  init() throws { fixture = try PluginFixture() }

  private static let head = "echo 'Content-Type: text/plain'; echo"

  private static let misdeeds:
    [(what: String, script: String, code: PluginError.Code, cause: String)] = [
      ("exits with 3", "exit 3", .failed, "status 3"),
      ("refuses the data", "exit 65", .invalidContent, "exit 65"),
      ("is not available", "exit 69", .busy, "exited with status 69"),
      ("is out of something", "exit 75", .busy, "exited with status 75"),
      ("crashes", "kill -SEGV $$", .failed, "signal 11"),
      ("crashes after its header", "\(head); kill -ABRT $$", .failed, "signal 6"),
      ("writes nothing", "exit 0", .failed, "wrote nothing"),
      ("writes garbage", "echo garbage", .failed, "garbage"),
      ("writes a stray byte", "echo x; \(head); echo hi", .failed, "\"x\""),
      ("writes no empty line", "printf 'Content-Type: text/plain\\n'", .failed, "no end"),
      (
        "speaks HTTP itself", "printf 'HTTP/1.1 200 OK\\r\\nContent-Type: a/b\\r\\n\\r\\n'",
        .failed,
        "HTTP"
      ),
      ("folds a field", "printf 'Content-Type: a/b\\n x: y\\n\\n'", .failed, " x: y"),
      (
        "says its type twice", "printf 'Content-Type: a/b\\nContent-Type: a/c\\n\\n'", .failed,
        "twice"
      ),
      ("says no type", "printf 'Status: 200\\n\\nhi'", .failed, "no Content-Type"),
      ("says a strange status", "printf 'Status: 299\\nContent-Type: a/b\\n\\nhi'", .failed, "299"),
      ("says no status", "printf 'Status: abc\\nContent-Type: a/b\\n\\nhi'", .failed, "abc"),
      ("is HTML", "printf 'Content-Type: text/html\\n\\n<script>'", .failed, "text/html"),
      ("is a picture with scripts", "printf 'Content-Type: image/svg+xml\\n\\n'", .failed, "svg"),
      ("goes elsewhere inside", "printf 'Location: /etc/passwd\\n\\n'", .failed, "Location"),
      ("goes to a script", "printf 'Location: javascript:alert(1)\\n\\n'", .failed, "Location"),
      (
        "goes to another protocol", "printf 'Location: ftp://example.com/a\\n\\n'", .failed,
        "Location"
      ),
      (
        "writes less than it said", "echo Content-Length: 3; \(head); printf 12", .failed, "wrote 2"
      ),
      (
        "writes more than it said", "echo Content-Length: 1; \(head); printf 12", .failed, "wrote 2"
      ),
      ("has a control byte", "printf 'Content-Type: a/b\\001\\n\\n'", .failed, "x1"),
      ("has an endless header", "yes 'X-A: b' | head -c 100000; sleep 60", .failed, "16384"),
      // With a user of its own the kernel may refuse a fork, and the shell give up, before it is counted.
      ("forks without end", "f() { while :; do f & done; sleep 5; }; f", .failed, "failed: "),
      (
        "starts 100 processes", "for i in $(seq 100); do sleep 9 & done; sleep 9", .failed,
        "more than 64 processes"
      ),
      ("eats memory", "exec perl -e 'my $x = \"x\" x 700_000_000; sleep 9'", .failed, "status 1"),
      (
        "fills the disk",
        "for i in 1 2 3 4 5 6 7 8 9 10; do head -c 19000000 /dev/zero > $TMPDIR/$i; done; sleep 9",
        .failed, "144 MiB"
      ),
      ("writes 1 GB", "\(head); head -c 1000000000 /dev/zero", .failed, "20 MiB"),
      (
        "sends a file of the system's", "\(head) | sed '$d'; echo X-Sendfile: /etc/passwd; echo",
        .failed,
        "X-Sendfile"
      ),
    ]

  @Test(arguments: misdeeds)
  func `ends a call with the error and the cause that docs/PLUGINS.md names`(
    what: String, script: String, code: PluginError.Code, cause: String
  ) async throws {
    try fixture.script("bad", script)
    #expect(await fixture.code("bad") == code, "\(what)")
    #expect(fixture.log.contains(cause), "\(what): \(fixture.log)")
    #expect(fixture.log.contains("plugin: bad, render, notification 7"))
    #expect(fixture.leftovers.isEmpty)
  }

  @Test func `kills what does not end at the deadline`() async throws {
    let scripts = [
      "hangs": "sleep 60", "ignores": "trap '' TERM; sleep 60; sleep 60",
      "closes": "\(Self.head); exec >&- 2>&-; sleep 60",
      "trickles": "\(Self.head); while :; do echo x; sleep 0.3; done",
      "spins": "while :; do :; done", "stops": "kill -STOP $$",
    ]
    for (name, script) in scripts {
      try fixture.script(name, manifest: #"{"limits":{"seconds":1}}"#, script)
    }
    let start = ContinuousClock.now
    await withTaskGroup { group in
      for name in scripts.keys {
        group.addTask { #expect(await fixture.code(name) == .timedOut, "\(name): \(fixture.log)") }
      }
    }
    #expect((.seconds(1)...(.seconds(30))).contains(ContinuousClock.now - start))
    for name in scripts.keys {
      #expect(fixture.log.contains("plugin: \(name), render, notification 7: timedOut: killed"))
    }
    #expect(fixture.log.contains("deadline of 1 s"))
  }

  @Test func `leaves no descendant alive, not even in a session of its own`() async throws {
    let fixture = try PluginFixture { $0.sandbox = .off }
    try fixture.script(
      "fork",
      """
      for i in 1 2 3; do setsid sh -c 'echo $$ >> '$TMPDIR'/../../pids; sleep 600' & done
      (sh -c 'echo $$ >> '$TMPDIR'/../../pids; sleep 600' &)
      while [ "$(wc -l < $TMPDIR/../../pids 2>/dev/null)" != 4 ]; do sleep 0.01; done
      \(HostilePluginTests.head); echo done
      """)
    #expect(try await fixture.text("fork") == "done\n")
    let pids = try String(contentsOfFile: "\(fixture.folder)/tmp/pids", encoding: .utf8)
      .split(separator: "\n").compactMap { Int32($0) }
    #expect(pids.count == 4)
    for pid in pids { #expect(kill(pid, 0) == -1 && errno == ESRCH) }
  }

  @Test func `answers at once though a grandchild holds the pipe`() async throws {
    try fixture.script(
      "pipe", manifest: #"{"limits":{"seconds":30}}"#,
      "\(HostilePluginTests.head); echo hi; sleep 600 & exit 0")
    let start = ContinuousClock.now
    #expect(try await fixture.text("pipe") == "hi\n")
    #expect(ContinuousClock.now - start < .seconds(25))
  }

  @Test func `says what is wrong with a plugin that cannot start`() async throws {
    try fixture.write("plugins/lame", "#!/bin/sh\n", mode: 0o644)
    #expect(await fixture.code("lame") == .failed)
    #expect(fixture.log.contains("not executable"))
    try fixture.write("plugins/lost", "#!/no/such/interpreter\n")
    #expect(await fixture.code("lost") == .failed)
    #expect(fixture.log.contains("its interpreter /no/such/interpreter is not there"))
    try fixture.write("plugins/noise", "\u{7F}ELF\0 and no more\n")
    #expect(await fixture.code("noise") == .failed)
    #expect(fixture.log.contains("its file is no program of this machine"))
  }

  /// Waits until the host may keep what it has read: until then it reads a plugin for each call.
  private func settle(_ file: String) async throws {
    try await eventually("\(file) is settled") { FileStamp(file)?.isSettled == true }
  }

  @Test(arguments: [
    "plugins/open/open", "plugins/open/data.txt", "plugins/open/__pycache__", "plugins/open",
    "plugins", "plugins/open/__pycache__/open.pyc", "plugins/open/.lib/deep/module",
    "plugins/open/.lib/deep", "plugins/open/.lib", "",
  ])
  func `does not run what every user of the machine can change`(path: String) async throws {
    try fixture.script("open", manifest: "{}", "\(Self.head); echo hi")
    try fixture.write("plugins/open/data.txt", "data", mode: 0o644)
    try fixture.write("plugins/open/__pycache__/open.pyc", "data", mode: 0o644)
    let last = try fixture.write("plugins/open/.lib/deep/module", "data", mode: 0o644)
    try await settle(last)
    #expect(try await fixture.text("open") == "hi\n")
    let place = fixture.folder + (path.isEmpty ? "" : "/\(path)")
    // The times of the plugin's own files stay: only the mode tells.
    #expect(chmod(place, 0o777) == 0)
    try await eventually("it is refused") { await fixture.code("open") == .failed }
    #expect(fixture.log.contains("every user of this machine can change \(place)"))
  }

  @Test func `does not run a plugin to which a hidden file is added that every user can change`()
    async throws
  {
    try fixture.script("open", manifest: "{}", "\(Self.head); echo hi")
    try await settle(fixture.write("plugins/open/.lib/module", "data", mode: 0o644))
    #expect(try await fixture.text("open") == "hi\n")
    let file = try fixture.write("plugins/open/.lib/other", "data", mode: 0o666)
    try await eventually("it is refused") { await fixture.code("open") == .failed }
    #expect(fixture.log.contains("every user of this machine can change \(file)"))
  }

  @Test func `does not run a plugin with a hidden file that every user can change`() async throws {
    let file = try fixture.write("plugins/open/.hidden/module", "data", mode: 0o644)
    #expect(chmod(file, 0o777) == 0)
    try fixture.script("open", manifest: "{}", "\(Self.head); echo hi")
    #expect(await fixture.code("open") == .failed)
    #expect(fixture.log.contains("every user of this machine can change \(file)"))
  }

  @Test(arguments: ["elsewhere/inner/linked", "elsewhere/inner", "elsewhere"])
  func `does not run what every user can change behind a link`(path: String) async throws {
    let file = try fixture.write("elsewhere/inner/linked", "#!/bin/sh\n\(Self.head); echo hi\n")
    try FileManager.default.createSymbolicLink(
      atPath: "\(fixture.folder)/plugins/linked", withDestinationPath: file)
    #expect(try await fixture.text("linked") == "hi\n")
    #expect(chmod("\(fixture.folder)/\(path)", 0o777) == 0)
    try await eventually("it is refused") { await fixture.code("linked") == .failed }
    #expect(fixture.log.contains("every user of this machine can change"))
  }

  @Test func `does not run a plugin that lies in one place with what is secret`() async throws {
    let fixture = try PluginFixture { $0.secretPaths = [$0.temporaryFolder + "/secret"] }
    for folder in ["tmp", "tmp/secret", "tmp/secret/inner"] {
      try fixture.write("\(folder)/deep", "#!/bin/sh\n\(Self.head); echo hi\n")
    }
    for target in ["tmp", "tmp/secret", "tmp/secret/inner", "tmp/secret/inner/deep"] {
      let link = "\(fixture.folder)/plugins/deep"
      try? FileManager.default.removeItem(atPath: link)
      try FileManager.default.createSymbolicLink(
        atPath: link, withDestinationPath: "\(fixture.folder)/\(target)")
      let problem = fixture.host.plugin("deep")?.problem
      #expect(problem?.contains("/tmp/secret, which plugins may not read") == true, "\(target)")
    }
  }

  @Test func `kills the plugin when its call is cancelled`() async throws {
    let fixture = try PluginFixture { $0.sandbox = .off }
    try fixture.script(
      "long", manifest: #"{"limits":{"seconds":30}}"#,
      "echo $$ > $TMPDIR/../../pid.new; mv $TMPDIR/../../pid.new $TMPDIR/../../pid; sleep 600")
    let call = Task { await fixture.code("long") }
    var text = ""
    try await eventually("it is started") {
      text = (try? String(contentsOfFile: "\(fixture.folder)/tmp/pid", encoding: .utf8)) ?? ""
      return !text.isEmpty
    }
    call.cancel()
    #expect(await call.value == .failed)
    let pid = try #require(Int32(text.trimmingCharacters(in: .whitespacesAndNewlines)))
    #expect(kill(pid, 0) == -1 && errno == ESRCH)
  }

  @Test func `keeps the standard error for the log, and not all of it`() async throws {
    try fixture.script(
      "loud", "yes 'it hurts' | head -c 10000000 >&2; \(HostilePluginTests.head); echo hi")
    #expect(try await fixture.text("loud") == "hi\n")
    #expect(fixture.log.contains("plugin: loud, render, notification 7 says: it hurts"))
    // 64 KiB, as lines of nine bytes that each have a prefix.
    let lines = fixture.log.split(separator: "\n").count { $0.hasSuffix(" says: it hurts") }
    #expect((7000...7282).contains(lines))
  }

  @Test func `learns who asks only when its manifest says perUser`() async throws {
    let call = { PluginCall(verb: .render, richType: $0, id: "7", user: "alice") }
    let body = "\(HostilePluginTests.head); printf %s \"${REMOTE_USER-nobody}${AUTH_TYPE-}\""
    try fixture.script("open", body)
    try fixture.script("own", manifest: #"{"perUser":true}"#, body)
    #expect(try await fixture.text(call("open")) == "nobody")
    #expect(try await fixture.text(call("own")) == "aliceBasic")
  }

  @Test func `learns which notification it is for only when its manifest says perNotification`()
    async throws
  {
    let call = { PluginCall(verb: $0, richType: $1, id: "7") }
    let body = "\(HostilePluginTests.head); printf %s \"${RICH_ID-none} $PATH_INFO\""
    try fixture.script("open", manifest: #"{"verbs":["validate","render"]}"#, body)
    try fixture.script(
      "own", manifest: #"{"verbs":["validate","render"],"perNotification":true}"#, body)
    #expect(try await fixture.text(call(.render, "open")) == "none /")
    #expect(try await fixture.text(call(.render, "own")) == "7 /7")
    #expect(try await fixture.text(call(.validate, "own")) == "none /")
  }

  @Test func `sets no field of an answer but those it may`() async throws {
    let names = [
      "Set-Cookie", "Link", "Refresh", "Content-Security-Policy", "Access-Control-Allow-Origin",
      "Cross-Origin-Resource-Policy", "X-Content-Type-Options", "ETag", "Content-Language",
    ]
    let lines = names.map { "echo '\($0): a'" }.joined(separator: "; ")
    try fixture.script("field", "\(lines); \(HostilePluginTests.head); echo hi")
    let reply = try await fixture.host.respond(to: PluginCall(verb: .render, richType: "field"))
    #expect(reply.fields.map(\.name) == ["content-language"])
  }

  @Test func `has few descriptors, and no file beyond its output`() async throws {
    try fixture.script(
      "greedy", manifest: #"{"limits":{"outputMiB":1}}"#,
      """
      \(HostilePluginTests.head)
      exec perl -e '
        $SIG{XFSZ} = "IGNORE"; open(my $f, ">", "$ENV{TMPDIR}/f");
        seek($f, 4 << 30, 0); print syswrite($f, "x") ? "written" : "stopped", " ";
        my @all; while (@all < 100_000) { open(my $g, "<", "/dev/null") or last; push @all, $g }
        print @all < 300 ? "few" : scalar @all, " "; @all = ();
        open(my $l, "<", "/proc/self/limits"); print grep { /core file size/ } <$l>'
      """)
    let text = try await fixture.text("greedy")
    #expect(text.hasPrefix("stopped few"), "\(text) \(fixture.log)")
    // With 0 the kernel would still give its memory to the program that core_pattern names.
    #expect(text.contains(#/Max core file size +1 +1\s/#))
  }
}
