import CPostgres
import Glibc

/// One session of a PostgreSQL server; prepared statements are cached.
///
/// Every call ends within its time limit. After a failure of the connection itself, `isBroken` is true and the
/// connection is of no further use.
///
/// `@unchecked Sendable`: one thread uses it at a time, which the pool and the writer see to.
final class PostgresConnection: PostgresQueryable, @unchecked Sendable {
  /// What a connection is for.
  enum Purpose {
    case reading
    case writing
    case listening
    /// Copying, checking and backing up, which take as long as they need.
    case maintenance
  }

  /// How long to wait for a connection.
  private static let connectTimeout = Duration.seconds(3)
  /// How long to wait for a statement; the server itself ends one a second earlier.
  private static let statementTimeout = Duration.seconds(5)

  /// How long to wait for a statement on a connection for maintenance; one without a server ends within seconds.
  private static let maintenanceTimeout = Duration.seconds(86_400)

  /// The C handle, for the parts of libpq that are in other files.
  let handle: OpaquePointer
  /// How long to wait for a statement.
  let timeout: Duration
  private var statements: [String: String] = [:]
  private var buffer = ParameterBuffer()
  /// The SQLSTATE of the last failed statement.
  private(set) var lastState = ""
  /// Whether the connection has failed.
  private(set) var isBroken = false
  /// Counts the statements that may have changed something.
  private(set) var writes = 0
  /// Counts what was sent to the server and waited for.
  private(set) var messages = 0

  /// Connects to the server at a URL (or a list of `keyword=value`), as libpq understands it.
  init(_ url: String, for purpose: Purpose) throws(StoreError) {
    timeout = purpose == .maintenance ? Self.maintenanceTimeout : Self.statementTimeout
    if let problem = cpostgres_load() { throw StoreError(.failed, String(cString: problem)) }
    // What the URL says has precedence.
    let defaults = [
      ("client_encoding", "UTF8"), ("application_name", "richpush"), ("keepalives_idle", "5"),
      ("keepalives_interval", "2"), ("keepalives_count", "3"), ("tcp_user_timeout", "5000"),
      ("target_session_attrs", "read-write"), ("dbname", url),
    ]
    var (keywords, values) = (ParameterBuffer(), ParameterBuffer())
    let opened = keywords.withPointers(to: defaults.map(\.0)) { keywords in
      values.withPointers(to: defaults.map(\.1)) { values in
        cpostgres_connect_start(keywords, values)
      }
    }
    guard let opened else { throw StoreError.unavailable("out of memory") }
    handle = opened
    try connect()
    cpostgres_configure(handle)
    try checkServer()
    try script(Self.settings(for: purpose))
  }

  deinit { cpostgres_finish(handle) }

  /// The password that was used; empty if there was none.
  var password: String { String(cString: cpostgres_password(handle)) }

  /// Whether a statement of the open transaction has failed, so that it can only be rolled back.
  var isInFailedTransaction: Bool {
    // PQTRANS_INERROR
    cpostgres_transaction_status(handle) == 3
  }

  /// Runs one or more statements without values, and ignores their rows.
  func script(_ sql: String) throws(StoreError) {
    guard cpostgres_send_query(handle, sql) == 1 else { throw broken() }
    _ = try result(within: timeout)
  }

  func execute(_ sql: String, _ values: [any PostgresParameter]) throws(StoreError)
    -> PostgresResult
  {
    let name = try prepared(sql)
    let isSent = buffer.withPointers(to: values) { pointers in
      cpostgres_send_query_prepared(handle, name, Int32(values.count), pointers) == 1
    }
    guard isSent else { throw broken() }
    let result = PostgresResult(try result(within: timeout))
    // WITH … UPDATE … SELECT is a SELECT to the server.
    if !result.isSelect || !sql.hasPrefix("SELECT") { writes += 1 }
    return result
  }

