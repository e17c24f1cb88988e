import Foundation
import Testing

@testable import PluginHost

/// What a plugin can reach when it is shut in.
@Suite struct SandboxTests {
  private static let head = "echo 'Content-Type: text/plain'; echo"

  @Test func `says what this kernel has and lacks`() throws {
    let report = try Workshop().host.sandboxReport()
    #expect(report.level == .standard)
    #expect(report.readable.contains("/usr") && !report.readable.contains("/etc/ssl"))
    #expect(report.gaps(as: .server("")).isEmpty == (report.landlock >= 6 && report.seccomp))
    let older = try #require(Self.report(.standard, "landlock 2 seccomp 0 bubblewrap 0 uids 1"))
    #expect(older.gaps(as: .server("")).count == 2)
    #expect(older.gaps(as: .own(62_000)).count == 1)
    #expect(older.confinement(of: .own(62_000)) == "user ID 62000, Landlock 2; not complete")
    #expect(try Workshop { $0.sandbox = .off }.host.gaps().count == 1)
  }

  @Test func `reads its asset and its folder and no other file of ours`() async throws {
    let workshop = try Workshop()
    guard try workshop.host.sandboxReport().landlock > 0 else { return }
    let secret = try workshop.write("blobs/secret", "another's", mode: 0o644)
    try workshop.write("plugins/read/data.txt", "data ", mode: 0o644)
    try workshop.script(
      "read", manifest: "{}",
      "\(SandboxTests.head); cat data.txt \"$RICH_ASSET_PATH\"; cat \(secret) || echo ' denied'")
    let call = PluginCall(
      verb: .render, richType: "read", asset: try workshop.asset("asset"))
    #expect(try await workshop.text(call) == "data asset denied\n")
  }

  @Test func `gives a resident worker each asset for its request alone`() async throws {
    let workshop = try Workshop()
    guard try workshop.host.sandboxReport().landlock > 0 else { return }
    try workshop.resident(
      "lent", before: "my $last = '';",
      """
      open(my $f, '<', $p->{RICH_ASSET_PATH}) or die "cannot open $!"; my $t = <$f>;
      my $old = ($last && open(my $g, '<', $last)) ? 'old' : 'gone';
      my $w = open(my $h, '>>', $p->{RICH_ASSET_PATH}) ? 'written' : 'kept';
      $last = $p->{RICH_ASSET_PATH}; syswrite $c, ok("$t $old $w");
      """)
    for text in ["one", "two"] {
      let asset = try workshop.asset(text)
      #expect(
        try await workshop.text(PluginCall(verb: .render, richType: "lent", asset: asset))
          == "\(text) gone kept")
      #expect(FileManager.default.fileExists(atPath: asset.path))
    }
  }

  @Test func `writes nowhere but in its own folder`() async throws {
    let workshop = try Workshop()
    guard try workshop.host.sandboxReport().landlock > 0 else { return }
    try workshop.script(
      "write",
      """
      \(SandboxTests.head); echo x > $TMPDIR/x && cat $TMPDIR/x
      for p in "$RICH_ASSET_PATH" \(workshop.folder)/plugins/write $TMPDIR/../y /tmp/richpush-y; do
        (echo y > $p) 2>/dev/null && echo "wrote $p"; rm -f $p 2>/dev/null; done; echo end
      """)
    let asset = try workshop.asset("asset")
    let call = PluginCall(verb: .render, richType: "write", asset: asset)
    #expect(try await workshop.text(call) == "x\nend\n")
    #expect(try String(contentsOfFile: asset.path, encoding: .utf8) == "asset")
  }

  @Test func `has no network unless it is granted`() async throws {
    let script = """
      \(SandboxTests.head)
      perl -MSocket -e 'print socket(S, PF_INET, SOCK_STREAM, 0) ? "open" : "shut"'
      """
    for (granted, text) in [([], "shut"), (["net"], "open")] as [(Set<String>, String)] {
      let workshop = try Workshop { $0.network = granted }
      guard try workshop.host.sandboxReport().seccomp else { return }
      try workshop.script("net", manifest: #"{"network":true}"#, script)
      #expect(try await workshop.text("net") == text)
    }
  }

  @Test func `can neither signal the server nor look into it`() async throws {
    let workshop = try Workshop()
    guard try workshop.host.sandboxReport().landlock >= 6 else { return }
    try workshop.script(
      "kill",
      """
      \(SandboxTests.head)
      for p in $PPID \(getpid()); do
        kill -0 $p 2>/dev/null && echo signalled
        head -c 1 /proc/$p/environ >/dev/null 2>&1 && echo looked
      done; sleep 60 & kill $! && echo own
      """)
    #expect(try await workshop.text("kill") == "own\n")
  }

  @Test func `gets no namespace of its own`() async throws {
    let workshop = try Workshop()
    guard try workshop.host.sandboxReport().seccomp else { return }
    try workshop.script(
      "space", "\(SandboxTests.head); unshare -U true 2>/dev/null && echo got; echo end")
    #expect(try await workshop.text("space") == "end\n")
  }

  @Test func `runs no plugin when strictness cannot be had`() async throws {
    let workshop = try Workshop { $0.sandbox = .strict }
    try workshop.script("any", "\(SandboxTests.head); echo hi")
    let isComplete = try workshop.host.gaps().isEmpty
    #expect(await workshop.status("any") == (isComplete ? 200 : 502))
    let lacking = try #require(Self.report(.strict, "landlock 7 seccomp 1 bubblewrap 0 uids 0"))
    #expect(lacking.gaps(as: .server("")).map { $0.contains("bubblewrap") } == [true])
    let full = Self.report(.strict, "landlock 7 seccomp 1 bubblewrap 1 uids 0")
    #expect(full?.gaps(as: .server("")) == [])
  }

  private static func report(_ level: SandboxReport.Level, _ line: String) -> SandboxReport? {
    SandboxReport(level: level, launcherSays: line + " readable /usr:/bin")
  }

  @Test func `strictly, sees no process but its own and no file that is not its own`() async throws
  {
    let workshop = try Workshop { $0.sandbox = .strict }
    guard try workshop.host.gaps().isEmpty else { return }
    let secret = try workshop.write("blobs/secret", "another's", mode: 0o644)
    let script = """
      \(SandboxTests.head); cat "$RICH_ASSET_PATH"; ls \(secret) 2>/dev/null && echo ' seen'
      [ -d /proc/\(getpid()) ] && echo ' neighbour'; echo x > "$TMPDIR/x" && echo ' wrote'
      """
    try workshop.script("inner", script)
    let call = PluginCall(
      verb: .render, richType: "inner", asset: try workshop.asset("asset"))
    #expect(try await workshop.text(call) == "asset wrote\n")
    try workshop.resident("stays", "syswrite $c, ok('fine ' . $count);")
    #expect(try await workshop.text("stays") == "fine 1")
    #expect(try await workshop.text("stays") == "fine 2")
    try workshop.script("dies", "kill -SEGV $$")
    #expect(await workshop.status("dies") == 502)
    #expect(workshop.log.contains("signal 11"))
  }
}
