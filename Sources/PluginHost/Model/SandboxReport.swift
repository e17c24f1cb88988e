/// The user that a plugin's processes run as.
package enum PluginUser: Sendable, Hashable {
  /// A user ID, and the same group ID, that nothing else runs as and that owns only scratch files.
  case dedicated(Int)
  /// The server's own user, with the reason.
  case server(reason: String)

  /// Whether the plugin has a user of its own.
  package var isDedicated: Bool {
    if case .dedicated = self { true } else { false }
  }

  /// The user ID; 0 for the server's user.
  var id: Int {
    if case .dedicated(let id) = self { id } else { 0 }
  }
}

/// How well plugins are isolated on this machine: the requested level, and what the kernel supports.
package struct SandboxReport: Sendable, Hashable {
  /// How strictly plugins are isolated.
  package enum Level: String, Sendable, CaseIterable {
    /// With everything that the kernel supports.
    case standard
    /// With all of it, and with namespaces by bubblewrap; if one of these is missing, no plugin runs.
    case strict
    /// Not at all: plugins may do what the server may.
    case off
  }

  /// The level that the operator requested.
  package let level: Level
  /// The version of Landlock's interface; 0 if the kernel has none.
  package let landlock: Int
  /// Whether system calls can be filtered.
  package let seccomp: Bool
  /// Whether bubblewrap works; it is tried for ``Level/strict`` only.
  package let bubblewrap: Bool
  /// Whether the kernel can limit the processes of a plugin that runs as the server's user.
  package let namespaces: Bool
  /// Whether plugins can run as users of their own.
  package let uids: Bool
  /// What every plugin may read: the system's programs, libraries and settings.
  package let readable: [String]

  /// The first version of Landlock that keeps signals within the sandbox (landlock(7), scoping).
  private static let landlockWithSignals = 6

  /// Parses the launcher's greeting (`sandbox_describe` in `Sources/richpush-exec`); nil if it is of another
  /// version.
  init?(level: Level, greeting: String) {
    let words = greeting.split(whereSeparator: \.isWhitespace)
    let keys = ["landlock", "seccomp", "bubblewrap", "namespaces", "uids", "readable"]
    guard words.count == 12, keys.indices.allSatisfy({ words[2 * $0] == keys[$0] }),
      let landlock = Int(words[1])
    else { return nil }
    (self.level, self.landlock) = (level, landlock)
    (seccomp, bubblewrap) = (words[3] == "1", words[5] == "1")
    (namespaces, uids) = (words[7] == "1", words[9] == "1")
    readable = words[11].split(separator: ":").map(String.init)
  }

  /// What a plugin that runs as this user can do although it should not, each in one sentence.
  package func gaps(as user: PluginUser) -> [String] {
    guard level != .off else { return ["The sandbox is off: plugins may do what the server may."] }
    var gaps: [String] = []
    if landlock < 1 {
      gaps.append(
        user.isDedicated
          ? "Plugins can read what every local user may read: this kernel has no Landlock."
          : "Plugins can read and change the server's files: this kernel has no Landlock.")
    }
    let hasOwnProcesses = level == .strict && bubblewrap
    if landlock < Self.landlockWithSignals, !user.isDedicated, !hasOwnProcesses {
      gaps.append(
        """
        Plugins can signal the server's processes: Landlock 6 (Linux 6.12), or a user ID for each \
        plugin, would prevent it.
        """)
    }
    if level == .strict, !bubblewrap {
      gaps.append("bubblewrap does not work here: install it, and allow user namespaces.")
    }
    if !namespaces, !user.isDedicated {
      gaps.append(
        """
        Plugins can start thousands of processes before they are ended: user namespaces for the \
        server's user (which must not be root), or a user ID for each plugin, would prevent it.
        """)
    }
    if !seccomp { gaps.append("The network and system calls are open: there is no seccomp here.") }
    return gaps
  }

  /// How a plugin that runs as this user is isolated, in one line.
  package func confinement(of user: PluginUser) -> String {
    guard level != .off else { return "limits only, as the server's user" }
    var parts: [String] = []
    switch user {
    case .dedicated(let id): parts.append("user ID \(id)")
    case .server(let reason): parts.append("the server's user (\(reason))")
    }
    if landlock > 0 { parts.append("Landlock \(landlock)") }
    if seccomp { parts.append("seccomp") }
    if level == .strict, bubblewrap { parts.append("bubblewrap") }
    return parts.joined(separator: ", ") + (gaps(as: user).isEmpty ? "" : "; not complete")
  }
}
