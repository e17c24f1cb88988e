import Foundation
import Testing

/// Films that are coded as phones play them, or not, by the table in docs/FILMS.md.
@Suite(.timeLimit(.minutes(5))) struct PhoneCodingTests {
  private let folder: FilmFolder

  init() throws { folder = try FilmFolder() }

  private func film(_ options: String) async throws -> URL {
    let hevc = options.contains("libx265") ? "-tag:v hvc1" : ""
    return try await folder.make(
      "film.mp4", "-f lavfi -i testsrc2=s=160x96:r=5:d=1 -c:v \(options) \(hevc)")
  }

  private static let quiet = "-x265-params log-level=error"

  @Test(arguments: [
    ("libx264 -pix_fmt yuv444p", "H.264 with 4:4:4 and 8 bits"),
    ("libx264 -pix_fmt yuv422p", "H.264 with 4:2:2 and 8 bits"),
    ("libx264 -pix_fmt yuv420p10le", "H.264 with 4:2:0 and 10 bits"),
    ("libx264 -pix_fmt yuv422p10le", "H.264 with 4:2:2 and 10 bits"),
    ("libx264rgb -pix_fmt rgb24", "H.264 with RGB and 8 bits"),
    ("libx264 -qp 0 -pix_fmt yuv420p", "H.264 with the profile “High 4:4:4 Predictive”"),
    ("libx265 \(quiet) -pix_fmt yuv444p", "HEVC with 4:4:4 and 8 bits"),
    ("libx265 \(quiet) -pix_fmt yuv420p12le", "HEVC with 4:2:0 and 12 bits"),
    ("libx265 \(quiet) -pix_fmt yuv422p10le", "HEVC with 4:2:2 and 10 bits"),
  ])
  func `what phones do not decode is refused with what to export`(options: String, kind: String)
    async throws
  {
    let answer = try folder.run("validate", try await film(options))
    #expect(answer.status == 415)
    #expect(
      answer.text
        == "This film is \(kind), which phones can't play. Export it as MP4 with H.264, 4:2:0 and 8 bits."
    )
  }

  @Test(arguments: [
    "libx264 -profile:v baseline -pix_fmt yuv420p", "libx264 -profile:v main -pix_fmt yuv420p",
    "libx264 -pix_fmt yuv420p", "libx264 -pix_fmt yuvj420p", "libx265 \(quiet) -pix_fmt yuv420p",
    "libx265 \(quiet) -pix_fmt yuv420p10le",
  ])
  func `what phones play has no advice`(options: String) async throws {
    let film = try await film(options)
    let facts = try folder.facts(film)
    #expect(facts["width"] as? Int == 160 && facts["advice"] == nil, "\(facts)")
    _ = try folder.sent(film)
  }

  @Test func `levels that many phones do not play, and interlaced pictures, have advice`()
    async throws
  {
    let high = try await film("libx264 -level 6.1 -pix_fmt yuv420p")
    #expect(
      try folder.facts(high)["advice"] as? [String] == [
        "Many phones can't play it: its level of H.264 is 6.1, they play 5.2 at most. Export it with fewer pixels "
          + "or pictures a second."
      ])
    let lines = try await film("libx264 -flags +ildct+ilme -top 1 -pix_fmt yuv420p")
    #expect(
      try folder.facts(lines)["advice"] as? [String] == [
        "It is interlaced, so phones may show stripes where something moves. Export it progressive."
      ])
  }

  @Test(arguments: ["encv", "drmi"]) func `a protected film is refused`(code: String) async throws {
    var movie = try Movie(try await film("libx264 -pix_fmt yuv420p"))
    movie.setCode(code, track: 0)
    let answer = try folder.run("validate", try folder.drop(movie, as: "film.mp4"))
    #expect(
      answer.text
        == "This film is protected against copying (DRM), so other people's phones can't play it. Use one without "
        + "protection.")
  }
}
