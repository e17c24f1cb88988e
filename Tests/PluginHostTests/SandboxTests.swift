import Foundation
import Testing

@testable import PluginHost

/// What an isolated plugin can reach.
@Suite(.serialized, .timeLimit(.minutes(2))) struct SandboxTests {
  private static let head = "echo 'Content-Type: text/plain'; echo"

  @Test func `says what this kernel has and lacks`() throws {
    let report = try PluginFixture().host.sandboxReport
    #expect(report.level == .standard)
    #expect(report.readable.contains("/usr") && !report.readable.contains("/etc/ssl"))
    #expect(
      report.gaps(as: .server(reason: "")).isEmpty
        == (report.landlock >= 6 && report.seccomp && report.namespaces))
    let older = try #require(
      Self.report(.standard, "landlock 2 seccomp 0 bubblewrap 0 namespaces 1 uids 1"))
    #expect(older.gaps(as: .server(reason: "")).count == 2)
    #expect(older.gaps(as: .dedicated(60_706)).count == 1)
    #expect(older.confinement(of: .dedicated(60_706)) == "user ID 60706, Landlock 2; not complete")
    #expect(try PluginFixture { $0.sandbox = .off }.host.sandboxGaps.count == 1)
    for (landlock, gaps) in [(0, 2), (5, 1), (6, 0)] {
      let report = Self.report(
        .standard, "landlock \(landlock) seccomp 1 bubblewrap 0 namespaces 1 uids 0")
      #expect(report?.gaps(as: .server(reason: "")).count == gaps)
    }
    for greeting in ["", "landlock 7", "seccomp 1 landlock 7 bubblewrap 0 namespaces 1 uids 1"] {
      #expect(Self.report(.standard, greeting) == nil, "\(greeting)")
    }
  }

  @Test func `reads its asset and its folder and no other file of ours`() async throws {
    let fixture = try PluginFixture()
    guard fixture.host.sandboxReport.landlock > 0 else { try Test.cancel("no Landlock") }
    let secret = try fixture.write("blobs/secret", "another's", mode: 0o644)
    try fixture.write("plugins/read/data.txt", "data ", mode: 0o644)
    try fixture.script(
      "read", manifest: "{}",
      "\(SandboxTests.head); cat data.txt \"$RICH_ASSET_PATH\"; cat \(secret) || echo ' denied'")
    let call = PluginCall(
      verb: .render, richType: "read", asset: try fixture.asset("asset"))
    #expect(try await fixture.text(call) == "data asset denied\n")
  }

  @Test func `gives a resident worker each asset for its request alone`() async throws {
    let fixture = try PluginFixture()
    guard fixture.host.sandboxReport.landlock > 0 else { try Test.cancel("no Landlock") }
    try fixture.resident(
      "lent", before: "my $last = '';",
      """
      open(my $f, '<', $p->{RICH_ASSET_PATH}) or die "cannot open $!"; my $t = <$f>;
      my $old = ($last && open(my $g, '<', $last)) ? 'old' : 'gone';
      my $w = open(my $h, '>>', $p->{RICH_ASSET_PATH}) ? 'written' : 'kept';
      $last = $p->{RICH_ASSET_PATH}; syswrite $c, ok("$t $old $w");
      """)
    for text in ["one", "two"] {
      let asset = try fixture.asset(text)
      #expect(
        try await fixture.text(PluginCall(verb: .render, richType: "lent", asset: asset))
          == "\(text) gone kept")
      #expect(FileManager.default.fileExists(atPath: asset.path))
    }
  }

  @Test func `writes nowhere but in its own folder`() async throws {
    let fixture = try PluginFixture()
    guard fixture.host.sandboxReport.landlock > 0 else { try Test.cancel("no Landlock") }
    try fixture.script(
      "write",
      """
      \(SandboxTests.head); echo x > $TMPDIR/x && cat $TMPDIR/x
      for p in "$RICH_ASSET_PATH" \(fixture.folder)/plugins/write $TMPDIR/../y /tmp/richpush-y; do
        (echo y > $p) 2>/dev/null && echo "wrote $p"; rm -f $p 2>/dev/null; done; echo end
      """)
    let asset = try fixture.asset("asset")
    let call = PluginCall(verb: .render, richType: "write", asset: asset)
    #expect(try await fixture.text(call) == "x\nend\n")
    #expect(try String(contentsOfFile: asset.path, encoding: .utf8) == "asset")
  }

  @Test func `has no network unless it is granted`() async throws {
    let script = """
      \(SandboxTests.head)
      perl -MSocket -e 'print socket(S, PF_INET, SOCK_STREAM, 0) ? "open" : "shut"'
      """
    for (granted, text) in [([], "shut"), (["net"], "open")] as [(Set<String>, String)] {
      let fixture = try PluginFixture { $0.network = granted }
      guard fixture.host.sandboxReport.seccomp else { try Test.cancel("no seccomp") }
      try fixture.script("net", manifest: #"{"network":true}"#, script)
      #expect(try await fixture.text("net") == text)
    }
  }

  @Test(arguments: [false, true])
  func `makes pairs of stream sockets only`(hasNetwork: Bool) async throws {
    let fixture = try PluginFixture { $0.network = hasNetwork ? ["pair"] : [] }
    guard fixture.host.sandboxReport.seccomp else { try Test.cancel("no seccomp") }
    try fixture.script(
      "pair", manifest: #"{"network":true}"#,
      """
      \(SandboxTests.head)
      exec perl -MSocket -MErrno=EACCES -e '
        sub made { socketpair(my $a, my $b, $_[0], $_[1], 0) ? "made" : $! == EACCES ? "denied" : "$!" }
        print made(AF_UNIX, SOCK_STREAM), " ";
        print join ",", map { made(@$_) } [AF_UNIX, SOCK_DGRAM], [AF_UNIX, SOCK_SEQPACKET],
          [AF_UNIX, SOCK_RAW], [AF_INET, SOCK_STREAM], [AF_INET6, SOCK_DGRAM],
          [30, SOCK_STREAM];  # AF_TIPC, which has pairs
        my ($one, $two, $byte);  # and one that does not block
        socketpair($one, $two, AF_UNIX, SOCK_STREAM | 04000, 0) and syswrite $one, "x"
          and sysread $two, $byte, 1 and print " $byte"'
      """)
    let denied = Array(repeating: "denied", count: 6).joined(separator: ",")
    #expect(try await fixture.text("pair") == "made \(denied) x")
  }

  @Test func `asks the kernel about routes only, with the network`() async throws {
    let fixture = try PluginFixture { $0.network = ["netlink"] }
    guard fixture.host.sandboxReport.seccomp else { try Test.cancel("no seccomp") }
    try fixture.script(
      "netlink", manifest: #"{"network":true}"#,
      """
      \(SandboxTests.head)
      exec perl -MSocket -e 'for (0, 4, 9, 15, 16) {  # NETLINK_ROUTE, _SOCK_DIAG, _AUDIT, and two more
        print socket(my $one, 16, SOCK_RAW, $_) ? "open " : "shut " }'
      """)
    #expect(try await fixture.text("netlink") == "open shut shut shut shut ")
  }

  @Test func `can neither signal the server nor look into it`() async throws {
    let fixture = try PluginFixture()
    guard fixture.host.sandboxReport.landlock >= 6 else { try Test.cancel("no Landlock 6") }
    try fixture.script(
      "kill",
      """
      \(SandboxTests.head)
      for p in $PPID \(getpid()); do
        kill -0 $p 2>/dev/null && echo signalled
        head -c 1 /proc/$p/environ >/dev/null 2>&1 && echo looked
      done; sleep 60 & kill $! && echo own
      """)
    #expect(try await fixture.text("kill") == "own\n")
  }

  @Test func `gets no namespace of its own`() async throws {
    let fixture = try PluginFixture()
    guard fixture.host.sandboxReport.seccomp else { try Test.cancel("no seccomp") }
    try fixture.script(
      "space", "\(SandboxTests.head); unshare -U true 2>/dev/null && echo got; echo end")
    #expect(try await fixture.text("space") == "end\n")
  }

  @Test func `runs no plugin when strictness cannot be had`() async throws {
    let fixture = try PluginFixture { $0.sandbox = .strict }
    try fixture.script("any", "\(SandboxTests.head); echo hi")
    let isComplete = fixture.host.sandboxGaps.isEmpty
    #expect(await fixture.code("any") == (isComplete ? nil : .failed))
    let lacking = try #require(
      Self.report(.strict, "landlock 7 seccomp 1 bubblewrap 0 namespaces 1 uids 0"))
    #expect(lacking.gaps(as: .server(reason: "")).map { $0.contains("bubblewrap") } == [true])
    for landlock in 1...7 {
      // Namespaces do what older versions lack; without them, signals reach the server.
      let line = "landlock \(landlock) seccomp 1 bubblewrap 1 namespaces 1 uids 0"
      #expect(Self.report(.strict, line)?.gaps(as: .server(reason: "")) == [])
      #expect(
        Self.report(.standard, line)?.gaps(as: .server(reason: "")).isEmpty == (landlock >= 6))
    }
    let none = Self.report(.strict, "landlock 0 seccomp 1 bubblewrap 1 namespaces 1 uids 0")
    #expect(none?.gaps(as: .server(reason: "")).isEmpty == false)
  }

  private static func report(_ level: SandboxReport.Level, _ line: String) -> SandboxReport? {
    SandboxReport(level: level, greeting: line + " readable /usr:/bin")
  }

  @Test func `strictly, sees no process but its own and no file that is not its own`() async throws
  {
    let fixture = try PluginFixture { $0.sandbox = .strict }
    guard fixture.host.sandboxGaps.isEmpty else {
      try Test.cancel("the sandbox is not complete here")
    }
    let secret = try fixture.write("blobs/secret", "another's", mode: 0o644)
    let script = """
      \(SandboxTests.head); cat "$RICH_ASSET_PATH"; ls \(secret) 2>/dev/null && echo ' seen'
      [ -d /proc/\(getpid()) ] && echo ' neighbour'; echo x > "$TMPDIR/x" && echo ' wrote'
      """
    try fixture.script("inner", script)
    let call = PluginCall(
      verb: .render, richType: "inner", asset: try fixture.asset("asset"))
    #expect(try await fixture.text(call) == "asset wrote\n")
    try fixture.resident("stays", "syswrite $c, ok('fine ' . $count);")
    #expect(try await fixture.text("stays") == "fine 1")
    #expect(try await fixture.text("stays") == "fine 2")
    try fixture.script("dies", "kill -SEGV $$")
    #expect(await fixture.code("dies") == .failed)
    #expect(fixture.log.contains("signal 11"))
  }
}
