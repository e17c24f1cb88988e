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
  /// Whether plugins can run as users of their own.
  package let uids: Bool
  /// What every plugin may read: the system's programs, libraries and settings.
  package let readable: [String]

  /// Reads what the launcher says of the kernel (`sandbox_describe`); nil when it says something else.
  init?(level: Level, launcherSays line: String) {
    let words = line.split(whereSeparator: \.isWhitespace)
    let keys = ["landlock", "seccomp", "bubblewrap", "uids", "readable"]
    guard words.count == 10, keys.indices.allSatisfy({ words[2 * $0] == keys[$0] }),
      let landlock = Int(words[1])
    else { return nil }
    self.level = level
    self.landlock = landlock
    seccomp = words[3] == "1"
    bubblewrap = words[5] == "1"
    uids = words[7] == "1"
    readable = words[9].split(separator: ":").map(String.init)
  }

  /// What a plugin that runs as this user can do although it should not, each in one sentence.
  package func gaps(as user: PluginUser) -> [String] {
    guard level != .off else { return ["The sandbox is off: plugins may do what the server may."] }
    var gaps: [String] = []
    if landlock < 1 {
      gaps.append(
        user.isOwn
          ? "Plugins can read what every local user may read: this kernel has no Landlock."
          : "Plugins can read and change the server's files: this kernel has no Landlock.")
    }
    if landlock < 6, !user.isOwn {
      gaps.append(
        """
        Plugins can signal the server's processes: Landlock 6 (Linux 6.12), or a user ID for each \
        plugin, would prevent it.
        """)
    }
    if level == .strict, !bubblewrap {
      gaps.append("bubblewrap does not work here: install it, and allow user namespaces.")
    }
    if !seccomp { gaps.append("The network and system calls are open: there is no seccomp here.") }
    return gaps
  }

  /// What shuts in a plugin that runs as this user, in one line.
  package func confinement(of user: PluginUser) -> String {
    guard level != .off else { return "limits only, as the server's user" }
    var parts: [String] = []
    switch user {
    case .own(let id): parts.append("user ID \(id)")
    case .server(let reason): parts.append("the server's user (\(reason))")
    }
    if landlock > 0 { parts.append("Landlock \(landlock)") }
    if seccomp { parts.append("seccomp") }
    if level == .strict, bubblewrap { parts.append("bubblewrap") }
    let gaps = gaps(as: user)
    return parts.joined(separator: ", ") + (gaps.isEmpty ? "" : "; not complete")
  }
}
