import Foundation
import Testing

/// How a server is run while plugins attack it: a column of the table in `docs/PLUGINS.md`.
struct HostileMode: Sendable, CustomTestStringConvertible {
  /// Whether each rich type has a user id of its own; if not, plugins run as the server's user.
  let hasUsers: Bool
  /// The version of Landlock that the launcher finds.
  let landlock: Int

  /// The heading of its column.
  var title: String { (hasUsers ? "own uid" : "server's uid") + ", Landlock \(landlock)" }
  var testDescription: String { title }

  static let all = [true, false].flatMap { hasUsers in
    [7, 2, 0].map { HostileMode(hasUsers: hasUsers, landlock: $0) }
  }

  /// Why it cannot be had here; nil when it can.
  var impediment: String? {
    if hasUsers, getuid() != 0 { return "user ids of their own take root" }
    if landlock > HostileMode.kernel {
      return "the kernel has version \(HostileMode.kernel) of Landlock"
    }
    return nil
  }

  /// The user that runs the server.
  var user: uid_t { hasUsers || getuid() != 0 ? getuid() : 59_731 }

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
      flags: flags, environment: environment, through: wrapper, programs: programs.folder,
      prepare: { scratch in
        try await prepare(scratch)
        try scratch.makeFolder("var")
        if user == getuid() { return }
        _ = try await Child.run("/bin/chown", ["-R", "\(user):\(user)", scratch.folder.path])
      }, to: body)
    withExtendedLifetime(programs) {}
  }

  /// The version of Landlock that this machine has; 0 for none.
  static let kernel: Int = {
    let launcher = Process()
    let output = Pipe()
    launcher.executableURL = try? Package.program("richpush-exec")
    launcher.arguments = ["sandbox"]
    launcher.standardOutput = output
    guard (try? launcher.run()) != nil else { return 0 }
    let line = (try? output.fileHandleForReading.readToEnd()) ?? Data()
    let words = String(decoding: line, as: UTF8.self).split(separator: " ")
    return words.dropFirst().first.flatMap { Int($0) } ?? 0
  }()
}

/// Something that stops an attack.
enum Obstacle: Sendable {
  /// The filter of system calls.
  case filter
  /// Landlock from this version on.
  case landlock(Int)
  /// The plugin's own user id.
  case users
  /// What the server's user may not do either.
  case rights
  /// Limits of the kernel's and of the launcher's.
  case limits
  /// The launcher ends every descendant.
  case launcher
  /// The server does not start it.
  case refusal

  /// How the table names it; nil where the mode lacks it.
  func name(in mode: HostileMode) -> String? {
    switch self {
    case .filter: "filter"
    case .landlock(let version): mode.landlock >= version ? "Landlock" : nil
    case .users: mode.hasUsers ? "uid" : nil
    case .rights: mode.hasUsers ? nil : "server's rights"
    case .limits: "limits"
    case .launcher: "launcher"
    case .refusal: "not started"
    }
  }
}
