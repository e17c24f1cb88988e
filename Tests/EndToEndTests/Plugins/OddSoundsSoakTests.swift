import Foundation
import Testing

/// Sounds whose headers do not fit what is in them, made at random, are as long as FFmpeg decodes them.
///
/// With a fixed seed for 20 seconds; in `make soak` with a random one, which is printed, for ten minutes.
@Suite(.timeLimit(.minutes(30))) struct OddSoundsSoakTests {
  private static let seconds = Soak.amount(short: 20, long: 600)
  private static let seed: UInt32 = Soak.isLong ? .random(in: .min ... .max) : 40

  @Test func `odd sounds last as long as FFmpeg decodes them`() async throws {
    let script = PluginRun.repository
      .appending(path: "Tests/EndToEndTests/Plugins/Sounds/odd_sounds.py").path
    let program = PluginRun.programs.appending(path: "sound").path
    let run = try await Tool.run(
      "python", [script, program, "\(Self.seed)", "\(Self.seconds)"])
    try #require(run.exitCode == 0, "\(run.errors)")
    let last = try #require(run.output.last { !$0.isEmpty })
    print("seed \(Self.seed): \(last)")
    let counts = try #require(
      JSONSerialization.jsonObject(with: Data(last.utf8)) as? [String: Int])
    let problems = run.output.filter { !$0.isEmpty }.dropLast()
    #expect(problems.isEmpty, "seed \(Self.seed)\n\(problems.joined(separator: "\n"))")
    #expect(counts["agree"] ?? 0 >= 20)
  }
}
