import FoundationEssentials
import JSON

/// The content of a plugin's `plugin.json`; every member is optional.
package struct Manifest: Sendable, Hashable {
  /// How the executable is run: once for each call, or as a process that answers many.
  package enum Mode: String, Sendable, Decodable {
    case cgi, fastcgi
  }

  /// What one call may use.
  package struct Limits: Sendable, Hashable {
    package var seconds: Int
    package var memoryMiB: Int
    package var outputMiB: Int

    /// The highest limits that a manifest can ask for.
    static let maximum = Limits(seconds: 30, memoryMiB: 1024, outputMiB: 64)
  }

  /// How many resident processes there are, and for how long.
  package struct Workers: Sendable, Hashable {
    package var min = 0
    package var max: Int?
    /// A process above the minimum is ended after this time without a call.
    package var idleSeconds = 30
    /// A process is replaced after so many calls.
    package var requests = 1000
  }

  /// The version its author gave it.
  package var version = ""
  /// What people read for the rich type, by language; empty if it says nothing.
  package var label: [String: String] = [:]
  /// The fields that make up content without a file; nil if such content is any text.
  package var form: [FormField]?
  /// A file name in the plugin's folder, or in that of the `richpush` binary; nil means the rich type.
  package var executable: String?
  /// Names of further programs that it starts, next to the executable; one may be missing.
  package var programs: [String] = []
  package var mode = Mode.cgi
  package var verbs: Set<PluginCall.Verb> = [.render]
  /// Media ranges of the assets it accepts.
  package var accepts = ["*/*"]
  /// Media ranges of its answers.
  package var produces = ["*/*"]
  /// Query names it reads beyond the options.
  package var query: [String] = []
  /// The values it uses for query names that are not given, by name; giving such a value changes nothing.
  package var queryDefaults: [String: String] = [:]
  /// Whether the answer depends on the caller.
  package var perUser = false
  /// Whether the answer depends on the notification, and not on its content alone.
  package var perNotification = false
  /// Whether it needs the network.
  package var network = false
  package var limits = Limits(seconds: 10, memoryMiB: 512, outputMiB: 20)
  package var workers = Workers()

  /// Whether one answer serves all who get the same content, so that it can be made in advance.
  package var isShared: Bool { !perUser && !perNotification }
}

/// Why a plugin's files or its manifest cannot be used, in one sentence that names the culprit.
struct PluginProblem: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }

  static func require(_ condition: Bool, _ problem: String) throws(PluginProblem) {
    if !condition { throw PluginProblem(problem) }
  }
}

extension Manifest {
  /// The size of the longest `plugin.json`, in bytes.
  static let maximumSize = 65_536

  /// Parses `plugin.json` for the plugin called `name`; limits above `maximum` are lowered to it.
  ///
  /// - Throws: ``PluginProblem`` that names the member at fault.
  init(json: [UInt8], name: String, maximum: Limits) throws(PluginProblem) {
    do {
      if let member = Manifest.unknownMember(in: json) {
        throw PluginProblem("\"\(member)\" is not a member it can have")
      }
      let text = try JSONDecoder().decode(ManifestText.self, from: Data(json))
      try self.init(checking: text, name, maximum)
      guard text.label != nil || text.form != nil else { return }
      guard let tree = JSONTree(json) else { throw PluginProblem("it is not JSON") }
      label =
        try tree["label"].map { label throws(PluginProblem) in
          try FormField.label(label, at: "label")
        } ?? [:]
      form = try tree["form"].map { form throws(PluginProblem) in try FormField.fields(form) }
    } catch let problem as PluginProblem {
      throw problem
    } catch let error as DecodingError {
      throw PluginProblem(Manifest.sentence(for: error))
    } catch {
      throw PluginProblem("it is not JSON")
    }
  }

  private init(checking text: ManifestText, _ name: String, _ maximum: Limits) throws(PluginProblem)
  {
    self.init()
    try PluginProblem.require(
      text.protocol ?? 1 == 1, "\"protocol\" must be 1, the only one there is")
    try PluginProblem.require(
      text.name ?? name == name, "\"name\" must be \"\(name)\", the name of its folder")
    version = text.version ?? version
    executable = try text.executable.map { name throws(PluginProblem) in
      try Manifest.fileName(name, "executable")
    }
    programs = try (text.programs ?? []).map { name throws(PluginProblem) in
      try Manifest.fileName(name, "programs")
    }
    mode = text.mode ?? mode
    verbs = text.verbs.map { Set($0) } ?? verbs
    accepts = try Manifest.ranges(text.accepts, "accepts") ?? accepts
    produces = try Manifest.ranges(text.produces, "produces") ?? produces
    for item in text.query ?? [] {
      let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      try PluginProblem.require(
        parts[0].isToken,
        "\"query\" must be a list of plain names, each with its default if it has one: \"view\", \"page=1\""
      )
      query.append(String(parts[0]))
      queryDefaults[String(parts[0])] = parts.count == 2 ? String(parts[1]) : nil
    }
    perUser = text.perUser ?? perUser
    perNotification = text.perNotification ?? perNotification
    network = text.network ?? network
    try setLimits(text.limits, maximum: maximum)
    try setWorkers(text.workers)
  }

