/// A table that `store migrate` copies from SQLite to PostgreSQL, and how its columns
/// correspond.
///
/// A column or table that is neither here nor among ``leftOut`` fails a test, so that a new one is not forgotten.
struct MigratedTable: Sendable {
  /// Its name in both.
  let name: String
  /// The columns of its primary key, in whose order it is copied.
  let key: [String]
  /// The columns in SQLite, or expressions of them.
  let sourceColumns: [String]
  /// The columns in PostgreSQL, in the same order.
  let targetColumns: [String]
  /// Which rows are copied, if not all.
  let condition: String?

  /// Describes a table; `columns` are the same in both, and `derived` are columns of PostgreSQL with the expressions
  /// that they come from.
  private init(
    _ name: String, key: String..., columns: String,
    derived: KeyValuePairs<String, String> = [:], where condition: String? = nil
  ) {
    (self.name, self.key, self.condition) = (name, key, condition)
    let same = columns.split(separator: " ").map(String.init)
    sourceColumns = same + derived.map(\.value)
    targetColumns = same + derived.map(\.key)
  }

  /// All tables, each after those that it refers to.
  static let all = [
    MigratedTable(
      "users", key: "id",
      columns: "id name hash role created max_devices own_sent own_since"),
    MigratedTable("user_attribute", key: "user_id", "name", columns: "user_id name value"),
    MigratedTable(
      "session", key: "id",
      columns: "id hash user_id created used user_agent issuer provider_session id_token"),
    MigratedTable(
      "provider_identity", key: "issuer", "subject", columns: "issuer subject user_id created"),
    MigratedTable("used_sign_in", key: "hash", columns: "hash used"),
    MigratedTable(
      "access_token", key: "id",
      columns:
        "id user_id name hash audience receipts assets status audit rate created expires used used_from"
    ),
    MigratedTable("webhook", key: "token", columns: "token template secret"),
    MigratedTable(
      "webhook_delivery", key: "id",
      columns: "id webhook digest fields body reason failed"),
    MigratedTable(
      "draft", key: "id",
      columns: "id name content template version author editor created updated asset"),
    MigratedTable(
      "segment", key: "name", columns: "name content version author editor created updated"),
    MigratedTable(
      "pairing", key: "id", columns: "id user_id hash short_hash created expires ended"),
    MigratedTable("sign_up", key: "user_id", columns: "user_id subjects created waiting"),
    MigratedTable(
      "registration", key: "id",
      columns: "id user_id platform handle updated keys lane name created credential user_agent "
        + "contact ended ended_by language time_zone quiet_hours"),
    MigratedTable("registration_tag", key: "tag", "registration", columns: "tag registration"),
    MigratedTable("device_token", key: "hash", columns: "hash created registration"),
    MigratedTable(
      "notification", key: "id",
      columns: "id message rich_type payload sender audience details blob blob_size blob_type "
        + "created not_before expires form withdrawn held replaced members replaces replaced_by focus "
        + "asset_alt local_time awaits people emptied per_minute"),
    MigratedTable(
      "approval", key: "notification", columns: "notification user_id reason created"),
    MigratedTable(
      "amendment", key: "id", columns: "id notification editor earlier created"),
    MigratedTable(
      "idempotency", key: "sender", "key", columns: "sender key request notification"),
    MigratedTable(
      "published_file", key: "folder", "path",
      columns: "folder path sidecar content notification published"),
    MigratedTable(
      "notification_count", key: "notification",
      columns: "notification recipients reached fetched read queued sent failed "
        + "displayed opened dismissed actions replies "
        + "first_sent first_fetched first_read first_displayed first_opened"),
    MigratedTable(
      "recipient", key: "user_id", "notification",
      columns: "user_id notification sent fetched read displayed opened dismissed kept hidden due"),
    MigratedTable(
      "recipient_values", key: "notification", "user_id", columns: "notification user_id data"),
    MigratedTable(
      "device_receipt", key: "notification", "user_id", "registration",
      columns: "notification user_id registration fetched read displayed opened dismissed"),
    MigratedTable(
      "interaction", key: "id",
      columns: "id notification user_id registration event key action text created"),
    MigratedTable(
      "push_event", key: "sequence", columns: "sequence user_id notification data created"),
    MigratedTable("held_event", key: "notification", "due", columns: "notification due data"),
    MigratedTable("due_audience", key: "notification", columns: "notification segment"),
    MigratedTable(
      "event", key: "sequence",
      columns: "sequence token type publisher user_id notification data created interaction"),
    MigratedTable(
      "push", key: "id",
      columns:
        "id notification lane kind message members form media collapse expires urgent scheduled"),
    MigratedTable(
      "job", key: "id",
      columns: "id push lane token user_id registration audience collapse state attempts due owner "
        + "updated sent_as reference reason refused refused_since quiet"),
    MigratedTable(
      "lane_pause", key: "lane", "settings",
      columns: "lane settings since until reason probes trials stopped"),
    MigratedTable(
      "audience_part", key: "id", columns: "id notification push event due first last data",
      derived: [
        // A list of numbers, as the text form of an array.
        "users": "CASE WHEN push IS NULL THEN '{' || trim(members, '[]') || '}' END",
        "devices": "CASE WHEN push IS NOT NULL THEN members END",
      ]),
    MigratedTable("daily_push", key: "user_id", "subject", columns: "user_id subject sent"),
    MigratedTable("erasure", key: "user_id", columns: "user_id name begun"),
    MigratedTable("erased_content", key: "source", columns: "source erased"),
    MigratedTable("erased_object", key: "source", columns: "source blob"),
    MigratedTable("link_key", key: "id", columns: "id secret created"),
    MigratedTable("vapid_key", key: "id", columns: "id secret created"),
    MigratedTable(
      "asset", key: "rich_type", "name",
      columns: "rich_type name state reason blob bytes type details stamp modified updated folded "
        + "alt focus focus_of ordered labels"),
    MigratedTable(
      "asset_version", key: "rich_type", "name", "blob",
      columns: "rich_type name blob type bytes modified alt focus labels ended"),
    MigratedTable(
      "audit", key: "id",
      columns: "id time kind actor credential credential_id address request share action object "
        + "object_id owner detail count"),
    MigratedTable(
      "counter", key: "name", columns: "name next", where: "name <> '\(notificationCounter)'"),
  ]

