import Foundation
import Testing

/// The server, the `img` plugin and the documentation tell the same limits of the profiles.
@Suite struct ProfileTests {
  /// The numbers of a text, without what groups their digits: `ios 1170 1170 10000000`.
  private static func row(_ text: String) -> String {
    text.replacing("_", with: "").replacing(",", with: "")
      .split { !$0.isNumber && !$0.isLowercase }.filter { $0 != "x" }.map(String.init)
      .flatMap { $0.split(separator: "x").map(String.init) }.joined(separator: " ")
  }

  private static func rows(_ pattern: String, in path: String) throws -> [String] {
    try Pattern(pattern).matches(in: Repository.File(path: path).text).map(row)
  }

  @Test func `one table of profiles`() throws {
    let server = try Pattern(#"Profile\(name: "\w+", width: \d+, height: \d+, maxBytes: [\d_]+\)"#)
      .matches(in: Repository.File(path: "Sources/Media/Profile.swift").text)
      .map { text in
        Self.row(
          ["name", "width", "height", "maxBytes", "Profile"].reduce(text) {
            $0.replacing($1, with: "")
          })
      }
    let imaging = try Pattern(#"case \.(\w+: \(PixelSize\(\d+, \d+\), [\d_]+)\)$"#)
      .matches(in: Repository.File(path: "Sources/Imaging/Rendering/Options.swift").text)
      .map { Self.row($0.replacing("PixelSize", with: "")) }
    let documented = try Self.rows(#"^\| (`\w+` \| \d+x\d+ \| [\d,]+) \|"#, in: "docs/IMAGES.md")
    #expect(server.count == 5 && server.first == "ios 1170 1170 10000000")
    #expect(imaging == server)
    #expect(documented == server)
  }
}
