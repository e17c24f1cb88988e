import Foundation
import Testing

/// Damaged and hostile films, which `ffprobe` and `ffmpeg` read.
@Suite(.timeLimit(.minutes(5))) struct HostileFilmTests {
  private let scratch: Scratch
  private let work: URL

  init() throws {
    scratch = try Scratch()
    work = try scratch.makeFolder("work")
  }

  private func make(_ arguments: String) async throws -> [UInt8] {
    let file = scratch.folder.appending(path: "made.mp4")
    let made = try await Child.run(
      "/bin/bash", ["-c", "ffmpeg -v error -y \(arguments) \(file.path)"])
    try #require(made.exitCode == 0, "\(made.errors)")
    return [UInt8](try Data(contentsOf: file))
  }

  /// The answer about a film, or a picture of it, within the plugin's memory and some seconds of processor time.
  private func run(_ verb: String, _ film: [UInt8], seconds: Int = 2) throws -> PluginRun {
    let file = try scratch.drop(film, as: "film.mp4")
    let run = try PluginRun(
      "video", verb: verb, payload: "film.mp4", asset: file, query: "view=poster",
      variables: ["TMPDIR": work.path], limits: "-t \(seconds) -d \(640 << 10)")
    if run.status != 200 {
      #expect(run.text.hasSuffix(".") && !run.text.contains("too long"), "\(run.text)")
    }
    return run
  }

  @Test(arguments: ["stts", "ctts", "stsc", "stsz", "stco", "stss", "elst", "stsd", "dref"])
  func `a table that says it is huge takes neither time nor memory`(table: String) async throws {
    var film = try await make(
      "-f lavfi -i testsrc2=s=160x90:r=10:d=2 -c:v libx264 -preset ultrafast -pix_fmt yuv420p -bf 2"
    )
    let place = try #require(Data(film).range(of: Data(table.utf8))).lowerBound
    // Behind the version and the flags: the number of entries, which is the second one of sample sizes.
    let count = place + 8 + (table == "stsz" ? 4 : 0)
    for value: [UInt8] in [
      [0xFF, 0xFF, 0xFF, 0xFF], [0x0F, 0xFF, 0xFF, 0xFF], [0, 0xFF, 0xFF, 0xFF],
    ] {
      film.replaceSubrange(count..<count + 4, with: value)
      _ = try run("validate", film)
      _ = try run("render", film)
    }
  }

  @Test func `boxes in boxes without end, and of thousands of tracks, are refused`() throws {
    func box(_ kind: String, _ content: [UInt8]) -> [UInt8] {
      withUnsafeBytes(of: UInt32(content.count + 8).bigEndian, Array.init) + Array(kind.utf8)
        + content
    }
    let start = box("ftyp", Array("isom\0\0\0\0isommp42".utf8))
    for kind in ["moov", "trak", "udta", "meta"] {
      let depth = 5000
      var bytes: [UInt8] = []
      for level in 0..<depth {
        let size = UInt32((depth - level) * 8)
        bytes += withUnsafeBytes(of: size.bigEndian, Array.init) + Array(kind.utf8)
      }
      #expect(try run("validate", start + box("moov", bytes)).status != 200)
    }
    let tracks = (0..<20_000).flatMap { _ in box("trak", []) }
    #expect(try run("validate", start + box("moov", tracks)).status != 200)
  }

  @Test func `a film of larger pictures than phones play is refused`() async throws {
    let film = try await make(
      "-f lavfi -i color=black:s=9000x5000:d=0.1:r=10 -c:v libx264 -preset ultrafast -pix_fmt yuv420p"
    )
    #expect(
      try run("validate", film, seconds: 4).text
        == "The film's pictures are 9000x5000 pixels; at most 8192x4320 are allowed. Export it smaller."
    )
  }

  @Test func `the picture of a long black film is found soon`() async throws {
    let film = try await make(
      "-f lavfi -i color=black:s=64x36:r=100:d=300 -c:v libx264 -preset ultrafast -g 1 -pix_fmt yuv420p"
    )
    let poster = try run("render", film, seconds: 4)
    #expect(poster.fields["Content-Type"] == "image/jpeg")
  }

  @Test func `a film that takes too long says so`() async throws {
    let film = try await make(
      "-f lavfi -i color=black:s=64x36:r=1:d=900 -f lavfi -i sine=duration=900:sample_rate=11025 "
        + "-c:v libx264 -preset ultrafast -pix_fmt yuv420p -c:a pcm_s16le -f mov")
    let file = try scratch.drop(film, as: "film.mp4")
    let run = try PluginRun(
      "video", verb: "render", payload: "film.mp4", asset: file,
      variables: ["TMPDIR": work.path], limits: "-t 1")
    #expect(run.text == "This film takes too long to prepare. Export it shorter or smaller.")
  }
}
