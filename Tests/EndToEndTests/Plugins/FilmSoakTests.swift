import Foundation
import Testing

/// Films with matrices, pixel ratios, edit lists and sounds of all kinds, judged by Chromium and by a newer ffmpeg.
///
/// With a fixed seed for 20 seconds; in `make soak` with a random one, which is printed, for ten minutes.
@Suite(.timeLimit(.minutes(30))) struct FilmSoakTests {
  private static let time = Duration.seconds(Soak.amount(short: 20, long: 600))
  private static let seed: UInt64 = Soak.isLong ? .random(in: .min ... .max) : 40
  /// How many films are judged together.
  private static let batch = 60

  @Test func `facts, posters and what is sent agree with what Chromium shows of random films`()
    async throws
  {
    print("seed \(Self.seed)")
    let bases = try await Self.makeBases()
    var random = SplitMix(seed: Self.seed)
    let end = ContinuousClock.now + Self.time
    var (made, compared, refused) = (0, 0, 0)
    while ContinuousClock.now < end {
      let folder = try FilmFolder()
      var films: [RandomFilm] = []
      while films.count < Self.batch, ContinuousClock.now < end {
        let next = (0..<3).map { RandomFilm(made + films.count + $0, of: bases, &random) }
        films += try await withThrowingTaskGroup(of: RandomFilm.self) { group in
          for film in next { group.addTask { try film.processed(in: folder) } }
          return try await group.reduce(into: []) { $0.append($1) }
        }
      }
      made += films.count
      let seen = try await Self.judge(films, in: folder)
      for film in films {
        if film.refusal != nil { refused += 1 } else { compared += 1 }
        for problem in film.problems(seen) {
          Issue.record("seed \(Self.seed), \(film): \(problem)")
        }
      }
    }
    print("films: \(made) made, \(compared) compared, \(refused) refused")
    #expect(compared > 0)
  }

  /// Three colours, two seconds each, in the middle, and one in each corner; two sounds.
  private static func makeBases() async throws -> [RandomFilm.Base] {
    let folder = try FilmFolder()
    let boxes = [
      (0, 0, "white"), (240, 0, "magenta"), (0, 180, "cyan"), (240, 180, "yellow"),
    ].map { "drawbox=\($0.0):\($0.1):80:60:\($0.2):fill" }
    var bases: [RandomFilm.Base] = []
    for (interval, pictures) in [(600, 2), (600, 0), (10, 2), (7, 3)] {
      let file = try await folder.make(
        "base.mp4",
        RandomFilm.colours.map { "-f lavfi -i color=\($0):s=320x240:r=10:d=2" }.joined(
          separator: " ")
          + " -f lavfi -i sine=d=6 -f lavfi -i sine=d=6 -filter_complex '[0][1][2]concat=n=3,"
          + "\(boxes.joined(separator: ",")),setsar=1[v]' -map '[v]' -map 3 -map 4 -c:v libx264 -preset fast "
          + "-g \(interval) -bf \(pictures) -sc_threshold 0 -pix_fmt yuv420p -c:a aac -b:a 32k")
      bases.append(RandomFilm.Base(movie: try Movie(file), interval: interval))
    }
    return bases
  }

  private static func judge(
    _ films: [RandomFilm], in folder: FilmFolder
  ) async throws -> [String: RandomFilm.Sight] {
    let judge = Package.root.appending(path: "Tests/EndToEndTests/Plugins/Films/judge.py").path
    let files = films.filter { $0.refusal == nil }.flatMap { film in
      ["mp4", "jpg", "sent.mp4"].map { folder.scratch.folder.path + "/\(film.number).\($0)" }
    }
    let result = try await Tool.run(
      "python", [judge] + files, environment: ["HOME": folder.scratch.folder.path])
    try #require(result.exitCode == 0, "\(result.errors)")
    return try JSONDecoder().decode(
      [String: RandomFilm.Sight].self, from: Data(result.output.joined().utf8))
  }
}

/// A film whose boxes are changed at random.
struct RandomFilm: CustomStringConvertible, Sendable {
  struct Base: Sendable {
    let movie: Movie
    /// Pictures between two that are coded by themselves.
    let interval: Int
  }

  /// What the judge sees in a file.
  struct Sight: Decodable {
    let failure: String?
    let size: [Int]?
    let corners: [String]?
    let centre: String?
    let duration: Double?
    let centres: [String]?
    let sounds: [String]?
  }

  static let colours = ["red", "blue", "green"]
  private static let unknown = ["apac", "ac-4", "mha1", "zzzz", "enca", "samr"]

  let number: Int
  let description: String
  private let movie: Movie
  /// The colours that its edit list shows.
  private let shown: Set<String>
  /// How long it is, in milliseconds, if it is one piece.
  private let length: Int?
  private let hasSound: Bool
  /// Whether there is a gap after a piece, which ffmpeg cannot follow.
  private let hasLaterGap: Bool
  private(set) var refusal: String?
  private var size: [Int] = []
  private var saysSound = false