  private mutating func setLimits(_ text: ManifestText.Limits?, maximum: Limits)
    throws(PluginProblem)
  {
    func set(
      _ limit: WritableKeyPath<Limits, Int>, _ wanted: Int?, _ name: String
    ) throws(PluginProblem) {
      try PluginProblem.require(
        wanted ?? 1 > 0, "\"limits.\(name)\" must be a positive number")
      limits[keyPath: limit] = min(wanted ?? limits[keyPath: limit], maximum[keyPath: limit])
    }
    try set(\.seconds, text?.seconds, "seconds")
    try set(\.memoryMiB, text?.memoryMiB, "memoryMiB")
    try set(\.outputMiB, text?.outputMiB, "outputMiB")
  }

  private mutating func setWorkers(_ text: ManifestText.Workers?) throws(PluginProblem) {
    workers.max = text?.max
    workers.min = text?.min ?? workers.min
    workers.idleSeconds = text?.idleSeconds ?? workers.idleSeconds
    workers.requests = text?.requests ?? workers.requests
    let maximum = workers.max ?? .max
    try PluginProblem.require(maximum >= 1, "\"workers.max\" must be at least 1")
    try PluginProblem.require(
      0...maximum ~= workers.min, "\"workers.min\" must be from 0 to \"workers.max\"")
    try PluginProblem.require(
      workers.idleSeconds > 0, "\"workers.idleSeconds\" must be a positive number")
    try PluginProblem.require(
      workers.requests > 0, "\"workers.requests\" must be a positive number")
  }

  private static func fileName(_ name: String, _ member: String) throws(PluginProblem) -> String {
    // A path would let it run, and make readable, any file of the system.
    try PluginProblem.require(
      !name.isEmpty && !name.contains("/") && !name.hasPrefix("."),
      "\"\(member)\" must be the name of a file in the plugin's folder")
    return name
  }

  private static func ranges(_ texts: [String]?, _ name: String) throws(PluginProblem) -> [String]?
  {
    for text in texts ?? [] where MediaRange(text) == nil {
      throw PluginProblem(
        "\"\(name)\" holds \"\(text)\", which is not a media range like image/*")
    }
    return texts
  }

  private static func sentence(for error: DecodingError) -> String {
    func path(_ context: DecodingError.Context) -> String {
      "\"" + context.codingPath.map(\.stringValue).joined(separator: ".") + "\""
    }
    return switch error {
    case .typeMismatch(let type, let context): "\(path(context)) must be of the type \(type)"
    case .valueNotFound(_, let context): "\(path(context)) must not be null"
    case .dataCorrupted(let context) where !context.codingPath.isEmpty:
      "\(path(context)) has an unknown value"
    default: "it is not JSON"
    }
  }
}

/// The members of `plugin.json` as they are written.
private struct ManifestText: Decodable {
  struct Limits: Decodable {
    var seconds, memoryMiB, outputMiB: Int?
    enum CodingKeys: String, CodingKey, CaseIterable { case seconds, memoryMiB, outputMiB }
  }

  struct Workers: Decodable {
    var min, max, idleSeconds, requests: Int?
    enum CodingKeys: String, CodingKey, CaseIterable { case min, max, idleSeconds, requests }
  }

  var `protocol`: Int?
  var name, version, executable: String?
  /// Any value; what is wrong with it is said better than by a decoder.
  struct Unread: Decodable {
    init(from decoder: any Decoder) {}
  }

  var label, form: Unread?
  var mode: Manifest.Mode?
  var verbs: [PluginCall.Verb]?
  var accepts, produces, programs, query: [String]?
  var perUser, perNotification, network: Bool?
  var limits: Limits?
  var workers: Workers?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case `protocol`, name, version, executable, programs, mode, verbs, accepts, produces, query
    case perUser, perNotification, network, limits, workers, label, form
  }
}

extension Manifest {
  /// The first member of `plugin.json` that the format does not have: a typing error, mostly.
  fileprivate static func unknownMember(in json: [UInt8]) -> String? {
    guard let manifest = JSONTree(json) else { return nil }
    func unknown(_ group: String?, _ known: [any CodingKey]) -> [String] {
      guard case .object(let members) = group.map({ manifest[$0] }) ?? manifest else { return [] }
      return members.keys.filter { name in !known.contains { $0.stringValue == name } }
        .map { (group.map { $0 + "." } ?? "") + $0 }
    }
    return
      (unknown(nil, ManifestText.CodingKeys.allCases)
      + unknown("limits", ManifestText.Limits.CodingKeys.allCases)
      + unknown("workers", ManifestText.Workers.CodingKeys.allCases)).min()
  }
}
