import Foundation
import Testing

/// Films of which an edit list shows only parts.
@Suite(.timeLimit(.minutes(5))) struct TrimmedFilmTests {
  private let folder: FilmFolder

  init() throws { folder = try FilmFolder() }

  /// Two seconds of red and four of blue, with a tone that is low as long as the pictures are red, then high.
  private func whole(_ coding: String = "libx264 -bf 2 -g 600") async throws -> URL {
    try await folder.make(
      "whole.mp4",
      "-f lavfi -i color=red:s=160x90:r=10:d=2 -f lavfi -i color=blue:s=160x90:r=10:d=4 "
        + "-f lavfi -i sine=300:d=2 -f lavfi -i sine=4000:d=4 -filter_complex "
        + "'[0][1]concat=n=2[v];[2][3]concat=n=2:v=0:a=1[a]' -map '[v]' -map '[a]' -c:v \(coding) "
        + "-sc_threshold 0 -pix_fmt yuv420p -c:a aac")
  }

  /// The colours of a file's pictures, whatever its edit list says: `r` and `b`.
  private func colours(_ film: URL) async throws -> Set<String> {
    Set(try await folder.colours(film).map { $0.hasSuffix(" 00 00") ? "r" : "b" })
  }

  private func colour(ofPoster film: URL, _ profile: String) async throws -> String {
    let seen = try await folder.measure(
      try folder.poster(film, profile: profile), ["-format", "%[fx:mean.r>mean.b]", "info:"])
    return seen == ["1"] ? "r" : "b"
  }

  /// How loud the low tones in a film's sound are, in decibels.
  private func lowTones(_ film: URL) async throws -> Double {
    let command = """
      ffmpeg -v info -ignore_editlist 1 -i $0 -af \
      lowpass=600,lowpass=600,lowpass=600,astats=measure_perchannel=none -f null - 2>&1
      """
    let seen = try await Child.run("/bin/bash", ["-c", command, film.path])
    let decibels = seen.output.compactMap { line in
      line.firstMatch(of: /RMS level dB: (-?[\d.]+|-inf)/).map { Double($0.1) ?? -200 }
    }
    return try #require(decibels.first)
  }

  @Test(
    arguments: [
      "libx264 -bf 2 -g 600", "libx265 -x265-params log-level=error:keyint=600 -tag:v hvc1",
    ], ["mp4", "mov"])
  func `a film that hides its only key picture shows, and sends, what is not hidden`(
    coding: String, kind: String
  ) async throws {
    let whole = try await whole(coding)
    let film = try await folder.make("trimmed.\(kind)", "-ss 3 -i \(whole.path) -c copy")
    #expect(try await colours(film) == ["r", "b"])
    for profile in ["android", "watch", "thumb"] {
      #expect(try await colour(ofPoster: film, profile) == "b")
    }
    let sent = try folder.sent(film)
    #expect(try await colours(sent) == ["b"])
    #expect(try await lowTones(film) > -40)
    #expect(try await lowTones(sent) < -55)
    let facts = try folder.facts(sent)
    #expect(abs((facts["duration"] as? Double ?? 0) - 3) < 0.1)
    #expect(facts["codec"] as? String == (coding.contains("265") ? "hevc" : "h264"))
    #expect(facts["sound"] as? Bool == true)
  }

  @Test func `whole groups of pictures are cut off without coding the others again`() async throws {
    let whole = try await whole("libx264 -g 10 -bf 2")
    var movie = try Movie(whole)
    movie.setEdits([Movie.Edit(duration: 2950, start: 3000)])
    let film = try folder.drop(movie, as: "film.mp4")
    let sent = try folder.sent(film)
    #expect(try await colours(sent) == ["b"])
    let sums = try await [whole, sent].each {
      try await folder.probe($0, "v", "packet=size")
    }
    #expect(sums[1].count == 30 && sums[0].suffix(30) == sums[1][...])
  }

  @Test func `what is behind the end is not sent, and the rest is not coded again`() async throws {
    let whole = try await whole("libx264 -bf 0 -g 600")
    var movie = try Movie(whole)
    movie.setEdits([Movie.Edit(duration: 1500, start: 0)])
    movie.setEdits([Movie.Edit(duration: 1500, start: 0)], track: 1)
    let film = try folder.drop(movie, as: "film.mp4")
    #expect(try await colours(film) == ["r", "b"])
    let sent = try folder.sent(film)
    #expect(try await colours(sent) == ["r"])
    let sizes = try await [whole, sent].each { try await folder.probe($0, "v", "packet=size") }
    #expect(sizes[0].starts(with: sizes[1]) && (15...17).contains(sizes[1].count))
    #expect(try await folder.probe(sent, "a", "packet=size").count < 70)
    #expect(try await colour(ofPoster: film, "android") == "r")
  }

  @Test func `several pieces, gaps and repeated pieces are put together`() async throws {
    let whole = try await whole()
    var movie = try Movie(whole)
    movie.setEdits([
      Movie.Edit(duration: 1000, start: nil), Movie.Edit(duration: 950, start: 4000),
      Movie.Edit(duration: 950, start: 3000), Movie.Edit(duration: 950, start: 3000),
    ])
    let film = try folder.drop(movie, as: "film.mp4")
    #expect(try await colour(ofPoster: film, "android") == "b")
    let sent = try folder.sent(film)
    #expect(try await colours(sent) == ["b"])
    let times = try await folder.probe(sent, "v", "packet=pts_time").compactMap {
      Double($0.split(separator: ",").first ?? "")
    }
    #expect(abs((times.min() ?? 0) - 1) < 0.05 && abs((times.max() ?? 0) - 3.9) < 0.25)
  }

  @Test func `a film of fragments that hides its beginning does not send it`() async throws {
    let whole = try await whole("libx264 -bf 0 -g 600")
    let film = try await folder.make(
      "film.mp4", "-ss 3 -i \(whole.path) -c copy -movflags +frag_keyframe+delay_moov")
    #expect(try await colour(ofPoster: film, "android") == "b")
    #expect(try await colours(try folder.sent(film)) == ["b"])
    #expect(abs((try folder.facts(film)["duration"] as? Double ?? 0) - 3) < 0.1)
  }

  @Test
  func
    `a film that shows nothing is refused, and so is one of thousands of pieces or with later gaps`()
    async throws
  {
    let whole = try Movie(try await whole())
    func film(_ edits: [Movie.Edit]) throws -> URL {
      var movie = whole
      movie.setEdits(edits)
      return try folder.drop(movie, as: "film.mp4")
    }
    for edits in [[Movie.Edit(duration: 1000, start: nil)], [.init(duration: 500, start: 90_000)]] {
      #expect(
        try folder.run("validate", try film(edits)).text
          == "This film shows no picture, only gaps. Export it again.")
    }
    // There ffmpeg shows what is hidden at the beginning.
    let gap = [Movie.Edit(duration: 950, start: 4500), .init(duration: 1000, start: nil)]
    for edits in [gap, gap + [.init(duration: 150, start: 5300)]] {
      #expect(
        try folder.run("validate", try film(edits)).text
          == "The film has a gap after one of its pieces. Export it as a new film.")
    }
    let limits = "-t 4 -d \(640 << 10)"
    let many = (0..<5000).map { Movie.Edit(duration: 100, start: $0 % 50 * 100) }
    #expect(
      try folder.run("validate", try film(many), limits: limits).text
        == "The film is made of 5000 pieces; at most 200 can be put together. Export it as a new film."
    )
    let few = try folder.run("validate", try film(Array(many.prefix(200))), limits: limits)
    #expect(try few.json["width"] as? Int == 160)
  }

  @Test func `a film that is too long to be coded again says so`() async throws {
    let long = try await folder.make(
      "long.mp4",
      "-f lavfi -i color=blue:s=640x360:r=60:d=95 -c:v libx264 -preset ultrafast -g 9999 -pix_fmt yuv420p"
    )
    let film = try await folder.make("film.mp4", "-ss 1 -i \(long.path) -c copy")
    #expect(
      try folder.run("render", film, view: "film").text
        == "This film was trimmed without being coded again, so what was cut off is still in it, and it is too long "
        + "to remove that here. Export it as a new film.")
    _ = try folder.poster(film)
  }
}

extension Array where Element: Sendable {
  /// The results for all elements, one after the other.
  fileprivate func each<Result>(_ body: (Element) async throws -> Result) async rethrows
    -> [Result]
  {
    var results: [Result] = []
    for element in self { results.append(try await body(element)) }
    return results
  }
}
