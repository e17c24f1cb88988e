import CSQLite

/// The tables, as the list of steps that made them; `user_version` counts the steps taken.
///
/// A step that was ever released is never changed: a change of the tables is a further step.
enum Schema {
  /// Takes the steps that are missing, all or none.
  static func migrate(_ connection: borrowing Connection) throws {
    try connection.script("BEGIN IMMEDIATE")
    do {
      let version = try connection.value("PRAGMA user_version", as: Int.self) ?? 0
      guard version <= steps.count else {
        throw StoreError(
          .newer, "the data folder was written by a newer richpush; start that version instead")
      }
      for step in steps[version...] { try connection.script(step) }
      try connection.makeFirstLinkKey()
      try connection.script("PRAGMA user_version = \(steps.count); COMMIT")
    } catch {
      try? connection.script("ROLLBACK")
      throw error
    }
  }

  /// Tells how far the push to one device has come; whoever changes a job, it is told.
  private static let receiptOfJob = """
    INSERT INTO event(type, publisher, data, created)
      SELECT 'receipt', sender, json_object('notification', notification.id, 'user', NEW.user,
        'device', NEW.registration, 'lane', NEW.lane, 'job', NEW.id, 'state', NEW.state,
        'reason', NEW.reason), NEW.updated
      FROM push JOIN notification ON notification.id = push.notification
      WHERE push.id = NEW.push;
    """

  /// Tells what a user did with a notification.
  private static func receiptOfUser(_ state: String) -> String {
    """
    INSERT INTO event(type, publisher, data, created)
      SELECT 'receipt', sender, json_object('notification', id, 'user', NEW.user,
        'state', '\(state)'), NEW.\(state)
      FROM notification WHERE id = NEW.notification;
    """
  }

  /// The same for a device that said its name; then its user's own receipt tells nothing more.
  private static func receiptOfDevice(_ state: String) -> String {
    """
    CREATE TRIGGER receipt_of_device_\(state) AFTER UPDATE OF \(state) ON device_receipt
      WHEN OLD.\(state) IS NULL AND NEW.\(state) IS NOT NULL BEGIN
      INSERT INTO event(type, publisher, data, created)
        SELECT 'receipt', sender, json_object('notification', id, 'user', NEW.user,
          'device', NEW.registration, 'state', '\(state)'), NEW.\(state)
        FROM notification WHERE id = NEW.notification;
    END;
    CREATE TRIGGER receipt_of_user_\(state) AFTER UPDATE OF \(state) ON recipient
      WHEN OLD.\(state) IS NULL AND NEW.\(state) IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM device_receipt AS named WHERE named.notification = NEW.notification
          AND named.user = NEW.user AND named.\(state) IS NOT NULL) BEGIN
      \(receiptOfUser(state))
    END;
    """
  }

  /// Tells how far the push over the embedded gateway has come.
  private static func receiptOfGateway(_ state: String, at column: String) -> String {
    """
    INSERT INTO event(type, publisher, data, created)
      SELECT 'receipt', sender, json_object('notification', id, 'user', NEW.user,
        'lane', 'embedded', 'state', '\(state)'), NEW.\(column)
      FROM notification WHERE id = NEW.notification;
    """
  }

