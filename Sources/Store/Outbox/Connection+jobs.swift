import FoundationEssentials

extension Connection {
  /// Writes a push and its jobs; they wait for their lane from then on.
  func insert(
    _ new: NewPush, notification: Int?, due: Date, expires: Date?, created: Date
  ) throws {
    let id = notification ?? 0
    let collapse = new.collapseID?(id)
    let push: Int? = try value(
      """
      INSERT INTO push(notification, lane, kind, text, fallback, collapse, expires)
      VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id
      """, notification, new.lane, new.kind, new.text(id), new.fallback?(id), collapse, expires)
    switch new.target {
    case .audience(let expression, let user):
      try run(
        """
        INSERT INTO job(push, lane, token, user, audience, collapse, state, due, updated)
        VALUES (?, ?, ?, ?, ?, ?, 'queued', ?, ?)
        """, push, new.lane, Self.token(), user, expression, collapse, due, created)
    case .devices(let registrations):
      for registration in registrations {
        try run(
          """
          INSERT INTO job(push, lane, token, user, registration, collapse, state, due, updated)
          SELECT ?, ?, ?, user, id, ?, 'queued', ?, ? FROM registration WHERE id = ?
          """, push, new.lane, Self.token(), collapse, due, created, registration)
      }
    }
  }

  /// A new lower-case UUID, by which a device can tell a repetition.
  private static func token() -> String {
    UUID().uuidString.lowercased()
  }
}
