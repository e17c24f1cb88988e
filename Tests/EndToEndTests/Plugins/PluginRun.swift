import Foundation
import StandIns
import Testing

/// One run of a plugin of ours, as the server would start it: by its environment alone.
struct PluginRun {
  let status: Int
  let fields: [String: String]
  let body: Data
  let log: String

  /// The members of the body, which is expected to be a JSON object.
  var json: [String: Any] {
    get throws { try #require(JSONSerialization.jsonObject(with: body) as? [String: Any]) }
  }

  var text: String { String(decoding: body, as: UTF8.self) }

  /// The repository's top folder.
  static let repository = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// Where the built programs are: beside the test program.
  static let programs = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent()

  /// Runs the program that handles a rich type, in the folder with its manifest; `limits` are options of `ulimit`.
  init(
    _ richType: String, verb: String, payload: String = "", asset: URL? = nil,
    query: String = "", folder: URL? = nil, hasNetwork: Bool = true,
    variables: [String: String] = [:], limits: String? = nil
  ) throws {
    let path = Self.programs.appending(path: richType).path
    var environment = [
      "GATEWAY_INTERFACE": "CGI/1.1", "REQUEST_METHOD": "GET", "QUERY_STRING": query,
      "RICH_VERB": verb, "RICH_TYPE": richType, "RICH_PAYLOAD": payload, "LANG": "C.UTF-8",
      "PATH": "/usr/bin:/bin", "TMPDIR": FileManager.default.temporaryDirectory.path,
    ]
    environment["RICH_ASSET_PATH"] = asset?.path
    environment["RICH_ASSET_SIZE"] = try asset.map {
      "\(try $0.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0)"
    }
    environment["RICH_NETWORK"] = folder != nil && hasNetwork ? "1" : nil
    let (output, errors) = (Pipe(), Pipe())
    let process = try StartedProgram(
      limits == nil ? path : "/bin/bash",
      limits.map { ["-c", "ulimit \($0); exec \(path)"] } ?? [],
      environment: environment.merging(variables) { $1 },
      folder: (folder ?? Self.repository.appending(path: "plugins/\(richType)")).path,
      output: output.fileHandleForWriting, errors: errors.fileHandleForWriting)
    for pipe in [output, errors] { try pipe.fileHandleForWriting.close() }
    let answer = try output.fileHandleForReading.readToEnd() ?? Data()
    log = String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    try #require(process.waitForEnd() == 0, "the plugin failed: \(log)")
    let end = try #require(answer.range(of: Data("\r\n\r\n".utf8)), "no end of the header")
    let lines = String(decoding: answer[..<end.lowerBound], as: UTF8.self)
      .components(separatedBy: "\r\n")
    fields = Dictionary(
      uniqueKeysWithValues: lines.map {
        let parts = $0.split(separator: ":", maxSplits: 1)
        return (String(parts[0]), parts[1].trimmingCharacters(in: .whitespaces))
      })
    status = fields["Status"].flatMap { Int($0) } ?? 200
    body = answer[end.upperBound...]
  }
}
