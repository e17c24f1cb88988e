import Foundation
import Testing

import MediaTypes
@testable import Imaging

/// Animations and orientations in all forms, beside what Chromium, Firefox and Pillow show
/// (`Independent/forms.py`).
///
/// With a fixed seed for 20 seconds each; in `make soak` with a random one, which is printed, for ten minutes.
@Suite(.serialized, .timeLimit(.minutes(30))) struct PictureFormsSoakTests {
  private static let isLong = ProcessInfo.processInfo.environment["RICHPUSH_SOAK"] != nil
  private static let seed = isLong ? Int.random(in: 1000 ... .max) : 40
  private static let count = 200

  @Test(arguments: ["animation", "orientation"])
  func `what is sent moves and stands in browsers as it is said to`(what: String) throws {
    let end = ContinuousClock.now + .seconds(Self.isLong ? 600 : 20)
    var counts: [String: Int] = [:]
    var round = 0
    while ContinuousClock.now < end {
      try Self.compare(what, "\(Self.seed)-\(round)", &counts)
      round += 1
    }
    print("\(what), seed \(Self.seed): \(round * Self.count) pictures, \(counts)")
    #expect((counts["compared"] ?? 0) > round * Self.count / 10)
  }

  @Test(arguments: ["animation", "orientation"])
  func `Firefox shows a sample of them alike`(what: String) throws {
    var counts: [String: Int] = [:]
    try Self.compare(what, "\(Self.seed)-0", by: "compare", &counts)
    print("\(what) in Firefox: \(counts)")
  }

  private static func compare(
    _ what: String, _ seed: String, by judge: String = "judge", _ counts: inout [String: Int]
  ) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "richpush-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let program = Tool.root.appending(path: "Tests/ImagingTests/Independent/forms.py").path
    _ = try Tool.run("python \(program) make \(what) \(seed) \(count) \(folder.path)")
    for index in 0..<count { try render(folder.appending(path: "\(index)")) }
    let text = try Tool.text("python \(program) \(judge) \(what) \(folder.path)")
    let lines = text.split(separator: "\n")
    let wrong = lines.filter { $0.hasPrefix("WRONG") }
    #expect(
      wrong.isEmpty, "forms.py make \(what) \(seed) \(count): \(wrong.joined(separator: "\n"))")
    let found = try JSONDecoder().decode([String: Int].self, from: Data((lines.last ?? "").utf8))
    counts.merge(found, uniquingKeysWith: +)
  }

  /// Writes the facts and renditions of a file beside it, or the sentence that refuses it.
  private static func render(_ file: URL) throws {
    let source = try SourceFile(path: file.appendingPathExtension("source").path)
    do throws(ImagingError) {
      let facts = try Facts(source)
      let text = "[\(facts.isAnimated), \(facts.size.width), \(facts.size.height)]"
      try? Data(text.utf8).write(to: file.appendingPathExtension("facts"))
    } catch {
      try Data(error.reason.utf8).write(to: file.appendingPathExtension("refused"))
      return
    }
    for name in ["original", "ios", "web", "android", "thumb", "small"] {
      var options = Options()
      switch name {
      case "original": break
      case "small": try options.set("width", "16")
      default: try options.set("profile", name)
      }
      let sent = try PictureRenderer(options).render(source).bytes(from: source)
      try Data(sent).write(to: file.appendingPathExtension(name))
    }
  }
}