  /// The counter of notifications in SQLite, a sequence in PostgreSQL.
  static let notificationCounter = "notification"

  /// What is not copied as it is: columns by `table.column`, and tables.
  static let leftOut: (source: Set<String>, target: Set<String>) = (
    // Divided by `derived`; the numbers of ``MigrationNumbers``; made anew.
    ["audience_part.members", "sqlite_sequence", "ticket_key"],
    // Derived from other columns; the numbers of ``MigrationNumbers``; kept by the schema itself; only of several nodes;
    // made anew.
    ["job.line", "event_counter", "schema_version", "file_removal", "ticket_key"]
  )

  /// The tables in PostgreSQL whose next number follows from the largest so far.
  static let numbered = [
    "users", "session", "access_token", "webhook_delivery", "draft", "pairing", "amendment",
    "interaction",
    "push", "job", "audience_part", "link_key", "audit",
  ]
}

/// The numbers from which new rows go on.
struct MigrationNumbers: Equatable, Sendable {
  /// The next notification.
  var notification = 0
  /// The last push event, and the last event for publishers.
  var (pushEvent, event) = (0, 0)
  /// The last number of each of ``MigratedTable/numbered``, 0 if there was none.
  var last: [String: Int] = [:]
}

/// The rows of a table without their order: their number, and the sum of their SHA-256.
struct TableSummary: Equatable, Sendable {
  private(set) var rows = 0
  private var sum: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

  /// Adds a row, as ``CopyLine`` has it.
  mutating func add(_ line: UnsafeRawBufferPointer) {
    rows += 1
    let words = Digest.words(of: line)
    sum = (sum.0 &+ words.0, sum.1 &+ words.1, sum.2 &+ words.2, sum.3 &+ words.3)
  }

  /// The sum, in hexadecimal.
  var checksum: String {
    [sum.0, sum.1, sum.2, sum.3].map { word in
      let digits = String(word, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }

  static func == (one: TableSummary, other: TableSummary) -> Bool {
    one.rows == other.rows && one.sum == other.sum
  }
}
