import CSQLite

/// The tables, as the list of migrations that create them; `PRAGMA user_version` counts those applied.
///
/// To change a table, append a migration to ``steps``. Never change the effect of a released one. `MigrationTests` shows how to test one against a database of the version before.
///
/// docs/CONTRIBUTING.md lists what else a new column of notifications needs.
enum Schema {
  /// Applies the missing migrations and `initialize`, all of it or nothing.
  ///
  /// Throws `newer` if the database was written by a version with more migrations.
  static func migrate(
    _ connection: borrowing SQLiteConnection,
    initialize: @Sendable (borrowing SQLiteConnection) throws -> Void = { _ in }
  ) throws {
    try connection.script("BEGIN IMMEDIATE")
    do {
      let version = try connection.value("PRAGMA user_version", as: Int.self) ?? 0
      guard version <= steps.count else {
        throw StoreError(
          .newer, "the data folder was written by a newer richpush; start that version instead")
      }
      for step in steps[version...] { try connection.script(step) }
      if version < steps.count { try connection.foldAssetNames() }
      try initialize(connection)
      try connection.script("PRAGMA user_version = \(steps.count); COMMIT")
    } catch {
      try? connection.script("ROLLBACK")
      throw error
    }
  }

  /// The migrations in order.
  ///
  /// All missing steps run in one transaction. So the early ones no longer create the triggers and indexes
  /// that a later one drops; that one drops those of older databases.
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
    CREATE INDEX job_in_order ON job(registration, collapse, id)
      WHERE state = 'queued' AND collapse IS NOT NULL;
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
    """,
    """
    ALTER TABLE asset ADD COLUMN folded TEXT NOT NULL DEFAULT '';
    UPDATE asset SET folded = lower(name);
    CREATE INDEX asset_by_folded_name ON asset(rich_type, folded);
    CREATE INDEX asset_by_state ON asset(state, updated);
    """,
    """
    ALTER TABLE recipient ADD COLUMN sent INTEGER;
    """,
    """
    DROP INDEX IF EXISTS job_due;
    DROP INDEX IF EXISTS job_leased;
    DROP INDEX IF EXISTS job_sent;
    CREATE INDEX job_due ON job(lane, due, id, owner) WHERE state = 'queued';

