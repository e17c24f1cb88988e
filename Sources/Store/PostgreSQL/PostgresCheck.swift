extension PostgresConnection {
  /// Checks what the server does not by itself; reads all rows, so it is for a connection for maintenance.
  func check() throws -> DatabaseFindings {
    var findings = DatabaseFindings()
    findings.problems += try invalidIndexes().map {
      "the index \($0) is invalid and not used; REINDEX INDEX \($0) makes it anew"
    }
    findings.problems += try danglingRows() + wrongNumbers()
    try checkFiles(&findings)
    return findings
  }

  /// Indexes that were not built to the end, such as those of a CREATE INDEX CONCURRENTLY that failed.
  private func invalidIndexes() throws -> [String] {
    try column(
      """
      SELECT indexrelid::regclass::text FROM pg_index JOIN pg_class ON oid = indexrelid
      WHERE relnamespace = quote_ident(current_schema())::regnamespace
        AND NOT (indisvalid AND indisready) ORDER BY 1
      """)
  }

  /// Rows that refer to nothing, which are possible after constraints were switched off, as some restores do.
  private func danglingRows() throws -> [String] {
    var problems: [String] = []
    let references = try all(
      """
      SELECT conrelid::regclass::text, quote_ident(referring.attname),
        confrelid::regclass::text, quote_ident(referred.attname)
      FROM pg_constraint
        JOIN pg_attribute AS referring ON referring.attrelid = conrelid AND referring.attnum = conkey[1]
        JOIN pg_attribute AS referred ON referred.attrelid = confrelid AND referred.attnum = confkey[1]
      WHERE contype = 'f' AND connamespace = quote_ident(current_schema())::regnamespace ORDER BY 1, 2
      """
    ) { ($0 as String, $1 as String, $2 as String, $3 as String) }
    if references.isEmpty { problems.append("the tables have no foreign keys: restore a backup") }
    for (table, column, target, key) in references {
      let count =
        try value(
          """
          SELECT count(*) FROM \(table) AS row WHERE \(column) IS NOT NULL
            AND NOT EXISTS (SELECT 1 FROM \(target) AS target WHERE target.\(key) = row.\(column))
          """, as: Int.self) ?? 0
      if count > 0 { problems.append("\(count) rows of \(table) refer to no \(target)") }
    }
    let uncounted =
      try value(
        """
        SELECT count(*) FROM notification
        WHERE NOT EXISTS (SELECT 1 FROM notification_count WHERE notification = notification.id)
        """, as: Int.self) ?? 0
    if uncounted > 0 { problems.append("\(uncounted) notifications have no counts") }
    return problems
  }

  /// Numbers that were given, but would be given again.
  private func wrongNumbers() throws -> [String] {
    var problems: [String] = []
    var numbers = [
      ("push_event", "sequence", "SELECT max(push_event) FROM event_counter"),
      ("event", "sequence", "SELECT max(event) FROM event_counter"),
      (
        "notification", "id",
        "SELECT last_value - CASE WHEN is_called THEN 0 ELSE 1 END FROM notification_id"
      ),
    ]
    numbers += MigratedTable.numbered.map {
      ($0, "id", "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM \($0)_id_seq")
    }
    for (table, number, last) in numbers {
      let isTooSmall = try value(
        "SELECT max(\(number)) > coalesce((\(last)), 0) FROM \(table)", as: Bool?.self)
      if isTooSmall == .some(true) {
        problems.append("the next number of \(table) is in use; nothing can be added there")
      }
    }
    for table in ["event_counter", "vapid_key"] {
      let count = try value("SELECT count(*) FROM \(table)", as: Int.self)
      if count != 1 { problems.append("\(table) has \(count ?? 0) rows instead of 1") }
    }
    return problems
  }

  /// Compares tables and indexes by the functions of the extension that pg_amcheck uses.
  private func checkFiles(_ findings: inout DatabaseFindings) throws {
    let schema = try value(
      """
      SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace
      WHERE extname = 'amcheck' AND NOT EXISTS (
        SELECT 1 FROM pg_proc WHERE pronamespace = extnamespace
          AND proname IN ('bt_index_check', 'verify_heapam')
          AND NOT has_function_privilege(pg_proc.oid, 'EXECUTE'))
      """, as: String.self)
    guard let schema else {
      findings.notes.append(
        "the server's files were not read: create the extension amcheck in the database and grant "
          + "its functions to this role, or use pg_amcheck")
      return
    }
    let relations = try all(
      """
      SELECT pg_class.oid::bigint, pg_class.oid::regclass::text, relkind = 'i'
      FROM pg_class LEFT JOIN pg_am ON pg_am.oid = relam LEFT JOIN pg_index ON indexrelid = pg_class.oid
      WHERE relnamespace = quote_ident(current_schema())::regnamespace
        AND (relkind = 'r' OR relkind = 'i' AND indisvalid AND amname = 'btree') ORDER BY 2
      """
    ) { ($0 as Int, $1 as String, $2 as Bool) }
    for (id, name, isIndex) in relations {
      do {
        if isIndex {
          _ = try execute("SELECT \(schema).bt_index_check($1::oid::regclass, true)", [id])
        } else {
          let messages: [String] = try column(
            "SELECT DISTINCT msg FROM \(schema).verify_heapam($1::oid::regclass) LIMIT 3", id)
          findings.problems += messages.map { "\(name) is damaged: \($0)" }
        }
      } catch let error as StoreError where error.code == .damaged {
        findings.problems.append("\(name): \(error.reason)")
      }
    }
  }
}
