import Foundation
import Testing
import Waiting

/// The two processes of a server's `richpush-exec` that start plugins, and each other.
struct Launcher {
  private(set) var first: Int32
  private(set) var second: Int32

  init(of server: RunningServer) throws {
    first = try #require(
      ProcessFacts.children(of: server.processIdentifier).first {
        ProcessFacts($0)?.words.dropFirst().first == "serve"
      })
    second = try #require(Self.second(of: first))
  }

  /// The supervisors of plugins, which the second process has started.
  var supervisors: [Int32] {
    get throws { ProcessFacts.children(of: second) }
  }

  /// Kills one of the two, and waits until there are two again.
  mutating func kill(isFirst: Bool) async throws {
    Glibc.kill(isFirst ? first : second, SIGKILL)
    let former = second
    if isFirst { first = second }
    var next: Int32?
    try await eventually("there are two again") {
      next = Self.second(of: first)
      return next != nil && next != former
    }
    second = try #require(next)
  }

  /// Kills both, of which the first cannot notice that the second has ended.
  func killBoth() {
    // Not the second one: when the first ends, the kernel continues it, since its process group is orphaned then.
    Glibc.kill(first, SIGSTOP)
    for process in [second, first] { Glibc.kill(process, SIGKILL) }
  }

  /// It has the same socket to the server; a supervisor has one of its own.
  private static func second(of first: Int32) -> Int32? {
    ProcessFacts.children(of: first).first { socket(of: $0) == socket(of: first) }
  }

  private static func socket(of process: Int32) -> String? {
    try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/fd/0")
  }
}
