extension Schema {
  /// Everything that belonged to a user's name now belongs to a number that no other user gets.
  ///
  /// A name that is no user's (a guest of the demonstration, somebody who was removed, a name that a
  /// notification was addressed to in advance) becomes a guest, who has no password.
  static let usersHaveNumbers = """
    \(dropTriggers)
    CREATE TABLE numbered_user(
      id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, hash TEXT,
      role TEXT NOT NULL, created INTEGER NOT NULL
    ) STRICT;
    INSERT INTO numbered_user(name, hash, role, created)
      SELECT name, hash, role, created FROM user ORDER BY created, name;
    INSERT OR IGNORE INTO numbered_user(name, role, created)
      SELECT user, 'device', 0 FROM (
        SELECT user FROM recipient UNION SELECT user FROM registration
        UNION SELECT user FROM push_event UNION SELECT user FROM job
        UNION SELECT user FROM device_receipt UNION SELECT sender FROM notification
        UNION SELECT sender FROM idempotency UNION SELECT publisher FROM event
      ) WHERE user <> '';
    DROP TABLE user;
    ALTER TABLE numbered_user RENAME TO user;
    INSERT INTO counter VALUES ('user changes', 0);

    CREATE TABLE numbered_recipient(
      user INTEGER NOT NULL,
      notification INTEGER NOT NULL REFERENCES notification ON DELETE CASCADE,
      fetched INTEGER, read INTEGER, sent INTEGER,
      PRIMARY KEY (user, notification)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO numbered_recipient
      SELECT user.id, notification, fetched, read, sent
      FROM recipient JOIN user ON user.name = recipient.user ORDER BY 1, 2;
    DROP TABLE recipient;
    ALTER TABLE numbered_recipient RENAME TO recipient;
    CREATE INDEX recipient_of_notification ON recipient(notification);
    CREATE INDEX unread ON recipient(user, notification) WHERE read IS NULL;

    CREATE TABLE numbered_device_receipt(
      notification INTEGER NOT NULL REFERENCES notification ON DELETE CASCADE,
      user INTEGER NOT NULL, registration TEXT NOT NULL, fetched INTEGER, read INTEGER,
      PRIMARY KEY (notification, user, registration)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO numbered_device_receipt
      SELECT notification, user.id, registration, fetched, read
      FROM device_receipt JOIN user ON user.name = device_receipt.user;
    DROP TABLE device_receipt;
    ALTER TABLE numbered_device_receipt RENAME TO device_receipt;

    CREATE TABLE numbered_idempotency(
      sender INTEGER NOT NULL, key TEXT NOT NULL, request TEXT NOT NULL,
      notification INTEGER NOT NULL REFERENCES notification ON DELETE CASCADE,
      PRIMARY KEY (sender, key)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO numbered_idempotency
      SELECT coalesce(user.id, 0), key, request, notification
      FROM idempotency LEFT JOIN user ON user.name = sender;
    DROP TABLE idempotency;
    ALTER TABLE numbered_idempotency RENAME TO idempotency;
    CREATE INDEX idempotency_of_notification ON idempotency(notification);

    DROP INDEX registration_of_user;
    \(number("user", of: "registration", default: "NOT NULL DEFAULT 0"))
    \(number("user", of: "job"))
    \(number("sender", of: "notification"))
    CREATE INDEX registration_of_user ON registration(user);

    CREATE TABLE numbered_push_event(
      sequence INTEGER PRIMARY KEY AUTOINCREMENT, user INTEGER NOT NULL,
      notification INTEGER REFERENCES notification ON DELETE CASCADE,
      data TEXT NOT NULL, created INTEGER NOT NULL
    ) STRICT;
    INSERT INTO numbered_push_event
      SELECT sequence, (SELECT id FROM user WHERE name = push_event.user), notification, data, created
      FROM push_event ORDER BY sequence;
    \(replace("push_event"))
    CREATE INDEX push_event_of_user ON push_event(user, sequence);
    CREATE INDEX push_event_of_notification ON push_event(notification);

    CREATE TABLE numbered_event(
      sequence INTEGER PRIMARY KEY AUTOINCREMENT,
      token TEXT NOT NULL DEFAULT (lower(hex(randomblob(16)))),
      type TEXT NOT NULL, publisher INTEGER, user INTEGER, data TEXT NOT NULL,
      created INTEGER NOT NULL
    ) STRICT;
    INSERT INTO numbered_event
      SELECT sequence, token, type, (SELECT id FROM user WHERE user.name = publisher),
        iif(old.name IS NULL, NULL,
          coalesce((SELECT id FROM user WHERE user.name = old.name), 0)),
        iif(old.name IS NULL, data, json_set(data, '$.user', NULL)), created
      FROM (SELECT *, iif(type = 'receipt', data ->> '$.user', NULL) AS name FROM event) AS old
      ORDER BY sequence;
    \(replace("event"))
    CREATE INDEX event_of_publisher ON event(publisher, sequence);
    \(createTriggers)
    """

