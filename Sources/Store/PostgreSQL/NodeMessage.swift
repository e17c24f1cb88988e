/// The messages by which a node tells the others of the effects of a commit (`NOTIFY`), so that they read the
/// database at once.
enum NodeMessage {
  /// What the name of the channel begins with; the rest is the schema of the tables.
  static let channel = "richpush_"

  /// A server accepts payloads of less than 8000 bytes.
  private static let payloadLimit = 7000

  /// Effects as payloads: the origin and then the effects, a line each, without repetitions.
  static func payloads(of effects: [Effect], from origin: String) -> [String] {
    var (payloads, lines): ([String], Set<String>) = ([], [])
    var payload = origin
    for effect in effects {
      for line in effect.lines where lines.insert(line).inserted {
        if payload.utf8.count + line.utf8.count >= payloadLimit {
          payloads.append(payload)
          payload = origin
        }
        payload += "\n" + line
      }
    }
    if !lines.isEmpty { payloads.append(payload) }
    return payloads
  }

  /// The origin and the effects of a payload; ignores lines of a later version.
  static func parse(_ payload: String) -> (origin: Substring, effects: [Effect]) {
    let lines = payload.split(separator: "\n")
    return (lines.first ?? "", lines.dropFirst().compactMap(Effect.init(line:)))
  }
}

extension Effect {
  fileprivate var lines: [String] {
    switch self {
    case .pushEvents(let users):
      // Some hundred in a line.
      stride(from: 0, to: users.count, by: 250).map { start in
        "push "
          + users[start..<min(start + 250, users.count)].map { "\($0.rawValue)" }
          .joined(separator: ",")
      }
    case .events: ["events"]
    case .assetEvent: ["asset"]
    case .change(let id): ["change \(id)"]
    case .credentialsEnded(let user): ["credentials \(user.rawValue)"]
    case .read(let user): ["read \(user.rawValue)"]
    case .jobs(let lane): ["lane \(lane)"]
    case .ticketKeys: ["tickets"]
    case .everything: ["everything"]
    case .audit: []
    }
  }

  fileprivate init?(line: Substring) {
    let words = line.split(separator: " ", maxSplits: 1)
    let value = words.count > 1 ? words[1] : ""
    switch words.first {
    case "push":
      self = .pushEvents(value.split(separator: ",").compactMap { Int($0) }.map(UserID.init))
    case "events": self = .events
    case "asset": self = .assetEvent
    case "change":
      guard let id = Int(value) else { return nil }
      self = .change(id)
    case "credentials":
      guard let user = Int(value) else { return nil }
      self = .credentialsEnded(UserID(rawValue: user))
    case "read":
      guard let user = Int(value) else { return nil }
      self = .read(UserID(rawValue: user))
    case "tickets": self = .ticketKeys
    case "everything": self = .everything
    case "lane": self = .jobs(lane: String(value))
    default: return nil
    }
  }
}
