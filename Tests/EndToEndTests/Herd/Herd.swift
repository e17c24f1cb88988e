import Foundation
import Testing

/// Phones that all ask at the same moment: `Tests/StandIns/Services/herd.c`.
enum Herd {
  /// What they met, in milliseconds from the moment when all asked to each one's last byte.
  struct Round {
    let median: Double
    /// The 99th percentile.
    let late: Double
    let longest: Double
    /// How often one was told to come back, by 503.
    let sentAway: Int
  }

  /// Lets a phone ask for each of the requests, and again so many times in all.
  ///
  /// A login is `name:password` or a token. Without a number of `connections`, they have as many as the
  /// machine allows: the server keeps some descriptors to itself. There are no rounds if the server, which
  /// `mayDie`, did.
  static func ask(
    _ requests: [(login: String, target: String)], of server: RunningServer, rounds: Int = 1,
    connections: Int = 19_000, mayDie: Bool = false
  ) async throws -> [Round] {
    let scratch = try Scratch()
    let program = scratch.folder.path + "/herd"
    let source = Package.root.path + "/Tests/StandIns/Services/herd.c"
    let compiled = try await Child.run(
      "/usr/bin/cc", ["-D_GNU_SOURCE", "-O2", "-o", program, source])
    try #require(compiled.exitCode == 0, "\(compiled.errors)")
    let connections = min(requests.count, connections, descriptorLimit - 4000)
    let result = try await Child.run(
      program, ["\(server.port)", "\(server.processIdentifier)", "\(connections)", "\(rounds)"],
      input: requests.map { "\($0.login) \($0.target)\n" }.joined())
    if mayDie, result.exitCode != 0 { return [] }
    try #require(result.exitCode == 0, "\(result.errors)")
    return try result.output.map { line in
      let words = line.split(separator: " ").compactMap { Double($0) }
      try #require(words.count == 4)
      return Round(median: words[0], late: words[1], longest: words[2], sentAway: Int(words[3]))
    }
  }

  private static var descriptorLimit: Int {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    return Int(clamping: limit.rlim_max)
  }
}
