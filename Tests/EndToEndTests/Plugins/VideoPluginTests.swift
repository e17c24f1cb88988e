import Foundation
import RichPushClient
import Testing
import Waiting

/// The plugin `video` on films that ffmpeg makes.
@Suite(.timeLimit(.minutes(5))) struct VideoPluginTests {
  private let scratch: Scratch

  /// Where the plugin may write.
  private let work: URL

  init() throws {
    scratch = try Scratch()
    work = scratch.folder.appending(path: "work")
    try FileManager.default.createDirectory(at: work, withIntermediateDirectories: true)
  }

  /// A second of black and three of a test picture, with a tone and private metadata.
  private static let film = """
    -f lavfi -i color=black:s=320x180:r=10:d=1 -f lavfi -i testsrc2=s=320x180:r=10:d=3 \
    -f lavfi -i sine=duration=4 -filter_complex '[0][1]concat=n=2:v=1[v]' -map '[v]' -map 2:a \
    -pix_fmt yuv420p -g 10 -metadata title=PRIV123 -metadata location=+48.2+16.3/ \
    -metadata:s:v handler_name=PRIV123
    """
  private static let h264 = film + " -c:v libx264 -preset ultrafast -c:a aac"

  /// A file that ffmpeg makes.
  private func make(_ name: String, _ arguments: String = h264) async throws -> URL {
    let file = scratch.folder.appending(path: name)
    let made = try await Child.run(
      "/bin/bash", ["-c", "ffmpeg -v error -y \(arguments) \(file.path)"])
    try #require(made.exitCode == 0, "\(made.errors)")
    return file
  }

  private func run(
    _ verb: String, _ file: URL, _ variables: [String: String] = [:], query: String = ""
  ) throws -> PluginRun {
    try PluginRun(
      "video", verb: verb, payload: file.lastPathComponent, asset: file, query: query,
      variables: variables.merging(["TMPDIR": work.path]) { $1 })
  }

  /// A property of a file's first picture or sound, as ffprobe has it.
  private func probe(_ path: String, _ stream: String, _ entry: String) async throws -> String {
    let words = ["-v", "error", "-select_streams", stream, "-show_entries", "stream=" + entry]
    let found = try await Child.run("/usr/bin/ffprobe", words + ["-of", "csv=p=0", path])
    return found.output.joined(separator: "\n")
  }

  @Test func `a film's facts are its upright size and its duration`() async throws {
    let film = try await make("film.mp4")
    let facts = try run("validate", film).json
    #expect(facts["contentType"] as? String == "video/mp4" && facts["codec"] as? String == "h264")
    #expect(facts["width"] as? Int == 320 && facts["height"] as? Int == 180)
    #expect(facts["sound"] as? Bool == true)
    #expect(abs((facts["duration"] as? Double ?? 0) - 4) < 0.1)
    let turned = try await make(
      "turned.mov", "-i \(film.path) -c copy -metadata:s:v rotate=90 -map 0:v")
    let upright = try run("validate", turned).json
    #expect(upright["width"] as? Int == 180 && upright["height"] as? Int == 320)
    #expect(upright["sound"] as? Bool == false)
  }

  @Test(arguments: ["film.mp4", "film.mov"])
  func `devices get the same film without metadata, and its index first`(name: String) async throws
  {
    let film = try await make(name)
    #expect(try Data(contentsOf: film).range(of: Data("PRIV123".utf8)) != nil)
    let response = try run("render", film, ["RICH_PROFILE": "ios"])
    #expect(response.fields["Content-Type"] == "video/mp4")
    let path = try #require(response.fields["X-Sendfile"])
    let bytes = try Data(contentsOf: URL(filePath: path))
    for secret in ["PRIV123", "48.2", "Lavf"] {
      #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(secret)")
    }
    let index = try #require(bytes.range(of: Data("moov".utf8)))
    let media = try #require(bytes.range(of: Data("mdat".utf8)))
    #expect(index.lowerBound < media.lowerBound)
    let command = "ffmpeg -v error -i $0 -map 0:v -f md5 -; ffmpeg -v error -i $1 -map 0:v -f md5 -"
    let sums = try await Child.run("/bin/bash", ["-c", command, film.path, path])
    #expect(sums.output.count == 2 && sums.output[0] == sums.output[1], "\(sums.errors)")
  }

  @Test func `a film stays turned, HEVC has the name that iPhones know, and PCM becomes AAC`()
    async throws
  {
    let hevc = try await make(
      "film.mov",
      Self.film + " -c:v libx265 -x265-params log-level=error -tag:v hev1 -c:a pcm_s16le")
    let turned = try await make("turned.mov", "-i \(hevc.path) -c copy -metadata:s:v rotate=90")
    let path = try #require(try run("render", turned).fields["X-Sendfile"])
    #expect(try await probe(path, "v", "codec_tag_string").hasPrefix("hvc1"))
    #expect(try await probe(path, "a", "codec_name").hasPrefix("aac"))
    #expect(try run("validate", URL(filePath: path)).json["height"] as? Int == 320)
  }

  @Test func `the poster is no black picture, and fits the device`() async throws {
    let film = try await make("film.mp4")
    for (profile, width) in [("thumb", 160), ("android", 320), ("watch", 320)] {
      let response = try run("render", film, ["RICH_PROFILE": profile])
      #expect(response.fields["Content-Type"] == "image/jpeg")
      let file = try scratch.drop([UInt8](response.body), as: "poster.jpg")
      let seen = try await Child.run(
        "/usr/bin/identify", ["-format", "%w %[fx:mean]", file.path])
      let values = seen.output.first?.split(separator: " ").compactMap { Double($0) } ?? []
      #expect(values.first == Double(width) && values.last ?? 0 > 0.2, "\(seen)")
    }
    let picture = try run("render", film, ["RICH_PROFILE": "ios"], query: "view=poster")
    #expect(picture.fields["Content-Type"] == "image/jpeg")
    #expect(try run("render", film, query: "view=page").status == 422)
  }

  @Test func `the poster of a black film is black, and colours are those of the film`() async throws
  {
    let black = try await make("black.mp4", "-f lavfi -i color=black:s=64x64:d=1 -pix_fmt yuv420p")
    #expect(try run("render", black, query: "view=poster").fields["Content-Type"] == "image/jpeg")
    for matrix in ["bt709", "smpte170m"] {
      let film = try await make(
        "red.mp4",
        "-f lavfi -i color=0xC83C28:s=64x64:d=1 -vf scale=out_color_matrix=\(matrix) "
          + "-colorspace \(matrix) -pix_fmt yuv420p")
      let poster = try run("render", film, query: "view=poster")
      let file = try scratch.drop([UInt8](poster.body), as: "red.jpg")
      let seen = try await Child.run(
        "/usr/bin/convert",
        [file.path, "-format", "%[fx:int(255*u.r)] %[fx:int(255*u.g)]", "info:"])
      let values = seen.output.first?.split(separator: " ").compactMap { Int($0) } ?? []
      #expect(values.count == 2 && abs(values[0] - 200) < 6 && abs(values[1] - 60) < 6, "\(seen)")
    }
  }

  @Test func `what is no film for phones is refused with what to do`() async throws {
    let old = try await make("old.mp4", Self.film + " -c:v mpeg4")
    #expect(
      try run("validate", old).text
        == "This film is coded in a way that phones can't play. Export it as MP4 with H.264.")
    let sound = try await make("sound.mp4", "-f lavfi -i sine=duration=1")
    #expect(try run("validate", sound).status == 415)
    let whole = try Data(contentsOf: try await make("film.mp4"))
    let text = try scratch.drop(Array("#EXTM3U\nfile:///etc/passwd\n".utf8), as: "list.mp4")
    #expect(try run("validate", text).text == "This film is damaged. Export it again.")
    for count in [40, 2000, whole.count / 2, whole.count - 500] {
      let cut = try scratch.drop(Array(whole.prefix(count)), as: "cut.mp4")
      #expect(try run("validate", cut).text == "This film is damaged. Export it again.", "\(count)")
    }
    let streamed = try Data(
      contentsOf: try await make("film.mp4", Self.h264 + " -movflags +faststart"))
    let cut = try scratch.drop(Array(streamed.prefix(streamed.count * 2 / 3)), as: "cut.mp4")
    #expect(try run("render", cut).text == "This film is damaged. Export it again.")
    let large = try scratch.drop([], as: "large.mp4")
    #expect(truncate(large.path, 80_000_000) == 0)
    #expect(
      try run("validate", large).text
        == "The film is 80 MB; at most 60 MB are allowed. Export it shorter or smaller.")
  }

  @Test func `without ffmpeg there is a sentence`() async throws {
    let film = try await make("film.mp4")
    #expect(
      try run("validate", film, ["PATH": "/nowhere"]).text
        == "Films can't be prepared, because the server has no ffmpeg. Ask its operator to install it."
    )
  }

  @Test func `over HTTP a film has ranges, and its original is never sent`() async throws {
    let film = try Data(contentsOf: try await make("film.mp4"))
    try await RunningServer.lend { scratch in
      try scratch.drop(Package.bytes("plugins/video/plugin.json"), as: "plugins/video/plugin.json")
      try scratch.drop([UInt8](film), as: "assets/video/film.mp4")
    } to: { server in
      let alice = server.client("alice")
      try await eventually("the film is ready") {
        try await alice.assets(richType: "video").first?.state == .ready
      }
      let id = try await alice.create(
        NewNotification("m", richType: "video", payload: "film.mp4", to: .users(["alice"]))
      ).id
      let media = try await alice.media(id)
      #expect(media.contentType == "video/mp4")
      #expect(Data(media.bytes).range(of: Data("PRIV123".utf8)) == nil)
      let picture = try await alice.media(id, options: MediaOptions(profile: "android"))
      #expect(picture.contentType == "image/jpeg")
      let part = try await Child.run(
        "/usr/bin/curl",
        [
          "-sS", "-u", "alice:alice", "-r", "100-199", "-w", "%{http_code}", "-o", "/dev/null",
          server.endpoint.absoluteString + "/api/notifications/\(id)",
        ])
      #expect(part.output == ["206"])
    }
  }
}