  init(_ number: Int, of bases: [Base], _ random: inout SplitMix) {
    func any(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
    self.number = number
    let base = bases[any(0...bases.count - 1)]
    var movie = base.movie
    var words = ["\(number), keys every \(base.interval)"]
    if any(0...2) > 0 {
      let ratio = [
        (20, 11), (16, 11), (64, 45), (4, 3), (1, 2), (2, 1), (10, 11), (0, 0), (1, 0), (3, 7),
        (any(1...90), any(30...60)), (any(1...9), any(1...4)), (any(1...400), 1),
      ][any(0...12)]
      movie.setPixelRatio(ratio.0, ratio.1)
      words.append("pixels \(ratio)")
    } else if any(0...1) == 0 {
      movie.removePixelRatio()
      words.append("no pixel ratio")
    }
    let matrix: [Double] = [
      [1, 0, 0, 1], [0, 1, -1, 0], [-1, 0, 0, -1], [0, -1, 1, 0], [-1, 0, 0, 1], [1, 0, 0, -1],
      [0, 1, 1, 0], [0, -1, -1, 0], [0.99985, 0.01745, -0.01745, 0.99985], [2, 0, 0, 1],
      [1, 0, 0, 1.5], [0.5, 0, 0, 0.5], [1, 0.3, 0, 1], [0.7071, 0.7071, -0.7071, 0.7071],
    ][any(0...13)]
    movie.setMatrix(matrix + [Double(any(-50...400)), Double(any(-50...400))])
    words.append("matrix \(matrix)")
    // Between two pictures, so that no rounding matters.
    func piece() -> (start: Int, count: Int) {
      let start = any(0...55)
      return (start, any(1...60 - start))
    }
    let pieces = any(0...3) == 0 ? [] : (0..<[1, 1, 1, 2, 3][any(0...4)]).map { _ in piece() }
    var edits: [Movie.Edit] = []
    for (start, count) in pieces {
      if any(0...4) == 0 { edits.append(Movie.Edit(duration: any(1...20) * 100, start: nil)) }
      edits.append(Movie.Edit(duration: count * 100 - 50, start: start * 100))
    }
    if !edits.isEmpty {
      movie.setEdits(edits)
      words.append("edits \(edits.map { "\($0.start ?? -1)+\($0.duration)" })")
    }
    let frames = pieces.isEmpty ? [0..<60] : pieces.map { $0.start..<$0.start + $0.count }
    shown = Set(frames.joined().map { Self.colours[$0 / 20] })
    hasLaterGap = edits.dropFirst().contains { $0.start == nil }
    length = edits.count == 1 ? edits.first?.duration : nil
    let lost = [1, 2].filter { _ in any(0...2) == 0 }
    for track in lost {
      let code = Self.unknown[any(0...5)]
      movie.setCode(code, track: track)
      words.append("sound \(track) is \(code)")
    }
    hasSound = lost.count < 2
    (self.movie, description) = (movie, words.joined(separator: ", "))
  }

  /// The same with the plugin's answers; writes what the judge reads.
  func processed(in folder: FilmFolder) throws -> RandomFilm {
    var film = self
    let file = try folder.drop(movie, as: "\(number).mp4")
    let answer = try folder.run("validate", file)
    guard answer.status == 200 else {
      film.refusal = answer.text
      return film
    }
    film.size = try ["width", "height"].map { try answer.json[$0] as? Int ?? 0 }
    film.saysSound = try answer.json["sound"] as? Bool ?? false
    let poster = try folder.run("render", file, view: "poster")
    guard poster.status == 200 else {
      film.refusal = poster.text
      return film
    }
    try folder.scratch.drop([UInt8](poster.body), as: "\(number).jpg")
    let sent = try folder.sent(file)
    try FileManager.default.moveItem(
      at: sent, to: folder.scratch.folder.appending(path: "\(number).sent.mp4"))
    return film
  }

  /// What is wrong with the answers; empty if nothing is.
  func problems(_ seen: [String: Sight]) -> [String] {
    if hasLaterGap {
      return refusal?.contains("has a gap") == true ? [] : ["not refused"]
    }
    if let refusal {
      // Only pictures that are stretched beyond what phones show.
      return refusal.contains("at most 8192x4320") ? [] : ["refused: \(refusal)"]
    }
    guard let source = seen["\(number).mp4"], let poster = seen["\(number).jpg"],
      let sent = seen["\(number).sent.mp4"], let file = source.size, let picture = poster.size
    else { return ["not judged"] }
    var problems: [String] = []
    func check(_ isRight: Bool, _ problem: String) {
      if !isRight { problems.append(problem) }
    }
    check(size == file, "facts \(size), Chromium \(file)")
    check(sent.size == file, "sent \(sent.size ?? []), Chromium \(file) \(sent.failure ?? "")")
    let error = Double(picture[0] * file[1]) / Double(picture[1] * file[0]) - 1
    // A side of few pixels is rounded to an even number.
    check(abs(error) < 0.02 + 2 / Double(picture.min() ?? 1), "poster \(picture), Chromium \(file)")
    check(poster.corners == source.corners, "poster \(poster.corners ?? []), \(source)")
    check(sent.corners == source.corners, "sent \(sent.corners ?? []), \(source)")
    check(shown.contains(poster.centre ?? ""), "poster \(poster.centre ?? ""), shown \(shown)")
    let all = Set(sent.centres ?? [])
    check(all.isSubset(of: shown), "sent has \(all), shown are \(shown)")
    if let length {
      check(all == shown, "sent has \(all) only, shown are \(shown)")
      let isRight = hasSound || abs((sent.duration ?? 0) * 1000 - Double(length)) < 150
      check(isRight, "sent lasts \(sent.duration ?? 0) s, not \(length) ms")
    }
    check(saysSound == hasSound, "facts say sound: \(saysSound)")
    check(sent.sounds == (hasSound ? ["aac"] : []), "sent has sounds \(sent.sounds ?? [])")
    return problems
  }
}
