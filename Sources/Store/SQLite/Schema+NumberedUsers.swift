extension Schema {
  /// Step 9: rows that referred to users by name refer to them by number.
  ///
  /// A name without a user (from demo mode, of a removed user, or addressed in advance) becomes a user
  /// without a password.
  static let referToUsersByNumber = """
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
    """

  /// Turns a column of names into one of numbers.
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

  /// Replaces a table by `numbered_<table>`, which continues its sequence.
  private static func replace(_ table: String) -> String {
    """
    DELETE FROM sqlite_sequence WHERE name = 'numbered_\(table)';
    INSERT INTO sqlite_sequence SELECT 'numbered_' || name, seq FROM sqlite_sequence
      WHERE name = '\(table)';
    DROP TABLE \(table);
    ALTER TABLE numbered_\(table) RENAME TO \(table);
    """
  }
}
