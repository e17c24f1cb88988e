import FoundationEssentials
import HTTP
import Primitives
import RichPushAPI

/// What a reader of ntfy's API asks for, in any of the spellings that its server reads.
struct NtfySubscription: Sendable, Equatable {
  /// From where on it wants messages.
  enum Since: Sendable, Equatable {
    /// Only new ones.
    case now
    /// All that there are.
    case beginning
    /// The last one, and new ones.
    case latest
    /// Those after an event.
    case event(Int)
    /// Those sent at this time or later.
    case time(Date)
  }

  /// Whether the response ends with the messages that there are.
  let isPoll: Bool
  let since: Since
  /// The ID of the only message that is wanted.
  let id: String?
  let message: String?
  let title: String?
  /// The priorities of which one is wanted.
  let priorities: Set<Int>
  /// The tags of which all are wanted.
  let tags: [String]

  private enum Name: CaseIterable {
    case poll, since, scheduled, id, message, title, priority, tags

    /// The names of fields, without regard to case, and of query parameters, in lower case.
    var spellings: [String] {
      switch self {
      case .poll: ["x-poll", "poll", "po"]
      case .since: ["x-since", "since", "si"]
      case .scheduled: ["x-scheduled", "scheduled", "sched"]
      case .id: ["x-id", "id"]
      case .message: ["x-message", "message", "m"]
      case .title: ["x-title", "title", "t"]
      case .priority: ["x-priority", "priority", "prio", "p"]
      case .tags: ["x-tags", "tags", "tag", "ta"]
      }
    }
  }

  /// Reads a request.
  ///
  /// - Throws: for a parameter that ntfy does not have, and for what is not supported.
  init(_ request: Request, now: Date) throws(ServiceError) {
    let values = try Self.values(request)
    func isTrue(_ name: Name) -> Bool {
      ["1", "yes", "true"].contains(values[name]?.lowercased() ?? "")
    }
    func list(_ name: Name) -> [String] {
      (values[name] ?? "").split(separator: ",").map { String($0).trimming(\.isWhitespace) }
    }
    guard !isTrue(.scheduled) else {
      throw ServiceError(
        .init("scheduled", .rejected, "What is still to be sent is not shown. Leave scheduled out.")
      )
    }
    isPoll = isTrue(.poll)
    since = try Self.since(values[.since], isPoll: isPoll, now: now)
    (id, message, title) = (values[.id], values[.message], values[.title])
    priorities = Set(
      try list(.priority).map { text throws(ServiceError) in try NtfyPriority.number(text) })
    tags = list(.tags)
  }

  private static func values(_ request: Request) throws(ServiceError) -> [Name: String] {
    var values: [Name: String] = [:]
    for (text, value) in request.query.items {
      let spelling = text.lowercased()
      // With `auth`, credentials are in the query.
      if spelling == "auth" { continue }
      guard let name = Name.allCases.first(where: { $0.spellings.contains(spelling) }) else {
        throw ServiceError(
          unknown: "query parameter", String(text.prefix(60)),
          among: Name.allCases.map { $0.spellings[1] })
      }
      values[name] = value.trimming(\.isWhitespace)
    }
    for name in Name.allCases {
      for spelling in name.spellings {
        guard let bytes = request.fields.bytes(of: spelling) else { continue }
        // HTTP's own priorities (RFC 9218) are no filter.
        if spelling == "priority" { continue }
        values[name] = ForeignText.field(bytes).trimming(\.isWhitespace)
        break
      }
    }
    return values.filter { !$0.value.isEmpty }
  }

  private static func since(
    _ text: String?, isPoll: Bool, now: Date
  ) throws(ServiceError) -> Since {
    guard let text else { return isPoll ? .beginning : .now }
    switch text {
    case "all": return .beginning
    case "none": return .now
    case "latest": return .latest
    default: break
    }
    if let event = NtfyID.event(text) { return .event(event) }
    if let seconds = Int(text) { return .time(Date(timeIntervalSince1970: Double(seconds))) }
    if let seconds = NtfyDelay.duration(text) { return .time(now - seconds) }
    // As at ntfy's server, what is not known there any more is followed by all that there is.
    guard text.wholeMatch(of: /[A-Za-z0-9_-]{1,64}/) != nil else {
      throw ServiceError(
        .init(
          "since", .invalidRequest,
          "since must be all, none, latest, a message's ID, a Unix time, or a duration such as 10m."
        ))
    }
    return .beginning
  }
}
