/// What a broken or hostile plugin does when it is asked, and what its caller gets.
struct Misdeed: Sendable {
  /// The rich type that does it.
  let name: String
  let script: String
  let status: Int
  /// What the log line says.
  let cause: String

  private init(_ name: String, _ script: String, _ status: Int, _ cause: String) {
    (self.name, self.script, self.status, self.cause) = (name, script, status, cause)
  }

  /// The words of a process that no other test starts.
  static let sleeper = ["sleep", String(Int.random(in: 1_000_000...9_999_999))]

  var plugin: String { Self.plugin(script) }

  /// A plugin that keeps a secret until there is a file `over` beside it.
  static let secretive = plugin(
    "echo secret >$TMPDIR/note; while [ ! -e $TMPDIR/over ]; do sleep 0.02; done; head")

  /// A plugin that runs the script when a device says so, and not while it is published.
  private static func plugin(_ script: String) -> String {
    """
    #!/bin/sh
    head() { printf 'Content-Type: text/plain\\nCache-Control: no-store\\n\\n'; }
    sleep='\(sleeper.joined(separator: " "))'
    hang() { $sleep; }
    [ "$QUERY_STRING" = now=1 ] || { head; exit; }
    \(script)

    """
  }

  /// Who is to be late is so soon; the others have time to get there on a busy machine.
  var manifest: String {
    let seconds = cause == Self.late ? 1 : 10
    return #"{"query":["now"],"limits":{"seconds":\#(seconds),"memoryMiB":64,"outputMiB":1}}"#
  }

  static let all = [
    Misdeed("never-writes", "hang", 504, late),
    Misdeed("writes-one-byte-a-second", "head; while :; do printf x; sleep 1; done", 504, late),
    Misdeed("writes-a-gigabyte", "head; exec head -c 1000000000 /dev/zero", 502, "1 MiB"),
    Misdeed("closes-stdout-and-lives-on", "head; exec >&- 2>&-; hang", 504, late),
    Misdeed("ignores-sigterm", "trap '' TERM; hang; hang", 504, late),
    Misdeed(
      "leaves-children-behind", "setsid $sleep & (hang & exit) & exit 1", 502,
      "status 1"),
    // With a user of its own the kernel may refuse a fork, and the shell give up, before it is counted.
    Misdeed("forks-without-end", "f() { while :; do f & done; hang; }; f", 502, "failed: it "),
    Misdeed("eats-memory", "exec perl -e '$x = \"x\" x 2e8; sleep 9'", 502, "status 1"),
    Misdeed("spins", "while :; do :; done", 504, late),
    Misdeed("crashes", "head; kill -SEGV $$", 502, "signal 11"),
    Misdeed("is-too-busy", "exit 75", 503, "75"),
    Misdeed("sends-malformed-headers", "head | tr : =", 502, "Content-Type="),
    Misdeed(
      "injects-a-header", "printf 'Content-Type: text/plain\\nLink: a\\rSet-Cookie: b\\n\\n'", 502,
      "Set-Cookie"),
    Misdeed(
      "sends-less-than-it-said", "echo Content-Length: 9; head; printf 12345678", 502, "wrote 8"),
    Misdeed(
      "sends-more-than-it-said", "echo Content-Length: 9; head; printf 1234567890", 502, "wrote 10"),
    Misdeed(
      "fills-the-disk",
      "exec perl -e 'for (;;) { open F, \">$ENV{TMPDIR}/\" . $n++; print F \"x\" x 1e6; close F }'",
      502, "68 MiB"),
  ]

  /// Those that the sandbox prevents; the payload says what they are after.
  static let prying = [
    Misdeed("reads-the-database", "cat \"$RICH_PAYLOAD\" || exit 1", 502, "status 1"),
    Misdeed(
      "reads-a-neighbours-file", "cat \"$RICH_PAYLOAD\" || exit 1", 502, "status 1"),
    Misdeed(
      "connects-out",
      "exec perl -MIO::Socket::INET -e 'IO::Socket::INET->new($ENV{RICH_PAYLOAD}) or exit 1'", 502,
      "status 1"),
    Misdeed("kills-the-server", "kill -KILL \"$RICH_PAYLOAD\" || exit 1", 502, "status 1"),
  ]

  private static let late = "deadline of 1 s"
}
