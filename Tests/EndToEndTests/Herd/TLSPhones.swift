import Foundation
import RichPushClient
import Testing

/// Phones that make a TLS connection each: `Tests/StandIns/Services/phones.c`.
struct TLSPhones {
  /// What they met.
  struct Outcome: Decodable, Sendable {
    let answered: Int
    let resumed: Int
    let failed: Int
    /// Microseconds to the first byte of the answer, of the middle one and the 99th percentile.
    let p50: Double
    let p99: Double
  }

  private let scratch: Scratch
  private var program: String { scratch.folder.path + "/phones" }

  /// Compiles them.
  init() async throws {
    scratch = try Scratch()
    let compiled = try await Child.run(
      "/usr/bin/cc",
      ["-O2", "-o", scratch.folder.path + "/phones"]
        + [Package.root.path + "/Tests/StandIns/Services/phones.c", "-lssl", "-lcrypto"])
    try #require(compiled.exitCode == 0, "\(compiled.errors)")
  }

  /// Lets a phone ask for each path with its token, or without one if that is `-`, so many at a time, on the last processor.
  ///
  /// The handshakes are `full` or `resumed`, the connections stay `open`, or there is no more than the `handshake`. What is
  /// urgent runs before everything else on that processor, so that it waits for nothing but the server.
  func ask(
    _ requests: [(path: String, token: String)], of server: RunningServer, together: Int,
    mode: String = "full", isUrgent: Bool = false
  ) async throws -> Outcome {
    let file = try scratch.drop(
      Array(requests.map { "\($0.path) \($0.token) -\n" }.joined().utf8),
      as: "requests-\(UUID().uuidString)")
    let last = ProcessInfo.processInfo.activeProcessorCount - 1
    let command =
      (isUrgent && getuid() == 0 ? ["/usr/bin/chrt", "-f", "1"] : []) + [program]
      + ["\(server.port)", file.path, "\(together)", "\(last)", "1.3", mode]
    let said = try await Child.run(command[0], Array(command.dropFirst()))
    try #require(said.exitCode == 0, "\(said.errors)")
    let outcome = try JSONDecoder().decode(
      Outcome.self, from: Data((said.output.last ?? "").utf8))
    #expect(outcome.failed == 0 && outcome.answered == requests.count, "\(outcome) \(said.errors)")
    return outcome
  }
}

extension ProcessFacts {
  /// The processor time that a process has used, with what it has waited for.
  static func processorTime(of pid: Int32) throws -> Duration {
    let text = try String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)
    let fields = try #require(text.split(separator: ")").last).split(separator: " ")
    let ticks = fields[11...14].compactMap { Int($0) }.reduce(0, +)
    return .seconds(1) * Double(ticks) / Double(sysconf(Int32(_SC_CLK_TCK)))
  }
}
