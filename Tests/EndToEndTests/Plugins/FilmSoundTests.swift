import Foundation
import Testing

/// Films with sounds that phones do not play, or with other tracks.
@Suite(.timeLimit(.minutes(5))) struct FilmSoundTests {
  private let folder: FilmFolder

  init() throws { folder = try FilmFolder() }

  /// Pictures, and two tones of which the second is higher.
  private func film(_ options: String = "") async throws -> Movie {
    try Movie(
      try await folder.make(
        "two.mov",
        "-f lavfi -i testsrc2=s=160x90:r=5:d=2 -f lavfi -i sine=440:d=2 -f lavfi -i sine=2000:d=2 "
          + "-map 0 -map 1 -map 2 -c:v libx264 -pix_fmt yuv420p -c:a aac \(options)"))
  }

  private func names(of sounds: URL) async throws -> [String] {
    try await folder.probe(sounds, "a", "stream=codec_name").filter { !$0.isEmpty }
  }

  @Test(arguments: ["apac", "ac-4", "mha1", "enca", "drms", "zzzz"])
  func `a film has the first sound that phones play, of all its sounds`(code: String) async throws {
    for track in [1, 2] {
      var movie = try await film("-timecode 00:00:00:00")
      movie.setCode(code, track: track)
      let file = try folder.drop(movie, as: "film.mov")
      #expect(try folder.facts(file)["sound"] as? Bool == true)
      #expect(try folder.facts(file)["advice"] == nil)
      let sent = try folder.sent(file)
      #expect(try await names(of: sent) == ["aac"])
      let crossings = try await Child.run(
        "/bin/bash",
        [
          "-c",
          "ffmpeg -v info -i $0 -af astats=measure_perchannel=Zero_crossings_rate -f null - 2>&1",
          sent.path,
        ])
      let rate = crossings.output.compactMap { line in
        line.firstMatch(of: /Zero crossings rate: ([\d.]+)/).flatMap { Double($0.1) }
      }.first
      // Twice the frequency, of 44,100 samples a second.
      #expect(abs((rate ?? 0) - (track == 1 ? 0.0907 : 0.02)) < 0.005, "\(crossings)")
    }
  }

  @Test(arguments: ["apac", "ac-4", "mha1", "samr", "zzzz"])
  func `a film without a sound that phones play is sent without one, and says so`(code: String)
    async throws
  {
    var movie = try await film()
    for track in [1, 2] { movie.setCode(code, track: track) }
    let file = try folder.drop(movie, as: "film.mov")
    let facts = try folder.facts(file)
    #expect(facts["sound"] as? Bool == false)
    #expect(
      facts["advice"] as? [String] == [
        "It is sent without its sound, which phones can't play (\(code.uppercased())). Export it with AAC."
      ])
    #expect(try await names(of: try folder.sent(file)).isEmpty)
  }

  @Test func `other tracks, covers and chapters do not keep a film from being sent`() async throws {
    let cover = try await folder.make("cover.png", "-f lavfi -i testsrc2=s=64x64 -frames:v 1")
    let chapters = try folder.scratch.drop(
      Array(";FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=900\ntitle=a\n".utf8),
      as: "chapters.txt")
    let words = try folder.scratch.drop(
      Array("1\n00:00:00,000 --> 00:00:01,000\nHello\n".utf8), as: "words.srt")
    let film = try await folder.make(
      "film.mp4",
      "-i \(cover.path) -f lavfi -i testsrc2=s=160x90:r=5:d=2 -f lavfi -i testsrc2=s=80x44:r=5:d=2 "
        + "-f lavfi -i sine=d=2 -i \(chapters.path) -i \(words.path) -map 0 -map 1 -map 2 -map 3 -map 5 "
        + "-map_metadata 4 -map_chapters 4 -c:v:0 png -disposition:v:0 attached_pic -c:v:1 libx264 "
        + "-c:v:2 mpeg4 -pix_fmt:v:1 yuv420p -c:a aac -c:s mov_text")
    #expect(try folder.size(film) == [160, 90])
    let sent = try folder.sent(film)
    let kinds = try await Child.run(
      "/usr/bin/ffprobe",
      ["-v", "error", "-show_entries", "stream=codec_name", "-of", "csv=p=0", sent.path])
    #expect(kinds.output == ["h264", "aac"])
  }
}
