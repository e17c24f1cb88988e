import FoundationEssentials
import Primitives

/// What a file has of a table: its columns, and the rows of the user `$1`, `WHERE` included.
private struct PersonalTable {
  /// What a column has.
  enum Kind {
    case text, number, flag, time
    /// A JSON text, as it is.
    case json
  }

  let columns: [(member: String, column: String, kind: Kind)]
  let rows: String
  /// The number by which the rows are divided into pages; nil if they are few.
  var key: String?

  init(
    _ columns: [(String, String, Kind)], from rows: String, by key: String? = nil
  ) { (self.columns, self.rows, self.key) = (columns, rows, key) }
}

extension PersonalFile {
  fileprivate var table: PersonalTable {
    switch self {
    case .profile:
      PersonalTable(
        [
          ("number", "users.id", .number), ("username", "users.name", .text),
          ("role", "users.role", .text), ("created", "users.created", .time),
          ("wantedSubjects", "sign_up.subjects", .json), ("signedUp", "sign_up.created", .time),
        ], from: "users LEFT JOIN sign_up ON sign_up.user_id = users.id WHERE users.id = $1")
    case .attributes:
      PersonalTable(
        [("name", "name", .text), ("value", "value", .text)],
        from: "user_attribute WHERE user_id = $1")
    case .devices:
      PersonalTable(
        [
          ("registration", "id", .text), ("platform", "platform", .text), ("name", "name", .text),
          ("created", "created", .time), ("registered", "updated", .time),
          ("lastContact", "contact", .time), ("credential", "credential", .text),
          ("userAgent", "user_agent", .text), ("language", "language", .text),
          ("timeZone", "time_zone", .text), ("quietHours", "quiet_hours", .text),
          ("ended", "ended", .time), ("endedBy", "ended_by", .text),
        ], from: "registration WHERE user_id = $1")
    case .sessions:
      PersonalTable(
        [
          ("session", "id", .number), ("created", "created", .time), ("used", "used", .time),
          ("userAgent", "user_agent", .text),
        ], from: "session WHERE user_id = $1")
    case .accessTokens:
      PersonalTable(
        [
          ("token", "id", .number), ("name", "name", .text), ("to", "audience", .json),
          ("receipts", "receipts", .flag), ("assets", "assets", .flag),
          ("status", "status", .flag), ("audit", "audit", .flag), ("rate", "rate", .number),
          ("created", "created", .time), ("expires", "expires", .time), ("used", "used", .time),
          ("usedFrom", "used_from", .text), ("webhook", "template", .json),
        ],
        from: "access_token LEFT JOIN webhook ON webhook.token = access_token.id WHERE user_id = $1"
      )
    case .notifications:
      PersonalTable(
        Self.notification + [
          ("onlyYou", Self.isOnlyRecipients, .flag), ("values", Self.values, .json),
          ("sent", "recipient.sent", .time), ("displayed", "recipient.displayed", .time),
          ("fetched", "recipient.fetched", .time), ("opened", "recipient.opened", .time),
          ("read", "recipient.read", .time), ("dismissed", "recipient.dismissed", .time),
          ("hidden", "recipient.hidden", .time),
        ],
        from: """
          recipient JOIN notification ON notification.id = recipient.notification
          WHERE recipient.user_id = $1
          """, by: "recipient.notification")
    case .replies:
      PersonalTable(
        [
          ("notification", "notification", .number), ("registration", "registration", .text),
          ("event", "event", .text), ("action", "action", .text), ("text", "text", .text),
          ("created", "created", .time),
        ], from: "interaction WHERE user_id = $1", by: "id")
    case .sent:
      PersonalTable(
        Self.notification + [
          ("to", "audience", .json), ("withdrawn", "withdrawn", .time),
          ("recipients", "recipients", .number),
        ],
        from: """
          notification LEFT JOIN notification_count
            ON notification_count.notification = notification.id
          WHERE sender = $1
          """, by: "notification.id")
    case .drafts:
      PersonalTable(
        [
          ("draft", "id", .number), ("name", "name", .text), ("template", "template", .flag),
          ("created", "created", .time), ("changed", "updated", .time),
          ("content", "content", .json),
        ], from: "draft WHERE author = $1 OR editor = $1")
    case .segments:
      PersonalTable(
        [
          ("name", "name", .text), ("created", "created", .time), ("changed", "updated", .time),
          ("content", "content", .json),
        ], from: "segment WHERE author = $1 OR editor = $1")
    case .changes:
      PersonalTable(
        [
          ("notification", "notification", .number), ("earlier", "earlier", .json),
          ("created", "created", .time),
        ], from: "amendment WHERE editor = $1", by: "id")
    case .approvals:
      PersonalTable(
        [
          ("notification", "notification", .number), ("refused", "reason", .text),
          ("created", "created", .time),
        ], from: "approval WHERE user_id = $1", by: "notification")
    case .identities:
      PersonalTable(
        [
          ("provider", "issuer", .text), ("subject", "subject", .text),
          ("created", "created", .time),
        ],
        from: "provider_identity WHERE user_id = $1")
    case .audit:
      PersonalTable(
        [
          ("number", "id", .number), ("time", "time", .time), ("action", "action", .text),
          ("object", "object", .text), ("objectID", "object_id", .text),
          ("detail", "detail", .text), ("count", "count", .number), ("by", Self.actor, .text),
          ("credential", Self.unlessAnothers("credential"), .text),
          ("address", Self.unlessAnothers("address"), .text),
        ],
        from: """
          audit WHERE (kind = 'user' AND actor = $1 OR owner = $1)
          """, by: "id")
    }
  }

