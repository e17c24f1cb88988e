import FoundationEssentials
import Primitives

extension EngineTables {
  func add(_ new: InteractionInsert) async throws -> InteractionResult {
    let now = now()
    return try await database.write { transaction in
      // Two nodes do not store the same one at the same time.
      guard try transaction.lockQuota(of: new.user),
        try transaction.isRecipient(new.user, of: new.notification, at: now)
      else { return .notFound }
      let (device, key) = (new.device ?? "", new.key ?? new.action)
      let earlier = try transaction.first(
        """
        SELECT action, text FROM interaction
        WHERE user_id = $1 AND notification = $2 AND registration = $3 AND event = $4 AND key = $5
        """, new.user, new.notification, device, new.event.rawValue, key
      ) { row in (action: try row.next(String.self), text: try row.next(String?.self)) }
      if let earlier {
        guard earlier == (new.action, new.text) else { throw StoreError.otherReply }
        return .repeated
      }
      if new.event == .reply {
        let count = try transaction.value(
          """
          SELECT count(*) FROM interaction
          WHERE user_id = $1 AND notification = $2 AND registration = $3 AND event = 'reply'
          """, new.user, new.notification, device, as: Int.self)
        if count ?? 0 >= UserQuota.replies { throw StoreError.tooManyReplies }
      }
      let id = try transaction.value(
        """
        INSERT INTO interaction(notification, user_id, registration, event, key, action, text, created)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id
        """, new.notification, new.user, device, new.event.rawValue, key, new.action, new.text, now,
        as: Int.self)
      let sender = try transaction.value(
        "SELECT sender FROM notification WHERE id = $1", new.notification, as: UserID?.self)
      try transaction.add(.interaction(new, id: id, sender: sender ?? nil, at: now))
      try transaction.count(
        new.event == .reply ? .replies : .actions, of: new.notification, at: now)
      return .added
    }
  }

  func interactions(
    of notification: Int, after: Int, limit: Int
  ) async throws -> [StoredInteraction] {
    try await database.read { connection in
      try connection.all(
        """
        SELECT interaction.id, name, registration, event, action, text, interaction.created
        FROM interaction JOIN users ON users.id = user_id
        WHERE notification = $1 AND interaction.id > $2 ORDER BY interaction.id LIMIT $3
        """, notification, after, max(0, limit), as: StoredInteraction.init)
    }
  }
}

extension NewEvent {
  /// The event that tells of an interaction; it is removed with it.
  fileprivate static func interaction(
    _ new: InteractionInsert, id: Int?, sender: UserID?, at time: Date
  ) -> Self {
    let texts = [new.device, new.action, new.text].map { $0.map(JSONText.quoted) ?? "null" }
    let reply = new.event == .reply ? ",\"text\":\(texts[2])" : ""
    return Self(
      type: "interaction", publisher: sender, user: new.user, notification: new.notification,
      data: "{\"notification\":\(new.notification),\(noUser),\"device\":\(texts[0]),"
        + "\"event\":\"\(new.event.rawValue)\",\"action\":\(texts[1])\(reply)}",
      time: time, interaction: id)
  }
}

extension StoreError {
  /// The key of a reply belongs to another one.
  fileprivate static let otherReply = StoreError(
    .conflict, "the key belongs to another reply of this device")
}
