/// The words beside a file that make it a notification, and what comes of them, by their names:
/// `logo.png.notify.json`, `logo.png.notify.sent.json`, `logo.png.notify.error.txt`.
enum Slip {
  /// What says to whom the file goes.
  static func name(for file: String) -> String { file + ".notify.json" }
  /// What is written when the notification is stored.
  static func sent(for file: String) -> String { file + ".notify.sent.json" }
  /// What is written when there is none.
  static func error(for file: String) -> String { file + ".notify.error.txt" }
  /// In the outbox: what says it of every file that has no slip of its own.
  static let standard = "default.notify.json"

  /// The longest slip, in bytes.
  static let longest = 64 << 10

  static let isOff =
    "Publishing by dropping is off: the server's operator enables it with --publish-as."

  /// The file that a slip or its result belongs to; nil for any other name.
  static func file(for entry: FolderEntry) -> String? {
    guard let name = entry.spelling else { return nil }
    return endings.first { name.hasSuffix($0) && name.utf8.count > $0.utf8.count }
      .map { String(name.dropLast($0.count)) }
  }

  private static let endings = [name(for: ""), sent(for: ""), error(for: "")]

  /// Whether a name is that of something the server writes.
  static func isResult(_ entry: FolderEntry) -> Bool {
    guard let name = entry.spelling else { return false }
    return name.hasSuffix(sent(for: "")) || name.hasSuffix(error(for: ""))
  }

  /// The notification that a slip asks for, as a back end would write it.
  ///
  /// Without a message the file's name stands for it, without its ending.
  static func request(_ slip: [UInt8], richType: String, file: String) throws(Refusal) -> JSONValue
  {
    guard let value = JSONValue(slip), case .object(var members) = value else {
      throw Refusal(400, "The .notify.json is not a JSON object, such as {\"to\": \"news\"}.")
    }
    for name in ["richType", "payload", "idempotencyKey"] where members[name] != nil {
      throw Refusal(400, "\(name) does not belong into a .notify.json: the file says it.")
    }
    let stem = file.split(separator: ".").dropLast().joined(separator: ".")
    members["message"] = members["message"] ?? .string(stem.isEmpty ? file : stem)
    members["richType"] = .string(richType)
    members["payload"] = .string(file)
    return .object(members)
  }
}