  /// Waits for a notification, or for the time limit; returns the payloads that have arrived.
  ///
  /// `interrupt` is a descriptor that ends the wait when it becomes readable.
  func notifications(
    within limit: Duration, interrupt: Int32
  ) throws(StoreError) -> [String] {
    var events = [pollfd(fd: cpostgres_socket(handle), events: Int16(POLLIN), revents: 0)]
    events.append(pollfd(fd: interrupt, events: Int16(POLLIN), revents: 0))
    if poll(&events, 2, Int32(limit / .milliseconds(1))) > 0, events[0].revents != 0,
      cpostgres_consume_input(handle) == 0
    {
      throw broken()
    }
    var payloads: [String] = []
    while let payload = cpostgres_next_notification(handle) {
      payloads.append(String(cString: payload))
      free(payload)
    }
    return payloads
  }

  /// The name of the prepared statement for this SQL.
  private func prepared(_ sql: String) throws(StoreError) -> String {
    if let name = statements[sql] { return name }
    let name = "s\(statements.count)"
    guard cpostgres_send_prepare(handle, name, sql) == 1 else { throw broken() }
    cpostgres_clear(try result(within: timeout))
    statements[sql] = name
    return name
  }
}

// MARK: - Connecting

extension PostgresConnection {
  private func connect() throws(StoreError) {
    let deadline = ContinuousClock.now + Self.connectTimeout
    var status = Int32(CPOSTGRES_POLLING_WRITING)
    while status != CPOSTGRES_POLLING_OK {
      guard status != CPOSTGRES_POLLING_FAILED else { throw broken() }
      let isWriting = status == CPOSTGRES_POLLING_WRITING
      try wait(for: isWriting ? POLLOUT : POLLIN, until: deadline)
      status = cpostgres_connect_poll(handle)
    }
  }

  private func checkServer() throws(StoreError) {
    func parameter(_ name: String) -> String {
      cpostgres_parameter_status(handle, name).map { String(cString: $0) } ?? ""
    }
    let version = parameter("server_version")
    guard let major = version.split(separator: ".").first.flatMap({ Int($0) }), major >= 14 else {
      throw StoreError(
        .failed, "PostgreSQL \(version) is too old; 14 is the oldest that can be used")
    }
    guard parameter("server_encoding") == "UTF8" else {
      throw StoreError(
        .failed,
        "the database's encoding is \(parameter("server_encoding")); "
          + "create one with ENCODING 'UTF8' TEMPLATE template0")
    }
  }

  /// A writing transaction ends by itself when its node is gone, so that no other waits for long.
  private static func settings(for purpose: Purpose) -> String {
    let all = """
      SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 3;
      SET statement_timeout = 4000;
      """
    switch purpose {
    case .listening: return all
    case .maintenance:
      return all + "SET statement_timeout = 0; SET lock_timeout = 10000;" + durable
    case .reading: return all + "SET default_transaction_read_only = on"
    case .writing:
      return all + """
        SET lock_timeout = 3000; SET idle_in_transaction_session_timeout = 5000;
        SET default_transaction_isolation = 'read committed';
        """ + durable
    }
  }

  /// What was acknowledged survives a power cut, whatever the server's default is.
  private static let durable = """
    SELECT set_config('synchronous_commit', 'on', false)
    WHERE current_setting('synchronous_commit') = 'off'
    """
}

// MARK: - Waiting

extension PostgresConnection {
  /// The last result of what was sent; throws if any is an error.
  private func result(within limit: Duration) throws(StoreError) -> OpaquePointer {
    messages += 1
    let deadline = ContinuousClock.now + limit
    var (last, failure): (OpaquePointer?, StoreError?) = (nil, nil)
    do {
      try flush(until: deadline)
      while let next = try nextResult(until: deadline) {
        if let failed = error(in: next) {
          failure = failure ?? failed
          cpostgres_clear(next)
        } else {
          last.map(cpostgres_clear)
          last = next
        }
      }
    } catch {
      last.map(cpostgres_clear)
      throw error
    }
    if let failure {
      last.map(cpostgres_clear)
      if cpostgres_status(handle) != CPOSTGRES_OK { isBroken = true }
      throw failure
    }
    guard let last else { throw broken() }
    return last
  }

