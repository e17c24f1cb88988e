import Foundation

/// Reads `plugin.json` and says what is wrong with it in one sentence.
enum ManifestReader {
  /// A sentence that names the member at fault.
  struct Fault: Error {
    let reason: String
  }

  /// The manifest in `json` for the plugin called `name`, its limits no higher than `ceiling`.
  static func manifest(
    json: [UInt8], name: String, ceiling: Manifest.Limits
  ) throws(Fault) -> Manifest {
    do {
      let data = Data(json)
      if let name = try JSONDecoder().decode(UnknownMember.self, from: data).name {
        throw Fault(reason: "\"\(name)\" is not a member it can have")
      }
      let text = try JSONDecoder().decode(ManifestText.self, from: data)
      return try checked(text, name: name, ceiling: ceiling)
    } catch let fault as Fault {
      throw fault
    } catch let error as DecodingError {
      throw Fault(reason: sentence(for: error))
    } catch {
      throw Fault(reason: "it is not JSON")
    }
  }

  private static func checked(
    _ text: ManifestText, name: String, ceiling: Manifest.Limits
  ) throws(Fault) -> Manifest {
    try require(text.protocol ?? 1 == 1, "\"protocol\" must be 1, the only one there is")
    try require(text.name ?? name == name, "\"name\" must be \"\(name)\", the name of its folder")
    var manifest = Manifest()
    manifest.version = text.version ?? ""
    if let executable = text.executable {
      let isPlain = !executable.isEmpty && !executable.contains("/") && !executable.hasPrefix(".")
      try require(isPlain, "\"executable\" must be the name of a file in the plugin's folder")
      manifest.executable = executable
    }
    manifest.mode = text.mode ?? .cgi
    manifest.verbs = Set(text.verbs ?? [.render])
    manifest.accepts = try ranges(text.accepts, "accepts")
    manifest.produces = try ranges(text.produces, "produces")
    for item in text.query ?? [] {
      let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(parts[0])
      try require(
        !name.isEmpty && name.utf8.allSatisfy(HeaderField.isTokenByte),
        "\"query\" must be a list of plain names, each with its default if it has one: \"view\", \"page=1\""
      )
      manifest.query.append(name)
      manifest.defaults[name] = parts.count == 2 ? String(parts[1]) : nil
    }
    manifest.perUser = text.perUser ?? false
    manifest.network = text.network ?? false
    manifest.limits = try limits(text.limits, default: manifest.limits, ceiling: ceiling)
    manifest.workers = try workers(text.workers)
    return manifest
  }

  private static func limits(
    _ text: ManifestText.Limits?, default usual: Manifest.Limits, ceiling: Manifest.Limits
  ) throws(Fault) -> Manifest.Limits {
    func granted(_ asked: Int?, _ usual: Int, _ most: Int, _ name: String) throws(Fault) -> Int {
      try require(asked ?? 1 > 0, "\"limits.\(name)\" must be a positive number")
      return min(asked ?? usual, most)
    }
    return Manifest.Limits(
      seconds: try granted(text?.seconds, usual.seconds, ceiling.seconds, "seconds"),
      memoryMiB: try granted(text?.memoryMiB, usual.memoryMiB, ceiling.memoryMiB, "memoryMiB"),
      outputMiB: try granted(text?.outputMiB, usual.outputMiB, ceiling.outputMiB, "outputMiB"))
  }

  private static func workers(_ text: ManifestText.Workers?) throws(Fault) -> Manifest.Workers {
    var workers = Manifest.Workers()
    workers.max = text?.max
    workers.min = text?.min ?? workers.min
    workers.idleSeconds = text?.idleSeconds ?? workers.idleSeconds
    workers.requests = text?.requests ?? workers.requests
    let most = workers.max ?? .max
    try require(1...64 ~= min(most, 64), "\"workers.max\" must be at least 1")
    try require(0...most ~= workers.min, "\"workers.min\" must be from 0 to \"workers.max\"")
    try require(workers.idleSeconds > 0, "\"workers.idleSeconds\" must be a positive number")
    try require(workers.requests > 0, "\"workers.requests\" must be a positive number")
    return workers
  }

  private static func ranges(_ texts: [String]?, _ name: String) throws(Fault) -> [String] {
    guard let texts else { return ["*/*"] }
    for text in texts where MediaRange(text) == nil {
      throw Fault(reason: "\"\(name)\" holds \"\(text)\", which is not a media range like image/*")
    }
    return texts
  }

  private static func require(_ isSo: Bool, _ reason: String) throws(Fault) {
    guard isSo else { throw Fault(reason: reason) }
  }

  private static func sentence(for error: DecodingError) -> String {
    func path(_ context: DecodingError.Context) -> String {
      "\"" + context.codingPath.map { $0.stringValue }.joined(separator: ".") + "\""
    }
    switch error {
    case .typeMismatch(let type, let context):
      return "\(path(context)) must be of the type \(type)"
    case .valueNotFound(_, let context):
      return "\(path(context)) must not be null"
    case .dataCorrupted(let context) where !context.codingPath.isEmpty:
      return "\(path(context)) has an unknown value"
    default:
      return "it is not JSON"
    }
  }
}
