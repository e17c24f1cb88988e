import Foundation
import Testing

/// A folder in which films are made, and given to the plugin `video`.
struct FilmFolder {
  let scratch: Scratch
  private let work: URL

  init() throws {
    scratch = try Scratch()
    work = try scratch.makeFolder("work")
  }

  /// A film that ffmpeg makes.
  func make(_ name: String, _ arguments: String) async throws -> URL {
    let file = scratch.folder.appending(path: name)
    let made = try await Child.run(
      "/bin/bash", ["-c", "ffmpeg -v error -y \(arguments) \(file.path)"])
    try #require(made.exitCode == 0, "\(made.errors)")
    return file
  }

  /// A film of which a test has changed the boxes.
  func drop(_ movie: Movie, as name: String) throws -> URL {
    try scratch.drop(movie.bytes, as: name)
  }

  /// The plugin's answer; `view` chooses the film or its poster.
  func run(
    _ verb: String, _ file: URL, view: String = "", _ variables: [String: String] = [:],
    limits: String? = nil
  ) throws -> PluginRun {
    // Each call has a folder of its own for its results.
    let folder = work.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return try PluginRun(
      "video", verb: verb, payload: file.lastPathComponent, asset: file,
      query: view.isEmpty ? "" : "view=\(view)",
      variables: variables.merging(["TMPDIR": folder.path]) { $1 }, limits: limits)
  }

  /// What the plugin finds out about a film.
  func facts(_ file: URL) throws -> [String: Any] { try run("validate", file).json }

  /// Its width and height, as the facts have them.
  func size(_ file: URL) throws -> [Int] {
    let facts = try facts(file)
    return [facts["width"] as? Int ?? 0, facts["height"] as? Int ?? 0]
  }

  /// The film that is sent.
  func sent(_ file: URL) throws -> URL {
    let answer = try run("render", file, view: "film")
    return URL(filePath: try #require(answer.fields["X-Sendfile"], "\(answer.text)"))
  }

  /// Its poster, in a file.
  func poster(_ file: URL, profile: String? = nil) throws -> URL {
    let variables = profile.map { ["RICH_PROFILE": $0] } ?? [:]
    let answer = try run("render", file, view: "poster", variables)
    try #require(answer.fields["Content-Type"] == "image/jpeg", "\(answer.text)")
    return try scratch.drop([UInt8](answer.body), as: "\(UUID().uuidString).jpg")
  }

  /// What ffprobe prints of the packets or streams of a file, a line each.
  func probe(_ file: URL, _ stream: String, _ entries: String) async throws -> [String] {
    let words = ["-v", "error", "-select_streams", stream, "-show_entries", entries]
    return try await Child.run("/usr/bin/ffprobe", words + ["-of", "csv=p=0", file.path]).output
  }

  /// What ImageMagick computes of a picture.
  func measure(_ picture: URL, _ words: [String]) async throws -> [String] {
    let seen = try await Child.run("/usr/bin/convert", [picture.path] + words)
    try #require(seen.exitCode == 0, "\(seen.errors)")
    return seen.output
  }

  /// The colours, in hexadecimal, in the middle of all pictures that a film has, also of those that are not shown.
  func colours(_ film: URL) async throws -> Set<String> {
    let command = """
      ffmpeg -v error -ignore_editlist 1 -i $0 -map 0:v -vf crop=16:16,scale=1:1 -f rawvideo \
      -pix_fmt rgb24 - | od -An -v -tx1 -w3
      """
    return Set(try await Child.run("/bin/bash", ["-c", command, film.path]).output)
  }
}