  /// Returns once everything was sent.
  func flush(until deadline: ContinuousClock.Instant) throws(StoreError) {
    while case let left = cpostgres_flush(handle), left != 0 {
      guard left > 0 else { throw broken() }
      try wait(for: POLLIN | POLLOUT, until: deadline)
      // A server that sends while it receives waits for us to read.
      guard cpostgres_consume_input(handle) == 1 else { throw broken() }
    }
  }

  /// The next result of what was sent; nil after the last.
  func nextResult(until deadline: ContinuousClock.Instant) throws(StoreError)
    -> OpaquePointer?
  {
    while cpostgres_is_busy(handle) == 1 {
      try wait(for: POLLIN, until: deadline)
      guard cpostgres_consume_input(handle) == 1 else { throw broken() }
    }
    return cpostgres_get_result(handle)
  }

  /// Waits until the socket can be read or written.
  func wait(
    for events: Int32, until deadline: ContinuousClock.Instant
  ) throws(StoreError) {
    while true {
      let left = deadline - .now
      var descriptor = pollfd(
        fd: cpostgres_socket(handle), events: Int16(events), revents: 0)
      guard left > .zero else {
        isBroken = true
        throw StoreError.unavailable("the server does not respond")
      }
      if poll(&descriptor, 1, Int32((left / .milliseconds(1)).rounded(.up))) > 0 { return }
    }
  }

  /// What a result says if it is an error.
  func error(in result: OpaquePointer) -> StoreError? {
    let successes = [
      CPOSTGRES_COMMAND_OK, CPOSTGRES_TUPLES_OK, CPOSTGRES_COPY_IN, CPOSTGRES_COPY_OUT,
    ]
    let status = cpostgres_result_status(result)
    guard !successes.contains(where: { $0 == status }) else { return nil }
    let message =
      cpostgres_result_message(result).map { String(cString: $0) }
      ?? Self.oneLine(cpostgres_error_message(handle))
    guard let state = cpostgres_result_state(result) else {
      isBroken = true
      return .unavailable(message)
    }
    lastState = String(cString: state)
    return StoreError(sqlState: lastState, message)
  }

  /// Marks the connection as failed, and says why.
  func broken() -> StoreError {
    isBroken = true
    return .unavailable(Self.oneLine(cpostgres_error_message(handle)))
  }

  private static func oneLine(_ message: UnsafePointer<CChar>) -> String {
    String(cString: message).split(whereSeparator: \.isNewline)
      .map { $0.drop { $0.isWhitespace } }.joined(separator: "; ")
  }
}

/// Parameters in text form, each ended by a zero byte, and where they begin.
private struct ParameterBuffer {
  private var bytes: [UInt8] = []
  private var starts: [Int?] = []

  /// Calls `body` with the parameters, nil for NULL, and one more nil, which ends a list of keywords.
  mutating func withPointers<R>(
    to values: [any PostgresParameter],
    _ body: (UnsafeMutablePointer<UnsafePointer<CChar>?>) -> R
  ) -> R {
    bytes.removeAll(keepingCapacity: true)
    starts.removeAll(keepingCapacity: true)
    for value in values {
      let start = bytes.count
      let isNull = !value.append(to: &bytes)
      starts.append(isNull ? nil : start)
      bytes.append(0)
    }
    return bytes.withUnsafeBytes { bytes in
      var pointers = (starts + [nil]).map { start in
        start.flatMap { bytes.baseAddress?.advanced(by: $0).assumingMemoryBound(to: CChar.self) }
      }
      return body(&pointers)
    }
  }
}
