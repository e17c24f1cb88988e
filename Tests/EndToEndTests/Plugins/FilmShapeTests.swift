import Foundation
import Testing

/// Films whose pixels are not square, and that are turned or mirrored.
@Suite(.timeLimit(.minutes(5))) struct FilmShapeTests {
  private let folder: FilmFolder

  init() throws { folder = try FilmFolder() }

  /// A film of a white circle whose pixels have this ratio, in pictures of 640x480 as they are shown.
  private func circle(
    _ name: String, coded: String, ratio: String, _ options: String = "-c:v libx264"
  ) async throws -> URL {
    let circle = "geq=lum='if(lt(hypot(X-320,Y-240),150),235,16)':cb=128:cr=128"
    return try await folder.make(
      name,
      "-f lavfi -i \"color=black:s=640x480:r=5:d=1,format=yuv420p,\(circle)\" "
        + "-vf scale=\(coded),setsar=\(ratio) \(options) -pix_fmt yuv420p")
  }

  /// How much wider than high the circle in a picture is.
  private func roundness(_ picture: URL) async throws -> Double {
    let box = try await folder.measure(
      picture, ["-threshold", "50%", "-trim", "-format", "%w %h", "info:"])
    let sides = box.first?.split(separator: " ").compactMap { Double($0) } ?? []
    try #require(sides.count == 2)
    return sides[0] / sides[1]
  }

  @Test(arguments: [
    ("352:480", "20/11", "-c:v libx264"), ("640:240", "1/2", "-c:v libx264"),
    ("320:480", "2/1", "-c:v libx264"),
    ("480:480", "4/3", "-c:v libx265 -x265-params log-level=error -tag:v hvc1"),
  ])
  func `a circle is round though the pixels are not square`(
    coded: String, ratio: String, options: String
  ) async throws {
    let film = try await circle("film.mp4", coded: coded, ratio: ratio, options)
    #expect(try folder.size(film) == [640, 480])
    for profile in ["android", "watch", "thumb"] {
      let roundness = try await roundness(try folder.poster(film, profile: profile))
      #expect(abs(roundness - 1) < 0.03, "\(profile): \(roundness)")
    }
    let turned = try await folder.make(
      "turned.mp4", "-i \(film.path) -c copy -metadata:s:v rotate=90")
    #expect(try folder.size(turned) == [480, 640])
    #expect(abs(try await roundness(try folder.poster(turned)) - 1) < 0.03)
    #expect(try folder.size(try folder.sent(turned)) == [480, 640])
  }

  @Test func `the container's ratio of pixels counts more than the codec's and the matrix's`()
    async throws
  {
    let film = try await circle("film.mp4", coded: "352:480", ratio: "1")
    var movie = try Movie(film)
    movie.setPixelRatio(20, 11)
    #expect(try folder.size(try folder.drop(movie, as: "container.mp4")) == [640, 480])
    movie.setMatrix([2, 0, 0, 1, 0, 0])
    #expect(try folder.size(try folder.drop(movie, as: "both.mp4")) == [640, 480])
    movie.removePixelRatio()
    let doubled = try folder.drop(movie, as: "matrix.mp4")
    #expect(try folder.size(doubled) == [704, 480])
    // What is sent says it in one place, so that no player stretches it twice.
    let sent = try folder.sent(doubled)
    #expect(try await folder.probe(sent, "v", "stream=sample_aspect_ratio") == ["2:1"])
    #expect(try Self.matrix(of: sent) == [1, 0, 0, 1])
    let codec = try await circle("codec.mp4", coded: "352:480", ratio: "20/11")
    movie = try Movie(codec)
    movie.removePixelRatio()
    #expect(try folder.size(try folder.drop(movie, as: "codec-only.mp4")) == [640, 480])
    movie = try Movie(codec)
    movie.setPixelRatio(1, 1)
    #expect(try folder.size(try folder.drop(movie, as: "denied.mp4")) == [352, 480])
  }

  /// The four numbers of a film's matrix that turn and mirror.
  private static func matrix(of film: URL) throws -> [Double] {
    let bytes = [UInt8](try Data(contentsOf: film))
    let header = try #require(Data(bytes).range(of: Data("tkhd".utf8))).upperBound
    return [0, 4, 12, 16].map { offset in
      let part = bytes[header + 40 + offset..<header + 44 + offset]
      return Double(Int32(truncatingIfNeeded: part.reduce(0) { $0 << 8 | Int($1) })) / 65536
    }
  }

  /// The corners of the poster, from the top left on, by the matrix: as Chromium shows the film.
  @Test(arguments: [
    ([1, 0, 0, 1], "RGYB"), ([0, 1, -1, 0], "YRBG"), ([-1, 0, 0, -1], "BYGR"),
    ([0, -1, 1, 0], "GBRY"), ([-1, 0, 0, 1], "GRBY"), ([1, 0, 0, -1], "YBRG"),
    ([0, 1, 1, 0], "RYGB"), ([0, -1, -1, 0], "BGYR"),
    // Turned by one degree, by 45, scaled: neither is shown.
    ([0.99985, 0.01745, -0.01745, 0.99985], "RGYB"), ([0.7071, 0.7071, -0.7071, 0.7071], "RGYB"),
    ([0.5, 0, 0, 0.5], "RGYB"), ([0, 0, 0, 0], "RGYB"),
  ])
  func `the poster and what is sent are turned and mirrored as the film`(
    matrix: [Double], corners: String
  ) async throws {
    let boxes = [(0, 0, "red"), (240, 0, "lime"), (0, 180, "yellow"), (240, 180, "blue")].map {
      "drawbox=\($0.0):\($0.1):80:60:\($0.2):fill"
    }
    let film = try await folder.make(
      "film.mp4",
      "-f lavfi -i color=gray:s=320x240:r=5:d=1 -vf \(boxes.joined(separator: ",")) "
        + "-c:v libx264 -pix_fmt yuv420p")
    var movie = try Movie(film)
    movie.setMatrix(matrix + [40, 20])
    let turned = try folder.drop(movie, as: "turned.mp4")
    let size = matrix[0] == 0 && matrix[1] != 0 ? [240, 320] : [320, 240]
    for file in [turned, try folder.sent(turned)] {
      #expect(try folder.size(file) == size)
      let poster = try folder.poster(file)
      let places = [(10, 10), (size[0] - 10, 10), (10, size[1] - 10), (size[0] - 10, size[1] - 10)]
      let words = places.map { "%[fx:u.p{\($0.0),\($0.1)}.r>.5] %[fx:u.p{\($0.0),\($0.1)}.g>.5]" }
      let seen = try await folder.measure(
        poster, ["-format", words.joined(separator: " "), "info:"])
      let names = ["1 0": "R", "0 1": "G", "1 1": "Y", "0 0": "B"]
      let bits = (seen.first ?? "").split(separator: " ").map(String.init)
      let found = stride(from: 0, to: bits.count - 1, by: 2).map {
        names[bits[$0] + " " + bits[$0 + 1]] ?? "?"
      }
      #expect(found.joined() == corners)
    }
  }

  @Test func `pixels of an absurd ratio are refused, and those of none are square`() async throws {
    var movie = try Movie(try await circle("film.mp4", coded: "352:480", ratio: "1"))
    for (width, height) in [(100, 1), (1, 100), (30_000, 1), (1, 30_000), (0x7FFF_FFFF, 3)] {
      movie.setPixelRatio(width, height)
      let answer = try folder.run("validate", try folder.drop(movie, as: "absurd.mp4"))
      #expect(answer.text.contains("at most 8192x4320 are allowed"), "\(answer.text)")
    }
    for (width, height) in [(0, 0), (1, 0), (0, 1)] {
      movie.setPixelRatio(width, height)
      #expect(try folder.size(try folder.drop(movie, as: "none.mp4")) == [352, 480])
    }
  }
}