  /// A column of names becomes one of numbers.
  private static func number(_ column: String, of table: String, default rule: String = "")
    -> String
  {
    """
    ALTER TABLE \(table) ADD COLUMN numbered INTEGER \(rule);
    UPDATE \(table) SET numbered = (SELECT id FROM user WHERE name = \(table).\(column))
      WHERE \(column) IS NOT NULL;
    ALTER TABLE \(table) DROP COLUMN \(column);
    ALTER TABLE \(table) RENAME COLUMN numbered TO \(column);
    """
  }

  /// A new table takes the place of the old one; its sequence goes on.
  private static func replace(_ table: String) -> String {
    """
    DELETE FROM sqlite_sequence WHERE name = 'numbered_\(table)';
    INSERT INTO sqlite_sequence SELECT 'numbered_' || name, seq FROM sqlite_sequence
      WHERE name = '\(table)';
    DROP TABLE \(table);
    ALTER TABLE numbered_\(table) RENAME TO \(table);
    """
  }

  private static let dropTriggers =
    [
      "new_job", "job", "push_event", "sending", "device_fetched", "user_fetched", "device_read",
      "user_read",
    ].map { "DROP TRIGGER receipt_of_\($0);" }.joined(separator: "\n")

  /// Tells a publisher of a receipt; the user's name is put into the text when it is read, so that
  /// nobody reads that of a user who was removed.
  private static func receipt(
    _ facts: String, at moment: String,
    from source: String = "notification WHERE id = NEW.notification"
  ) -> String {
    """
    INSERT INTO event(type, publisher, user, data, created)
      SELECT 'receipt', sender, NEW.user,
        json_object('notification', notification.id, 'user', NULL, \(facts)), NEW.\(moment)
      FROM \(source);
    """
  }

  private static let receiptOfJob = receipt(
    """
    'device', NEW.registration, 'lane', NEW.lane, 'job', NEW.id, 'state', NEW.state,
        'reason', NEW.reason
    """, at: "updated",
    from: "push JOIN notification ON notification.id = push.notification WHERE push.id = NEW.push")

  private static let createTriggers =
    """
    CREATE TRIGGER receipt_of_new_job AFTER INSERT ON job BEGIN
      \(receiptOfJob)
    END;
    CREATE TRIGGER receipt_of_job AFTER UPDATE OF state ON job WHEN OLD.state <> NEW.state BEGIN
      \(receiptOfJob)
    END;
    CREATE TRIGGER receipt_of_push_event AFTER INSERT ON push_event BEGIN
      \(receipt("'lane', 'embedded', 'state', 'queued'", at: "created"))
    END;
    CREATE TRIGGER receipt_of_sending AFTER UPDATE OF sent ON recipient
      WHEN OLD.sent IS NULL AND NEW.sent IS NOT NULL BEGIN
      \(receipt("'lane', 'embedded', 'state', 'sent'", at: "sent"))
    END;
    """
    + ["fetched", "read"].map { state in
      """

      CREATE TRIGGER receipt_of_device_\(state) AFTER UPDATE OF \(state) ON device_receipt
        WHEN OLD.\(state) IS NULL AND NEW.\(state) IS NOT NULL BEGIN
        \(receipt("'device', NEW.registration, 'state', '\(state)'", at: state))
      END;
      CREATE TRIGGER receipt_of_user_\(state) AFTER UPDATE OF \(state) ON recipient
        WHEN OLD.\(state) IS NULL AND NEW.\(state) IS NOT NULL AND NOT EXISTS (
          SELECT 1 FROM device_receipt AS named WHERE named.notification = NEW.notification
            AND named.user = NEW.user AND named.\(state) IS NOT NULL) BEGIN
        \(receipt("'state', '\(state)'", at: state))
      END;
      """
    }.joined()
}
