import CPostgres
import Glibc

/// One session of a PostgreSQL server; prepared statements are cached.
///
/// Statements whose results are not needed at once are sent together with the next one whose result is
/// (libpq's pipeline mode): that is one message to the server and one wait, however many they are.
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
  /// The names of prepared statements by their SQL.
  private var statements: [String: String] = [:]
  private var prepareCount = 0
  private var buffer = ParameterBuffer()
  /// What was sent and has not been waited for.
  private var pending: [Pending] = []
  /// The SQLSTATE of the last failed statement.
  private(set) var lastState = ""
  /// Whether the connection has failed.
  private(set) var isBroken = false
  /// Counts the waits for the server.
  private(set) var messages = 0
  /// Counts the statements, of which one or more are waited for at once.
  private(set) var statementCount = 0
  /// Counts the waits that ended with an error.
  private(set) var failures = 0

  private struct Pending {
    /// The SQL, if this prepares a statement.
    var preparing: String?
    var receive: ResultHandler?
  }

  /// Gets the result of a statement that was sent.
  typealias ResultHandler = (borrowing PostgresResult) throws -> Void

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
  var isInFailedTransaction: Bool { cpostgres_transaction_status(handle) == CPOSTGRES_IN_ERROR }

  /// Runs one or more statements without values, and ignores their rows.
  func script(_ sql: String) throws(StoreError) {
    try synchronize()
    guard cpostgres_send_query(handle, sql) == 1 else { throw broken() }
    try receiveScript()
  }

  /// Sends a statement with the next one that is waited for.
  ///
  /// An error is that of the next wait. If there is none, `receive` gets the result then.
  func send(
    _ sql: String, _ values: [any Parameter], receive: ResultHandler? = nil
  ) throws(StoreError) {
    if pending.isEmpty, cpostgres_enter_pipeline_mode(handle) != 1 { throw broken() }
    let name = try prepared(sql)
    let isSent = buffer.withPointers(to: values) { pointers in
      cpostgres_send_query_prepared(handle, name, Int32(values.count), pointers) == 1
    }
    guard isSent else { throw broken() }
    statementCount += 1
    pending.append(Pending(receive: receive))
  }

  func execute(_ sql: String, _ values: [any Parameter]) throws(StoreError)
    -> PostgresResult
  {
    try send(sql, values)
    return try receive()
  }

  /// Whether a result is received with the next wait.
  var awaitsResults: Bool { pending.contains { $0.receive != nil } }

  /// Waits for what was sent.
  func synchronize() throws(StoreError) {
    if !pending.isEmpty { _ = try receive() }
  }

  /// Runs `body` with plans made for the values of its statements, if the best plan depends on them.
  func planningForValues<R>(_ body: () throws -> R) throws -> R {
    try send("SET plan_cache_mode = force_custom_plan", [])
    // Sent with the next statement.
    defer { try? send("SET plan_cache_mode = force_generic_plan", []) }
    return try body()
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
    prepareCount += 1
    let name = "s\(prepareCount)"
    guard cpostgres_send_prepare(handle, name, sql) == 1 else { throw broken() }
    statements[sql] = name
    pending.append(Pending(preparing: sql))
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
    case .reading: return all + fewPlans + "SET default_transaction_read_only = on"
    case .writing:
      return all + fewPlans + """
        SET lock_timeout = 3000; SET idle_in_transaction_session_timeout = 5000;
        SET default_transaction_isolation = 'read committed';
        """ + durable
    }
  }

  /// Planning a statement for its values takes longer than running it: plans are made once and kept.
  private static let fewPlans = "SET plan_cache_mode = force_generic_plan; SET jit = off;"

  /// What was acknowledged survives a power cut, whatever the server's default is.
  private static let durable = """
    SELECT set_config('synchronous_commit', 'on', false)
    WHERE current_setting('synchronous_commit') = 'off'
    """
}

// MARK: - Waiting

extension PostgresConnection {
  /// Waits for the results of a script; throws if any is an error.
  private func receiveScript() throws(StoreError) {
    messages += 1
    let deadline = ContinuousClock.now + timeout
    var failure: StoreError?
    try flush(until: deadline)
    while let result = try nextResult(until: deadline) {
      let failed = error(in: result)
      failure = failure ?? failed
      cpostgres_clear(result)
    }
    if let failure { throw failed(failure) }
  }

  /// Waits for the results of all that was sent and returns the last one; throws the first error.
  private func receive() throws(StoreError) -> PostgresResult {
    messages += 1
    let sent = pending
    pending = []
    var results: [OpaquePointer] = []
    defer { for result in results { cpostgres_clear(result) } }
    try receive(sent, into: &results)
    results.reverse()
    for statement in sent {
      guard let next = results.popLast() else { break }
      let result = PostgresResult(next)
      do { try statement.receive?(result) } catch {
        throw failed(error as? StoreError ?? StoreError(.failed, "\(error)"))
      }
      if results.isEmpty { return result }
    }
    throw broken()
  }

  private func receive(
    _ sent: [Pending], into results: inout [OpaquePointer]
  ) throws(StoreError) {
    let deadline = ContinuousClock.now + timeout
    guard cpostgres_pipeline_sync(handle) == 1 else { throw broken() }
    try flush(until: deadline)
    var failure: StoreError?
    for statement in sent {
      guard let result = try nextResult(until: deadline) else { throw failed(failure ?? broken()) }
      results.append(result)
      if let failed = error(in: result) {
        failure = failure ?? failed
        if let sql = statement.preparing { statements[sql] = nil }
      }
      // Each statement's results end with NULL.
      while let more = try nextResult(until: deadline) { cpostgres_clear(more) }
    }
    if isBroken, let failure { throw failed(failure) }
    guard let end = try nextResult(until: deadline) else { throw failed(failure ?? broken()) }
    cpostgres_clear(end)
    if let failure { throw failed(failure) }
    guard cpostgres_exit_pipeline_mode(handle) == 1 else { throw broken() }
  }

  /// Counts a failure, and notices whether the connection has failed.
  private func failed(_ error: StoreError) -> StoreError {
    failures += 1
    if cpostgres_status(handle) != CPOSTGRES_OK { isBroken = true }
    if !isBroken, cpostgres_exit_pipeline_mode(handle) != 1 { isBroken = true }
    return error
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
    if status == CPOSTGRES_PIPELINE_ABORTED {
      // One before it in the pipeline has failed.
      return StoreError(.failed, "the statement was not run")
    }
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
    failures += 1
    isBroken = true
    return .unavailable(Self.oneLine(cpostgres_error_message(handle)))
  }

  private static func oneLine(_ message: UnsafePointer<CChar>) -> String {
    String(cString: message).split(whereSeparator: \.isNewline)
      .map { $0.drop { $0.isWhitespace } }.joined(separator: "; ")
  }
}
