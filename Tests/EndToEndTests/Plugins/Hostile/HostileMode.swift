import Foundation
import StandIns
import Testing

/// How a server is run while plugins attack it: a column of the table in `docs/PLUGINS.md`.
struct HostileMode: Sendable, CustomTestStringConvertible {
  /// Who plugins run as: users of their own, the server's user, or root, where other users may not enter
  /// the plugins' folder.
  enum User: String { case own, server, root }

  let plugins: User
  /// The version of Landlock that the launcher finds.
  let landlock: Int
  /// Whether it runs with `--sandbox strict`.
  var isStrict = false

  /// The heading of its column.
  var title: String {
    (plugins == .own ? "own uid" : "\(plugins)'s uid") + ", "
      + (isStrict ? "strict" : "Landlock \(landlock)")
  }
  var testDescription: String { title }

  static let all =
    standard + [.own, .server].map { HostileMode(plugins: $0, landlock: kernel, isStrict: true) }

  /// Those with `--sandbox standard`.
  static let standard =
    [.own, .server].flatMap { user in [7, 2, 0].map { HostileMode(plugins: user, landlock: $0) } }
    + [7, 2].map { HostileMode(plugins: .root, landlock: $0) }

  /// Why it cannot be had here; nil when it can.
  var impediment: String? {
    if plugins != .server, getuid() != 0 { return "only root can start such a server" }
    if plugins == .server, !HostileMode.hasNamespaces {
      return "its user may not have user namespaces"
    }
    if isStrict, access("/usr/bin/bwrap", X_OK) != 0 { return "there is no bubblewrap" }
    if landlock > HostileMode.kernel {
      return "the kernel has version \(HostileMode.kernel) of Landlock"
    }
    return nil
  }

  /// The user that runs the server.
  var user: uid_t { plugins == .server && getuid() == 0 ? 59_731 : getuid() }

  /// What starts the server as its user, where that is not the one of the tests.
  var wrapper: [String] {
    if user == getuid() { return [] }
    return ["/usr/bin/setpriv", "--reuid", "\(user)", "--regid", "\(user)", "--clear-groups"]
  }

  /// Starts a server in this mode, of whose user all files are, and lends it.
  func lend(
    flags: [String] = ["--demo"], environment: [String: String] = [:],
    prepare: (Scratch) async throws -> Void, to body: (RunningServer) async throws -> Void
  ) async throws {
    let programs = try OldKernel(landlock: landlock).programs
    try await RunningServer.lend(
      flags: flags + (isStrict ? ["--sandbox", "strict"] : []), environment: environment,
      through: wrapper, programs: programs.folder,
      prepare: { scratch in
        try await prepare(scratch)
        try scratch.makeFolder("var")
        if plugins == .root { chmod(scratch.folder.path, 0o700) }
        if user == getuid() { return }
        _ = try await Child.run("/bin/chown", ["-R", "\(user):\(user)", scratch.folder.path])
      }, to: body)
    withExtendedLifetime(programs) {}
  }

  /// The version of Landlock that this machine has; 0 for none.
  static let kernel = report(startedBy: []).dropFirst().first.flatMap { Int($0) } ?? 0

  /// Whether the user of a server without user ids for its plugins may have user namespaces.
  private static let hasNamespaces: Bool = {
    let words = report(startedBy: HostileMode(plugins: .server, landlock: 0).wrapper)
    return words.firstIndex(of: "namespaces").map { words[$0 + 1] } == "1"
  }()

  /// What the launcher says of this machine.
  private static func report(startedBy wrapper: [String]) -> [Substring] {
    guard let program = try? Package.program("richpush-exec").path else { return [] }
    let words = wrapper + [program, "sandbox"]
    let line = (try? StartedProgram.run(words[0], Array(words.dropFirst())))?.output ?? Data()
    return String(decoding: line, as: UTF8.self).split(separator: " ")
  }
}

/// Something that stops an attack.
enum Obstacle: Sendable {
  /// The filter of system calls.
  case filter
  /// Landlock from this version on.
  case landlock(Int)
  /// The plugin's own user id.
  case users
  /// A user namespace, which plugins that run as the server's user have.
  case namespace
  /// What the server's user may not do either.
  case rights
  /// Root's capabilities, which the server has and plugins lack.
  case capabilities
  /// no_new_privs: a program does not get the rights of its owner.
  case noNewPrivileges
  /// The launcher ends every descendant.
  case launcher
  /// The server does not start it.
  case refusal

  /// How the table names it; nil where the mode lacks it.
  func name(in mode: HostileMode) -> String? {
    switch self {
    case .filter: "filter"
    case .landlock(let version): mode.landlock >= version ? "Landlock" : nil
    case .users: mode.plugins == .own ? "uid" : nil
    case .namespace: mode.plugins == .server ? "user namespace" : nil
    case .rights: mode.plugins == .server ? "server's rights" : nil
    case .capabilities: mode.plugins == .root ? "no capabilities" : nil
    case .noNewPrivileges: "no_new_privs"
    case .launcher: "launcher"
    case .refusal: "not started"
    }
  }
}
