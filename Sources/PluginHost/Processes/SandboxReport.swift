/// How well plugins are shut in here: what was asked for and what the kernel has.
package struct SandboxReport: Sendable, Hashable {
  /// How much of a sandbox is asked for.
  package enum Level: String, Sendable, CaseIterable {
    /// As much as the kernel has.
    case standard
    /// All of it, and namespaces by bubblewrap; without a part of it no plugin runs.
    case strict
    /// None: plugins may do what the server may.
    case off
  }

  /// How much of the sandbox was asked for.
  package let level: Level
  /// The version of Landlock's interface; 0 where there is none.
  package let landlock: Int
  /// Whether system calls can be filtered.
  package let seccomp: Bool
  /// Whether bubblewrap works here; it is tried for ``Level/strict`` only.
  package let bubblewrap: Bool

  /// Reads what the launcher says of the kernel; nil when it says nothing.
  init?(level: Level, launcherSays line: String) {
    let words = line.split(whereSeparator: \.isWhitespace)
    guard words.count == 6, words[0] == "landlock", words[2] == "seccomp",
      words[4] == "bubblewrap", let landlock = Int(words[1])
    else { return nil }
    self.level = level
    self.landlock = landlock
    seccomp = words[3] == "1"
    bubblewrap = words[5] == "1"
  }

  /// What a plugin can do although it should not, each in one sentence.
  package var gaps: [String] {
    guard level != .off else { return ["The sandbox is off: plugins may do what the server may."] }
    var gaps: [String] = []
    if landlock < 1 { gaps.append("Files are not fenced off: this kernel has no Landlock.") }
    if landlock > 0, landlock < 3 {
      gaps.append("Files elsewhere can be cut short: Landlock 3 (Linux 6.2) would prevent it.")
    }
    if landlock < 6 {
      gaps.append(
        "The server's own processes can be signalled: Landlock 6 (Linux 6.12) would prevent it.")
    }
    if level == .strict, !bubblewrap {
      gaps.append("bubblewrap does not work here: install it, and allow user namespaces.")
    }
    if !seccomp { gaps.append("The network and system calls are open: there is no seccomp here.") }
    return gaps
  }
}