    CREATE TABLE device_receipt(
      notification INTEGER NOT NULL REFERENCES notification ON DELETE CASCADE,
      user TEXT NOT NULL, registration TEXT NOT NULL, fetched INTEGER, read INTEGER,
      PRIMARY KEY (notification, user, registration)
    ) STRICT, WITHOUT ROWID;
    DROP TRIGGER IF EXISTS receipt_of_fetch;
    DROP TRIGGER IF EXISTS receipt_of_read;
    """,
    """
    DROP INDEX IF EXISTS job_woken;
    CREATE INDEX job_woken ON job(registration, audience, updated)
      WHERE state = 'sent' AND sent_as = 'background';
    """,
    referToUsersByNumber,
    """
    -- Leases of a version without nodes, which no start would free.
    UPDATE job SET owner = NULL, due = min(due, unixepoch() * 1000) WHERE owner IS NOT NULL;
    """,
    dropTriggers,
    """
    CREATE TABLE device_token(
      hash TEXT NOT NULL PRIMARY KEY, created INTEGER NOT NULL,
      registration TEXT NOT NULL REFERENCES registration ON DELETE CASCADE
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX device_token_of_registration ON device_token(registration);
    DELETE FROM counter WHERE name = 'user changes';
    """,
    """
    ALTER TABLE registration ADD COLUMN keys TEXT;
    ALTER TABLE registration ADD COLUMN lane TEXT;
    CREATE TABLE vapid_key(
      id INTEGER PRIMARY KEY CHECK (id = 1), secret TEXT NOT NULL, created INTEGER NOT NULL
    ) STRICT;
    """,
    """
    CREATE INDEX job_collapsed ON job(registration, id)
      WHERE state = 'sent' AND lane = 'fcm' AND collapse IS NOT NULL;
    """,
    """
    CREATE TABLE session(
      id INTEGER PRIMARY KEY AUTOINCREMENT, hash TEXT NOT NULL UNIQUE, user INTEGER NOT NULL,
      created INTEGER NOT NULL, used INTEGER NOT NULL, user_agent TEXT NOT NULL
    ) STRICT;
    CREATE INDEX session_of_user ON session(user, id);
    CREATE INDEX session_by_age ON session(created);
    """,
    """
    CREATE INDEX notification_by_sender ON notification(sender, id);
    DROP INDEX job_dead;
    CREATE INDEX job_by_state ON job(state, lane, id);
    ALTER TABLE notification ADD COLUMN withdrawn INTEGER;
    CREATE TABLE notification_count(
      notification INTEGER PRIMARY KEY REFERENCES notification ON DELETE CASCADE,
      recipients INTEGER NOT NULL, reached INTEGER NOT NULL DEFAULT 0,
      fetched INTEGER NOT NULL DEFAULT 0, read INTEGER NOT NULL DEFAULT 0,
      queued INTEGER NOT NULL DEFAULT 0, sent INTEGER NOT NULL DEFAULT 0,
      failed INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    INSERT INTO notification_count(notification, recipients, reached, fetched, read)
      SELECT notification.id, count(recipient.user), count(sent), count(fetched), count(read)
      FROM notification LEFT JOIN recipient ON recipient.notification = notification.id
      GROUP BY notification.id;
    UPDATE notification_count SET queued = jobs.queued, sent = jobs.sent, failed = jobs.failed
    FROM (
      SELECT notification AS id, sum(state = 'queued') AS queued, sum(state = 'sent') AS sent,
        sum(state IN ('failed', 'expired')) AS failed
      FROM push JOIN job ON job.push = push.id WHERE notification IS NOT NULL GROUP BY notification
    ) AS jobs WHERE notification = jobs.id;
    """,
    """
    CREATE TABLE audience_part(
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      notification INTEGER NOT NULL REFERENCES notification ON DELETE CASCADE,
      push INTEGER REFERENCES push ON DELETE CASCADE,
      event TEXT, due INTEGER, first INTEGER, last INTEGER, members TEXT NOT NULL
    ) STRICT;
    CREATE INDEX audience_part_of_notification ON audience_part(notification, push, first);
    CREATE INDEX audience_part_of_push ON audience_part(push);
    """,
    pageReceipts,
    """
    -- What an audience needs of a registration, in the order of the IDs: its row is at a random place.
    CREATE INDEX registration_in_order ON registration(id, user, platform, lane);
    """,
    """
    ALTER TABLE registration ADD COLUMN name TEXT;
    ALTER TABLE registration ADD COLUMN created INTEGER;
    ALTER TABLE registration ADD COLUMN credential TEXT;
    ALTER TABLE registration ADD COLUMN user_agent TEXT;
    ALTER TABLE registration ADD COLUMN contact INTEGER;
    ALTER TABLE notification ADD COLUMN held INTEGER;
    """,
    """
    -- The quota that an admin has set, and what the user's devices have sent to it since when.
    ALTER TABLE user ADD COLUMN max_devices INTEGER;
    ALTER TABLE user ADD COLUMN own_sent INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE user ADD COLUMN own_since INTEGER NOT NULL DEFAULT 0;
    """,
    """
    -- Registrations that a service has ended are kept for a while.
    ALTER TABLE registration ADD COLUMN ended INTEGER;
    ALTER TABLE registration ADD COLUMN ended_by TEXT;
    DROP INDEX registration_in_order;
    CREATE INDEX registration_in_order ON registration(id, user, platform, lane, ended);
    CREATE INDEX registration_by_end ON registration(ended_by, ended) WHERE ended IS NOT NULL;
    CREATE INDEX registration_by_lane ON registration(lane) WHERE lane IS NOT NULL;
    -- Under which settings a queued job was refused, and the time of renewal after which its registration does not end.
    ALTER TABLE job ADD COLUMN refused TEXT;
    ALTER TABLE job ADD COLUMN refused_since INTEGER;
    CREATE INDEX job_refused ON job(lane, refused, id) WHERE state = 'queued' AND refused IS NOT NULL;
    CREATE INDEX job_refused_device ON job(registration) WHERE state = 'queued' AND refused IS NOT NULL;
    -- Lanes whose service is doubted (since is NULL), or that wait for the operator.
    CREATE TABLE lane_pause(
      lane TEXT NOT NULL, settings TEXT NOT NULL, since INTEGER, until INTEGER, reason TEXT,
      probes INTEGER NOT NULL DEFAULT 0, trials INTEGER NOT NULL DEFAULT 0,
      stopped INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (lane, settings)
    ) STRICT, WITHOUT ROWID;
    """,
    """
    -- The file of the drop folder that a notification was made of, with what it held then.
    CREATE TABLE published_file(
      folder TEXT NOT NULL, path TEXT NOT NULL, sidecar TEXT NOT NULL, content TEXT NOT NULL,
      notification INTEGER NOT NULL REFERENCES notification ON DELETE CASCADE,
      published INTEGER NOT NULL,
      PRIMARY KEY (folder, path)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX published_file_of_notification ON published_file(notification);
    -- When the content was replaced that some had fetched.
    ALTER TABLE notification ADD COLUMN replaced INTEGER;
    -- Folded as before, upper and lower case only; the next start folds them again.
    UPDATE asset SET folded = '';
    """,
  ]
}

// MARK: - Step 18

extension Schema {
  /// Step 18: the recipients and the pushes of a notification in each state, in the order of pages, and when
  /// the first of them came so far.
  private static let pageReceipts = """
    ALTER TABLE recipient ADD COLUMN progress INTEGER AS (
      CASE WHEN read IS NOT NULL THEN 3 WHEN fetched IS NOT NULL THEN 2 WHEN sent IS NOT NULL THEN 1 ELSE 0 END
    ) VIRTUAL;
    DROP INDEX recipient_of_notification;
    CREATE INDEX recipient_by_progress ON recipient(notification, progress, user);
    DROP INDEX job_of_push;
    CREATE INDEX job_of_push ON job(push, state);
    ALTER TABLE notification_count ADD COLUMN first_sent INTEGER;
    ALTER TABLE notification_count ADD COLUMN first_fetched INTEGER;
    ALTER TABLE notification_count ADD COLUMN first_read INTEGER;
    UPDATE notification_count SET first_sent = times.sent, first_fetched = times.fetched, first_read = times.read
    FROM (
      SELECT notification AS id, min(sent) AS sent, min(fetched) AS fetched, min(read) AS read
      FROM recipient GROUP BY notification
    ) AS times WHERE notification = times.id;
    UPDATE notification_count SET first_sent = min(coalesce(first_sent, times.sent), times.sent)
    FROM (
      SELECT notification AS id, min(updated) AS sent FROM push JOIN job ON job.push = push.id
      WHERE notification IS NOT NULL AND state = 'sent' GROUP BY notification
    ) AS times WHERE notification = times.id;
    """
}

// MARK: - Step 11

extension Schema {
  /// The triggers that inserted receipts; the functions that change the rows do so now.
  static let dropTriggers =
    [
      "new_job", "job", "push_event", "sending", "device_fetched", "user_fetched", "device_read",
      "user_read",
    ].map { "DROP TRIGGER IF EXISTS receipt_of_\($0);" }.joined(separator: "\n")
}