  static let steps = [
    """
    CREATE TABLE counter(name TEXT PRIMARY KEY, next INTEGER NOT NULL) STRICT;
    INSERT INTO counter VALUES ('notification', 0);

    CREATE TABLE user(
      name TEXT PRIMARY KEY, hash TEXT NOT NULL, role TEXT NOT NULL, created INTEGER NOT NULL
    ) STRICT;

    CREATE TABLE registration(
      id TEXT PRIMARY KEY, user TEXT NOT NULL, platform TEXT, handle TEXT NOT NULL UNIQUE,
      updated INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX registration_of_user ON registration(user);
    CREATE TABLE registration_tag(
      tag TEXT NOT NULL,
      registration TEXT NOT NULL REFERENCES registration ON DELETE CASCADE,
      PRIMARY KEY (tag, registration)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX tag_of_registration ON registration_tag(registration);

    CREATE TABLE notification(
      id INTEGER PRIMARY KEY, message TEXT NOT NULL, rich_type TEXT NOT NULL,
      payload TEXT NOT NULL, sender TEXT, audience TEXT NOT NULL, details TEXT,
      blob TEXT, blob_size INTEGER, blob_type TEXT,
      created INTEGER NOT NULL, expires INTEGER
    ) STRICT;
    CREATE INDEX notification_of_blob ON notification(blob) WHERE blob IS NOT NULL;
    CREATE INDEX notification_by_expiry ON notification(expires) WHERE expires IS NOT NULL;
    CREATE TABLE idempotency(
      sender TEXT NOT NULL, key TEXT NOT NULL, request TEXT NOT NULL,
      notification INTEGER NOT NULL REFERENCES notification ON DELETE CASCADE,
      PRIMARY KEY (sender, key)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX idempotency_of_notification ON idempotency(notification);

    CREATE TABLE recipient(
      user TEXT NOT NULL,
      notification INTEGER NOT NULL REFERENCES notification ON DELETE CASCADE,
      fetched INTEGER, read INTEGER,
      PRIMARY KEY (user, notification)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX recipient_of_notification ON recipient(notification);
    CREATE INDEX unread ON recipient(user, notification) WHERE read IS NULL;

    CREATE TABLE push_event(
      sequence INTEGER PRIMARY KEY AUTOINCREMENT, user TEXT NOT NULL,
      notification INTEGER REFERENCES notification ON DELETE CASCADE,
      data TEXT NOT NULL, created INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX push_event_of_user ON push_event(user, sequence);
    CREATE INDEX push_event_of_notification ON push_event(notification);

    CREATE TABLE asset(
      rich_type TEXT NOT NULL, name TEXT NOT NULL, state TEXT NOT NULL, reason TEXT,
      blob TEXT, bytes INTEGER NOT NULL, type TEXT, details TEXT,
      stamp TEXT NOT NULL, modified INTEGER NOT NULL, updated INTEGER NOT NULL,
      PRIMARY KEY (rich_type, name)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX asset_of_blob ON asset(blob) WHERE blob IS NOT NULL;
    """,
    """
    CREATE TABLE push(
      id INTEGER PRIMARY KEY,
      notification INTEGER REFERENCES notification ON DELETE CASCADE,
      lane TEXT NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL, fallback TEXT,
      collapse TEXT, expires INTEGER
    ) STRICT;
    CREATE INDEX push_of_notification ON push(notification);

    CREATE TABLE job(
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      push INTEGER NOT NULL REFERENCES push ON DELETE CASCADE,
      lane TEXT NOT NULL, token TEXT NOT NULL,
      user TEXT, registration TEXT, audience TEXT, collapse TEXT,
      state TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0,
      due INTEGER NOT NULL, owner TEXT, updated INTEGER NOT NULL,
      sent_as TEXT, reference TEXT, reason TEXT
    ) STRICT;
    CREATE INDEX job_of_push ON job(push);
    CREATE INDEX job_due ON job(lane, due, id) WHERE state = 'queued';
    CREATE INDEX job_in_order ON job(registration, collapse, id)
      WHERE state = 'queued' AND collapse IS NOT NULL;
    CREATE INDEX job_leased ON job(owner) WHERE owner IS NOT NULL;
    CREATE INDEX job_sent ON job(registration, sent_as, updated) WHERE state = 'sent';
    CREATE INDEX job_dead ON job(id) WHERE state = 'failed';
    """,
    """
    CREATE TABLE link_key(
      id INTEGER PRIMARY KEY AUTOINCREMENT, secret TEXT NOT NULL, created INTEGER NOT NULL
    ) STRICT;
    """,
    """
    ALTER TABLE notification ADD COLUMN not_before INTEGER;
    ALTER TABLE notification ADD COLUMN form TEXT NOT NULL DEFAULT '';
    CREATE TABLE held_event(
      notification INTEGER PRIMARY KEY REFERENCES notification ON DELETE CASCADE,
      due INTEGER NOT NULL, data TEXT NOT NULL
    ) STRICT;
    CREATE INDEX held_event_due ON held_event(due);
    CREATE INDEX job_called_off ON job(registration, collapse)
      WHERE state = 'cancelled' AND owner IS NOT NULL;

    CREATE TABLE event(
      sequence INTEGER PRIMARY KEY AUTOINCREMENT,
      token TEXT NOT NULL DEFAULT (lower(hex(randomblob(16)))),
      type TEXT NOT NULL, publisher TEXT, data TEXT NOT NULL, created INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX event_of_publisher ON event(publisher, sequence);

    CREATE TRIGGER receipt_of_new_job AFTER INSERT ON job BEGIN
      \(receiptOfJob)
    END;
    CREATE TRIGGER receipt_of_job AFTER UPDATE OF state ON job WHEN OLD.state <> NEW.state BEGIN
      \(receiptOfJob)
    END;
    CREATE TRIGGER receipt_of_fetch AFTER UPDATE OF fetched ON recipient
      WHEN OLD.fetched IS NULL AND NEW.fetched IS NOT NULL BEGIN
      \(receiptOfUser("fetched"))
    END;
    CREATE TRIGGER receipt_of_read AFTER UPDATE OF read ON recipient
      WHEN OLD.read IS NULL AND NEW.read IS NOT NULL BEGIN
      \(receiptOfUser("read"))
    END;
    """,
    """
    ALTER TABLE asset ADD COLUMN folded TEXT NOT NULL DEFAULT '';
    UPDATE asset SET folded = lower(name);
    CREATE INDEX asset_by_folded_name ON asset(rich_type, folded);
    CREATE INDEX asset_by_state ON asset(state, updated);
    """,
    """
    ALTER TABLE recipient ADD COLUMN sent INTEGER;
    CREATE TRIGGER receipt_of_push_event AFTER INSERT ON push_event BEGIN
      \(receiptOfGateway("queued", at: "created"))
    END;
    CREATE TRIGGER receipt_of_sending AFTER UPDATE OF sent ON recipient
      WHEN OLD.sent IS NULL AND NEW.sent IS NOT NULL BEGIN
      \(receiptOfGateway("sent", at: "sent"))
    END;
    """,
    """
    DROP INDEX job_due;
    DROP INDEX job_leased;
    DROP INDEX job_sent;
    CREATE INDEX job_due ON job(lane, due, id, owner) WHERE state = 'queued';
    CREATE INDEX job_woken ON job(registration, updated)
      WHERE state = 'sent' AND sent_as = 'background';

    CREATE TABLE device_receipt(
      notification INTEGER NOT NULL REFERENCES notification ON DELETE CASCADE,
      user TEXT NOT NULL, registration TEXT NOT NULL, fetched INTEGER, read INTEGER,
      PRIMARY KEY (notification, user, registration)
    ) STRICT, WITHOUT ROWID;
    DROP TRIGGER receipt_of_fetch;
    DROP TRIGGER receipt_of_read;
    \(receiptOfDevice("fetched"))
    \(receiptOfDevice("read"))
    """,
    """
    DROP INDEX job_woken;
    CREATE INDEX job_woken ON job(registration, audience, updated)
      WHERE state = 'sent' AND sent_as = 'background';
    """,
    usersHaveNumbers,
  ]
}
