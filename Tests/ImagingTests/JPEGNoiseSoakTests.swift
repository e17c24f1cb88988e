import Foundation
import Testing

@testable import Imaging

/// JPEGs of all kinds with noise between their segments, beside what Pillow shows (`Independent/noise.py`).
///
/// With a fixed seed for 20 seconds; in `make soak` with a random one, which is printed, for ten minutes.
@Suite(.timeLimit(.minutes(30))) struct JPEGNoiseSoakTests {
  private static let isLong = ProcessInfo.processInfo.environment["RICHPUSH_SOAK"] != nil

  @Test func `a JPEG with noise between its segments is sent as Pillow shows it`() throws {
    let end = ContinuousClock.now + .seconds(Self.isLong ? 600 : 20)
    let seed = Self.isLong ? Int.random(in: 1000 ... .max) : 40
    let program = Tool.root.appending(path: "Tests/ImagingTests/Independent/noise.py").path
    var (made, compared, round) = (0, 0, 0)
    while ContinuousClock.now < end {
      let folder = FileManager.default.temporaryDirectory.appending(path: "richpush-\(UUID())")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      _ = try Tool.run("python \(program) make \(seed)-\(round) 100 \(folder.path)")
      for index in 0..<100 { try Self.render(folder.appending(path: "\(index)")) }
      let text = try Tool.text("python \(program) judge \(folder.path)")
      let wrong = text.split(separator: "\n").filter { $0.hasPrefix("WRONG") }
      #expect(wrong.isEmpty, "noise.py make \(seed)-\(round) 100: \(wrong)")
      made += 100
      compared += text.split(separator: "\n").last.flatMap { Int($0.prefix { $0 != " " }) } ?? 0
      round += 1
    }
    print("seed \(seed): \(made) JPEGs made, \(compared) compared, \(made - compared) refused")
    #expect(compared > made / 2)
  }

  /// Writes the renditions of a file beside it, or the sentence that refuses it.
  private static func render(_ file: URL) throws {
    let bytes = [UInt8](try Data(contentsOf: file.appendingPathExtension("jpg")))
    do throws(ImagingError) {
      _ = try Facts(SourceFile(bytes: bytes))
    } catch {
      try Data(error.reason.utf8).write(to: file.appendingPathExtension("refused"))
      return
    }
    for profile in ["original", "ios", "thumb"] {
      let options = profile == "original" ? [] : [("profile", profile)]
      let sent = try PictureRenderer.render(bytes, options).bytes(from: SourceFile(bytes: bytes))
      try Data(sent).write(to: file.appendingPathExtension(profile))
    }
  }
}
