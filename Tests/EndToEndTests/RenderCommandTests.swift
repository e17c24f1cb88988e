import Foundation
import MediaTypes
import Testing

/// `richpush render`, by hand.
@Suite(.timeLimit(.minutes(5))) struct RenderCommandTests {
  private static func render(_ words: [String]) async throws -> Child.Result {
    try await Child.run(
      "richpush", ["render", "--plugins", Package.root.appending(path: "plugins").path] + words)
  }

  private static let beach = Package.root.appending(path: "assets/img/beach.jpg").path

  @Test func `makes the picture of a profile and tells the steps, sizes and times`() async throws {
    let scratch = try Scratch()
    let out = scratch.folder.appending(path: "thumb.jpg")
    let result = try await Self.render(
      [Self.beach, out.path, "--profile", "thumb", "--explain"])
    #expect(result.exitCode == 0, "\(result.errors)")
    let bytes = [UInt8](try Data(contentsOf: out))
    #expect(PixelSize.read(bytes)?.description == "160x107")
    #expect(result.output.contains { $0.hasPrefix("decode and resample: JPEG 1200x800") })
    #expect(result.output.filter { $0.hasSuffix(" ms)") }.count >= 2)
    #expect(result.output.contains { $0.contains("image/jpeg 160x107, \(bytes.count) bytes") })
  }

  @Test func `every option of a device is one here`() async throws {
    let out = try Scratch()
    let file = out.folder.appending(path: "out")
    let result = try await Self.render([
      Self.beach, file.path, "--width", "100", "--height", "50", "--dpr", "2", "--fit", "cover",
      "--focus", "0.5,0.1", "--max-bytes", "9000", "--linear",
    ])
    #expect(result.exitCode == 0 && result.output.isEmpty, "\(result.errors)")
    let bytes = [UInt8](try Data(contentsOf: file))
    #expect(PixelSize.read(bytes)?.description == "200x100" && bytes.count <= 9000)
  }

  @Test(arguments: [
    (["/etc/hostname", "/dev/null"], Int32(65), "not a picture"),
    (["/nowhere.png", "/dev/null"], 65, "cannot be opened"),
    ([beach, "/dev/null", "--profile", "desktop"], 64, "ios, android, watch, web, thumb"),
    ([beach, "/dev/null", "--max-bytes", "20"], 65, "20 bytes"),
    ([beach], 64, "OUT is missing"),
  ])
  func `says in a sentence what it refuses`(words: [String], code: Int32, sentence: String)
    async throws
  {
    let result = try await Self.render(words)
    #expect(result.exitCode == code)
    #expect(result.errors.contains(sentence))
    #expect(result.errors.split(separator: "\n").count == 1)
  }

  @Test func `a folder without plugins is named`() async throws {
    let result = try await Child.run(
      "richpush", ["render", Self.beach, "/dev/null", "--plugins", "/nowhere"])
    #expect(result.exitCode != 0 && result.errors.contains("/nowhere"))
  }
}
