package import FoundationEssentials

extension Store {
  /// Tells the listening devices of every notification whose time has come, each once.
  ///
  /// Gives the time of the next one, or nil while none waits. Whoever runs it, and however often:
  /// the event and its end of waiting are one commit.
  package func announceDue() async throws -> Date? {
    let next = try database.read { connection in
      try connection.value("SELECT min(due) FROM held_event", as: Date?.self) ?? nil
    }
    guard let next, next <= now() else { return next }
    let moment = now()
    let recipients = try await database.write { connection in
      let recipients = try connection.all(
        """
        INSERT INTO push_event(user, notification, data, created)
        SELECT user.id, held_event.notification, data, ?1
        FROM held_event JOIN recipient ON recipient.notification = held_event.notification
          JOIN user ON user.id = recipient.user
        WHERE due <= ?1 ORDER BY due, held_event.notification, user.id RETURNING user
        """, moment
      ) { try $0.next(UserID.self) }
      try connection.run("DELETE FROM held_event WHERE due <= ?", moment)
      return recipients
    }
    tellPushObserver(Array(Set(recipients)))
    return try await announceDue()
  }

  /// Hurries those who bring what was just committed to the devices.
  func tellObservers(of new: NewNotification, to recipients: [UserID]) {
    if new.push != nil, new.notBefore.map({ $0 <= now() }) ?? true { tellPushObserver(recipients) }
    outbox.tellObserver(Set(new.pushes.map(\.lane)))
  }
}

extension Connection {
  /// Writes the push events and the jobs of a notification, for now or for its time.
  func announce(
    _ new: NewNotification, as id: Int, to recipients: [UserID], at moment: Date
  ) throws {
    let due = max(new.notBefore ?? moment, moment)
    if let data = new.push?(id) {
      if due > moment {
        try run(
          "INSERT INTO held_event(notification, due, data) VALUES (?, ?, ?)", id, due, data)
      } else {
        try insertPushEvents(for: recipients, notification: id, data: data, created: moment)
      }
    }
    for push in new.pushes {
      try insert(push, notification: id, due: due, expires: new.expires, created: moment)
    }
  }

  /// Calls off what has not been sent of a notification.
  func callOff(_ notification: Int, at moment: Date) throws {
    try run(
      """
      UPDATE job SET state = 'cancelled', updated = ?
      WHERE state = 'queued' AND push IN (SELECT id FROM push WHERE notification = ?)
      """, moment, notification)
    try run("DELETE FROM held_event WHERE notification = ?", notification)
  }
}