  private static let notification: [(String, String, PersonalTable.Kind)] = [
    ("notification", "notification.id", .number), ("created", "notification.created", .time),
    ("message", "message", .text), ("members", "members", .json),
    ("richType", "rich_type", .text), ("payload", "payload", .text), ("sha256", "blob", .text),
    ("mediaType", "blob_type", .text), ("notBefore", "not_before", .time),
    ("expires", "expires", .time),
  ]

  private static let isOnlyRecipients = """
    CASE WHEN EXISTS (
      SELECT 1 FROM recipient AS other
      WHERE other.notification = notification.id AND other.user_id <> recipient.user_id)
    THEN 0 ELSE 1 END
    """

  /// Who did it, without the number of another person.
  private static let actor = """
    CASE WHEN kind <> 'user' THEN kind WHEN actor = $1 THEN 'you' ELSE 'another user' END
    """

  /// A column of the audit log, of which nobody learns what another person has there.
  private static func unlessAnothers(_ column: String) -> String {
    "CASE WHEN kind <> 'user' OR actor = $1 THEN \(column) END"
  }

  private static let values = """
    (SELECT data FROM recipient_values
     WHERE recipient_values.notification = notification.id
       AND recipient_values.user_id = recipient.user_id)
    """
}

extension EngineTables {
  func personalRecords(
    in file: PersonalFile, of user: UserID, after: Int
  ) async throws -> PersonalPage {
    let limit = 500
    return try await database.read { connection in
      let table = file.table
      let columns = table.columns.map(\.column).joined(separator: ", ")
      let page =
        table.key.map { "AND \($0) > $2 ORDER BY \($0) LIMIT \(limit)" }
        ?? "AND CAST($2 AS bigint) IS NOT NULL"
      var found: [(number: Int?, members: [(name: String, value: String?)])] = []
      found = try connection.all(
        "SELECT \(table.key ?? "NULL"), \(columns) FROM \(table.rows) \(page)", user, after
      ) { row in
        let number = try row.next(Int?.self)
        return (number, try table.columns.map { ($0.member, try row.json($0.kind)) })
      }
      try connection.complete(&found, of: file, user)
      var records = PersonalPage()
      records.records = found.map { JSONText.object($0.members) }
      if found.count == limit, table.key != nil { records.next = found.last?.number }
      if [.notifications, .sent].contains(file) {
        records.media = try connection.media(of: found.compactMap(\.number), file, user)
      }
      return records
    }
  }
}

extension Row {
  /// The next column as a JSON text; nil for NULL.
  fileprivate mutating func json(_ kind: PersonalTable.Kind) throws -> String? {
    switch kind {
    case .text: try next(String?.self).map(JSONText.quoted)
    case .json: try next(String?.self)
    case .number: try next(Int?.self).map(String.init)
    case .flag: try next(Int?.self).map { $0 == 0 ? "false" : "true" }
    case .time: try next(Date?.self).map { JSONText.quoted($0.formatted(.iso8601)) }
    }
  }
}

extension Queryable {
  /// Adds to records what other tables have of them.
  fileprivate func complete(
    _ found: inout [(number: Int?, members: [(name: String, value: String?)])],
    of file: PersonalFile, _ user: UserID
  ) throws {
    switch file {
    case .devices:
      let tags = try all(
        """
        SELECT registration, tag FROM registration_tag
        WHERE registration IN (SELECT id FROM registration WHERE user_id = $1) ORDER BY tag
        """, user
      ) { row in (registration: try row.next(String.self), tag: try row.next(String.self)) }
      let lists = Dictionary(grouping: tags) { JSONText.quoted($0.registration) }
      for index in found.indices {
        let own = found[index].members.first?.value.flatMap { lists[$0] } ?? []
        found[index].members.append(("tags", JSONText.array(own.map(\.tag))))
      }
    case .notifications:
      let receipts = try all(
        """
        SELECT notification, registration, displayed, fetched, opened, read, dismissed
        FROM device_receipt WHERE notification \(isIn("$1")) AND user_id = $2
        """, found.compactMap(\.number), user
      ) { row in
        let (id, device): (Int, String) = (try row.next(), try row.next())
        var members = [(name: "registration", value: String?.some(JSONText.quoted(device)))]
        for state in ["displayed", "fetched", "opened", "read", "dismissed"] {
          members.append((state, try row.json(.time)))
        }
        return (id: id, json: JSONText.object(members))
      }
      let lists = Dictionary(grouping: receipts, by: \.id)
      for index in found.indices {
        guard let own = found[index].number.flatMap({ lists[$0] }) else { continue }
        let list = own.map(\.json).joined(separator: ",")
        found[index].members.append(("devices", "[\(list)]"))
      }
    default: break
    }
  }

  /// The content of notifications, if the user has sent them or is the only recipient.
  fileprivate func media(
    of notifications: [Int], _ file: PersonalFile, _ user: UserID
  ) throws -> [(blob: Blob, type: String?)] {
    let isSoles = """
      AND NOT EXISTS (
        SELECT 1 FROM recipient
        WHERE recipient.notification = notification.id AND recipient.user_id <> $2)
      """
    return try all(
      """
      SELECT blob, blob_size, blob_type FROM notification
      WHERE id \(isIn("$1")) AND blob IS NOT NULL
        \(file == .sent ? "AND sender = $2" : isSoles)
      """, notifications, user
    ) { row in
      let (digest, size): (Digest, Int?) = (try row.next(), try row.next())
      return (Blob(digest: digest, size: size ?? 0), try row.next(String?.self))
    }
  }
}
