import CSQLite

/// The tables in SQLite, in the version that `PRAGMA user_version` has.
///
/// To change a table, change ``creation``, and append to ``steps`` what brings a database of the version before to
/// it, beside that of ``PostgresSchema``. Never change a step that was released.
///
/// docs/CONTRIBUTING.md lists what else a new column of notifications needs.
enum SQLiteSchema {
  /// The version before the first step: that of commit c1a7ad3.
  private static let firstVersion = 19
  /// The version of ``creation``.
  static var version: Int { firstVersion + steps.count }

  /// Creates the tables, or applies the missing steps, and `initialize`, all of it or nothing.
  ///
  /// Throws `newer` if the database is of a later version, and `older` if of one before the first.
  static func migrate(
    _ connection: SQLiteConnection,
    initialize: @Sendable (SQLiteConnection) throws -> Void = { _ in }
  ) throws {
    try connection.script("BEGIN IMMEDIATE")
    do {
      let present = try presentVersion(connection)
      if present == 0 {
        try connection.script(creation)
      } else {
        for step in try missingSteps(since: present) { try connection.script(step) }
        if present < version { try connection.foldAssetNames() }
      }
      try initialize(connection)
      try connection.script("PRAGMA user_version = \(version); COMMIT")
    } catch {
      try? connection.script("ROLLBACK")
      throw error
    }
  }

  /// The version of a database; 0 of an empty one.
  static func presentVersion(_ connection: SQLiteConnection) throws -> Int {
    try connection.value("PRAGMA user_version", as: Int.self) ?? 0
  }

  private static func missingSteps(since present: Int) throws(StoreError) -> ArraySlice<String> {
    guard present <= version else {
      throw StoreError(
        .newer, "the data folder was written by a newer richpush; start that version instead")
    }
    guard present >= firstVersion else { throw StoreError.tooOld("the data folder") }
    return steps[(present - firstVersion)...]
  }

  /// What brings a database of each version since the first to the next one.
  private static let steps = [
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
    """
    -- The names that PostgreSQL's tables have.
    ALTER TABLE user RENAME TO users;
    ALTER TABLE session RENAME COLUMN user TO user_id;
    ALTER TABLE registration RENAME COLUMN user TO user_id;
    ALTER TABLE recipient RENAME COLUMN user TO user_id;
    ALTER TABLE device_receipt RENAME COLUMN user TO user_id;
    ALTER TABLE push_event RENAME COLUMN user TO user_id;
    ALTER TABLE event RENAME COLUMN user TO user_id;
    ALTER TABLE job RENAME COLUMN user TO user_id;
    ALTER TABLE event ADD COLUMN notification INTEGER;
    UPDATE event SET notification = data ->> '$.notification' WHERE type = 'receipt';
    -- Silent pushes of the last hour and collapse IDs that a device holds, of any lane.
    DROP INDEX job_woken;
    DROP INDEX job_collapsed;
    CREATE INDEX job_sent ON job(registration, audience, updated) WHERE state = 'sent';
    """,
    """
    -- What a message says beside its text.
    ALTER TABLE notification ADD COLUMN members TEXT;
    -- What a notification is about, and which one has taken its place.
    ALTER TABLE notification ADD COLUMN replaces TEXT;
    ALTER TABLE notification ADD COLUMN replaced_by INTEGER;
    CREATE INDEX notification_by_subject ON notification(sender, replaces)
      WHERE replaces IS NOT NULL AND replaced_by IS NULL;
    -- Payloads are made when they are sent: a push has the media it links to, and a message only if it is not the
    -- notification's.
    ALTER TABLE push ADD COLUMN message TEXT;
    ALTER TABLE push ADD COLUMN members TEXT;
    ALTER TABLE push ADD COLUMN form TEXT;
    ALTER TABLE push ADD COLUMN media TEXT;
    UPDATE push SET media = (
      SELECT json_object('size', made.text ->> '$.att.size', 'type', made.text ->> '$.att.type')
      FROM (SELECT coalesce(fallback, push.text) AS text) AS made
      WHERE json_type(made.text, '$.att') = 'object')
    WHERE text LIKE '{%';
    UPDATE push SET form = '', message = coalesce(text ->> '$.aps.alert', text ->> '$.richMessage', '')
    WHERE notification IS NULL AND text LIKE '{%';
    UPDATE push_event SET data = CASE
      WHEN data NOT LIKE '{%' THEN '{}'
      WHEN json_type(data, '$.att') = 'object'
        THEN json_object('size', data ->> '$.att.size', 'type', data ->> '$.att.type')
      ELSE '{}' END
    WHERE notification IS NOT NULL;
    UPDATE held_event SET data = CASE
      WHEN data NOT LIKE '{%' THEN '{}'
      WHEN json_type(data, '$.att') = 'object'
        THEN json_object('size', data ->> '$.att.size', 'type', data ->> '$.att.type')
      ELSE '{}' END
    WHERE true;
    UPDATE audience_part SET event = CASE
      WHEN event NOT LIKE '{%' THEN '{}'
      WHEN json_type(event, '$.att') = 'object'
        THEN json_object('size', event ->> '$.att.size', 'type', event ->> '$.att.type')
      ELSE '{}' END
    WHERE push IS NULL AND event IS NOT NULL;
    ALTER TABLE push DROP COLUMN text;
    ALTER TABLE push DROP COLUMN fallback;
    """,
    """
    -- What a device prefers to be told in, and when: a language (BCP 47), and a time zone of the IANA.
    ALTER TABLE registration ADD COLUMN language TEXT;
    ALTER TABLE registration ADD COLUMN time_zone TEXT;
    -- What is known of users, for placeholders.
    CREATE TABLE user_attribute(
      user_id INTEGER NOT NULL REFERENCES users ON DELETE CASCADE, name TEXT NOT NULL,
      value TEXT NOT NULL, PRIMARY KEY (user_id, name)
    ) STRICT, WITHOUT ROWID;
    -- What placeholders of a notification stand for, by recipient; of those who are no recipients yet in the parts.
    CREATE TABLE recipient_values(
      notification INTEGER NOT NULL REFERENCES notification ON DELETE CASCADE,
      user_id INTEGER NOT NULL, data TEXT NOT NULL, PRIMARY KEY (notification, user_id)
    ) STRICT, WITHOUT ROWID;
    ALTER TABLE audience_part ADD COLUMN data TEXT;
    -- From now on {{ begins a placeholder.
    UPDATE notification SET message = replace(message, '{{', '{{{{')
    WHERE message LIKE '%{{%' AND form NOT LIKE 'legacy%';
    UPDATE push SET message = replace(message, '{{', '{{{{')
    WHERE message LIKE '%{{%' AND notification IS NOT NULL AND form NOT LIKE 'legacy%';
    """,
    """
    -- What people did with a notification.
    DROP INDEX recipient_by_progress;
    ALTER TABLE recipient DROP COLUMN progress;
    ALTER TABLE recipient ADD COLUMN displayed INTEGER;
    ALTER TABLE recipient ADD COLUMN opened INTEGER;
    ALTER TABLE recipient ADD COLUMN dismissed INTEGER;
    ALTER TABLE recipient ADD COLUMN progress INTEGER AS (
      CASE WHEN read IS NOT NULL THEN 5 WHEN opened IS NOT NULL THEN 4 WHEN fetched IS NOT NULL THEN 3
        WHEN displayed IS NOT NULL THEN 2 WHEN sent IS NOT NULL THEN 1 ELSE 0 END
    ) VIRTUAL;
    CREATE INDEX recipient_by_progress ON recipient(notification, progress, user_id);
    ALTER TABLE device_receipt ADD COLUMN displayed INTEGER;
    ALTER TABLE device_receipt ADD COLUMN opened INTEGER;
    ALTER TABLE device_receipt ADD COLUMN dismissed INTEGER;
    ALTER TABLE notification_count ADD COLUMN displayed INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE notification_count ADD COLUMN opened INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE notification_count ADD COLUMN dismissed INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE notification_count ADD COLUMN actions INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE notification_count ADD COLUMN replies INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE notification_count ADD COLUMN first_displayed INTEGER;
    ALTER TABLE notification_count ADD COLUMN first_opened INTEGER;
    -- Buttons that were pressed, and replies; key tells a reply from its repetitions.
    CREATE TABLE interaction(
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      notification INTEGER NOT NULL REFERENCES notification ON DELETE CASCADE,
      user_id INTEGER NOT NULL, registration TEXT NOT NULL, event TEXT NOT NULL, key TEXT NOT NULL,
      action TEXT NOT NULL, text TEXT, created INTEGER NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX interaction_once ON interaction(user_id, notification, registration, event, key);
    CREATE INDEX interaction_of_notification ON interaction(notification, id);
    ALTER TABLE event ADD COLUMN interaction INTEGER REFERENCES interaction ON DELETE CASCADE;
    CREATE INDEX event_of_interaction ON event(interaction) WHERE interaction IS NOT NULL;
    """,
    """
    -- That a recipient keeps a notification whose place another has taken for others.
    ALTER TABLE recipient ADD COLUMN kept INTEGER;
    CREATE INDEX recipient_kept ON recipient(kept, user_id) WHERE kept IS NOT NULL;
    """,
    """
    -- What an asset shows, and the point that crops keep, with the content that it is a point of.
    ALTER TABLE asset ADD COLUMN alt TEXT;
    ALTER TABLE asset ADD COLUMN focus TEXT;
    ALTER TABLE asset ADD COLUMN focus_of TEXT;
    -- What a notification has of its asset: the focus, and whether its alternative text is the asset's.
    ALTER TABLE notification ADD COLUMN focus TEXT;
    ALTER TABLE notification ADD COLUMN asset_alt INTEGER;
    """,
    """
    -- Codes by which a device of a user gets a token: once, until they expire.
    CREATE TABLE pairing(
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      user_id INTEGER NOT NULL REFERENCES users ON DELETE CASCADE, hash TEXT NOT NULL UNIQUE,
      short_hash TEXT, created INTEGER NOT NULL, expires INTEGER NOT NULL,
      ended INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE INDEX pairing_of_user ON pairing(user_id);
    CREATE INDEX pairing_by_short_hash ON pairing(short_hash) WHERE short_hash IS NOT NULL;
    -- Users who have added themselves, with the subjects that they wanted; some wait for approval.
    CREATE TABLE sign_up(
      user_id INTEGER NOT NULL PRIMARY KEY REFERENCES users ON DELETE CASCADE, subjects TEXT NOT NULL,
      created INTEGER NOT NULL, waiting INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX sign_up_waiting ON sign_up(user_id) WHERE waiting = 1;
    -- That a recipient has taken a notification out of the inbox.
    ALTER TABLE recipient ADD COLUMN hidden INTEGER;
    -- When a device is not disturbed, which pushes come then all the same, and until when a job waits for that.
    ALTER TABLE registration ADD COLUMN quiet_hours TEXT;
    ALTER TABLE push ADD COLUMN urgent INTEGER;
    UPDATE push SET urgent = 1 WHERE id IN (SELECT push FROM job WHERE state = 'queued')
      AND notification IN (
        SELECT id FROM notification WHERE members LIKE '%"importance":"urgent"%');
    ALTER TABLE job ADD COLUMN quiet INTEGER;
    CREATE INDEX job_quiet ON job(registration) WHERE state = 'queued' AND quiet IS NOT NULL;
    """,
    """
    -- Keys of session tickets; in no backup.
    CREATE TABLE ticket_key(
      id INTEGER PRIMARY KEY AUTOINCREMENT, secret TEXT NOT NULL, created INTEGER NOT NULL
    ) STRICT;
    """,
    """
    -- Tokens of publishers. audience: to whom they send, of everybody null. receipts, assets: what else they allow. rate:
    -- notifications a minute. used, used_from: their last use.
    CREATE TABLE access_token(
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      user_id INTEGER NOT NULL REFERENCES users ON DELETE CASCADE, name TEXT NOT NULL,
      hash TEXT NOT NULL UNIQUE, audience TEXT, receipts INTEGER NOT NULL, assets INTEGER NOT NULL,
      rate INTEGER, created INTEGER NOT NULL, expires INTEGER, used INTEGER, used_from TEXT, UNIQUE (user_id, name)
    ) STRICT;
    """,
    """
    -- Access tokens that count only as the address of a webhook. secret: with which its sender signs. What failed of what it
    -- was sent; digest: of fields and body, so that one that comes again is there once; body: null if it is not kept.
    CREATE TABLE webhook(
      token INTEGER PRIMARY KEY REFERENCES access_token ON DELETE CASCADE, template TEXT NOT NULL, secret TEXT
    ) STRICT;
    CREATE TABLE webhook_delivery(
      id INTEGER PRIMARY KEY AUTOINCREMENT, webhook INTEGER NOT NULL REFERENCES webhook ON DELETE CASCADE,
      digest TEXT NOT NULL, fields TEXT NOT NULL, body TEXT, reason TEXT NOT NULL, failed INTEGER NOT NULL,
      UNIQUE (webhook, digest)
    ) STRICT;
    """,
    """
    -- What publishers have begun to write. template: whether it is kept for more than one notification. author, editor: who
    -- has begun it, and who has changed it last.
    CREATE TABLE draft(
      id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, content TEXT NOT NULL,
      template INTEGER NOT NULL, version INTEGER NOT NULL,
      author INTEGER REFERENCES users ON DELETE SET NULL,
      editor INTEGER REFERENCES users ON DELETE SET NULL,
      created INTEGER NOT NULL, updated INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX draft_of_author ON draft(author);
    CREATE INDEX draft_of_editor ON draft(editor);
    CREATE INDEX draft_by_time ON draft(template, updated);
    """,
    """
    -- What was changed of notifications before they went: who has changed it, and the members as they were before, as JSON.
    CREATE TABLE amendment(
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      notification INTEGER NOT NULL REFERENCES notification ON DELETE CASCADE,
      editor INTEGER REFERENCES users ON DELETE SET NULL,
      earlier TEXT NOT NULL, created INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX amendment_of_notification ON amendment(notification, id);
    CREATE INDEX amendment_of_editor ON amendment(editor);
    """,
    """
    -- Audiences that publishers have saved. author, editor: who has made it, and who has changed it last.
    CREATE TABLE segment(
      name TEXT PRIMARY KEY, content TEXT NOT NULL, version INTEGER NOT NULL,
      author INTEGER REFERENCES users ON DELETE SET NULL,
      editor INTEGER REFERENCES users ON DELETE SET NULL,
      created INTEGER NOT NULL, updated INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX segment_of_author ON segment(author);
    CREATE INDEX segment_of_editor ON segment(editor);
    -- Notifications whose recipients are found when they are due; segment: in which, if it is one.
    CREATE TABLE due_audience(
      notification INTEGER PRIMARY KEY REFERENCES notification ON DELETE CASCADE,
      segment TEXT REFERENCES segment
    ) STRICT;
    CREATE INDEX due_audience_of_segment ON due_audience(segment) WHERE segment IS NOT NULL;
    """,
    """
    -- The name in the form by which names are sorted.
    ALTER TABLE asset ADD COLUMN ordered TEXT NOT NULL DEFAULT '';
    -- Content that assets had before it was replaced or removed. ended: when that was.
    CREATE TABLE asset_version(
      rich_type TEXT NOT NULL, name TEXT NOT NULL, blob TEXT NOT NULL, type TEXT, bytes INTEGER NOT NULL,
      modified INTEGER NOT NULL, alt TEXT, focus TEXT, ended INTEGER NOT NULL,
      PRIMARY KEY (rich_type, name, blob)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX asset_version_of_blob ON asset_version(blob);
    CREATE INDEX asset_version_by_end ON asset_version(ended);
    """,
    """
    -- The time by the clock of each recipient at which it is sent; when a recipient learns of it; when a push is first due.
    ALTER TABLE notification ADD COLUMN local_time TEXT;
    ALTER TABLE recipient ADD COLUMN due INTEGER;
    ALTER TABLE push ADD COLUMN scheduled INTEGER;
    CREATE TABLE later_event(
      notification INTEGER NOT NULL REFERENCES notification ON DELETE CASCADE,
      due INTEGER NOT NULL, data TEXT NOT NULL, PRIMARY KEY (notification, due)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO later_event SELECT notification, due, data FROM held_event;
    DROP TABLE held_event;
    ALTER TABLE later_event RENAME TO held_event;
    CREATE INDEX held_event_due ON held_event(due);
    DROP INDEX registration_in_order;
    CREATE INDEX registration_in_order
      ON registration(id, user_id, platform, lane, ended, time_zone);
    """,
    """
    -- Notifications for many people may await approval.
    ALTER TABLE notification ADD COLUMN awaits INTEGER;
    ALTER TABLE notification ADD COLUMN people INTEGER;
    CREATE INDEX notification_awaiting ON notification(id) WHERE awaits = 1;
    -- Who has decided on notifications that awaited approval, and why one was refused.
    CREATE TABLE approval(
      notification INTEGER PRIMARY KEY REFERENCES notification ON DELETE CASCADE,
      user_id INTEGER REFERENCES users ON DELETE SET NULL, reason TEXT, created INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX approval_of_user ON approval(user_id);
    """,
    """
    -- What has expired stays listed for a while: whether its recipients, pushes and content were removed.
    ALTER TABLE notification ADD COLUMN emptied INTEGER;
    DROP INDEX notification_by_expiry;
    CREATE INDEX notification_by_expiry ON notification(emptied, expires) WHERE expires IS NOT NULL;
    """,
    """
    -- The most devices that a notification is pushed to in a minute.
    ALTER TABLE notification ADD COLUMN per_minute INTEGER;
    """,
    """
    -- What users were pushed in the last day, if that is limited. subject: the collapse ID, which is the same for all
    -- pushes of a notification and for what takes its place.
    CREATE TABLE daily_push(
      user_id INTEGER NOT NULL REFERENCES users ON DELETE CASCADE, subject TEXT NOT NULL,
      sent INTEGER NOT NULL, PRIMARY KEY (user_id, subject)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX daily_push_by_time ON daily_push(sent);
    """,
    """
    -- Which notifications and drafts have an asset; asset: its rich type and its name, with a slash between them.
    CREATE INDEX notification_of_asset ON notification(rich_type, payload, id, sender)
      WHERE blob IS NOT NULL;
    ALTER TABLE draft ADD COLUMN asset TEXT;
    CREATE INDEX draft_of_asset ON draft(asset) WHERE asset IS NOT NULL;
    """,
    """
    -- Words by which assets are found: each with a comma before and after it, as in ",summer,sale,".
    ALTER TABLE asset ADD COLUMN labels TEXT;
    ALTER TABLE asset_version ADD COLUMN labels TEXT;
    """,
    """
    -- Who did what. kind: what actor is a number of. share: of which limit it takes.
    CREATE TABLE audit(
      id INTEGER PRIMARY KEY AUTOINCREMENT, time INTEGER NOT NULL, kind TEXT NOT NULL, actor INTEGER,
      credential TEXT, credential_id TEXT, address TEXT, request TEXT, share INTEGER NOT NULL,
      action TEXT NOT NULL, object TEXT, object_id TEXT, detail TEXT, count INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX audit_by_time ON audit(time);
    CREATE INDEX audit_by_share ON audit(share, id);
    """,
    """
    -- Users who are being erased, until nothing is left of them. name: that they had, until no record has it.
    CREATE TABLE erasure(
      user_id INTEGER PRIMARY KEY, name TEXT, begun INTEGER NOT NULL
    ) STRICT;
    -- What renditions were made of that belonged to them alone: the digest of what the store no longer has.
    CREATE TABLE erased_content(
      source TEXT NOT NULL PRIMARY KEY, erased INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX erased_content_by_time ON erased_content(erased);
    """,
    """
    -- Sessions that began there. issuer: the provider. provider_session, id_token: its name of the session, and its token.
    ALTER TABLE session ADD COLUMN issuer TEXT;
    ALTER TABLE session ADD COLUMN provider_session TEXT;
    ALTER TABLE session ADD COLUMN id_token TEXT;
    -- Users as providers of OpenID Connect know them, and sign-ins there that have counted.
    CREATE TABLE provider_identity(
      issuer TEXT NOT NULL, subject TEXT NOT NULL, user_id INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
      created INTEGER NOT NULL, PRIMARY KEY (issuer, subject)
    ) STRICT, WITHOUT ROWID;
    CREATE UNIQUE INDEX identity_of_user ON provider_identity(user_id, issuer);
    CREATE TABLE used_sign_in(hash TEXT PRIMARY KEY, used INTEGER NOT NULL) STRICT;
    CREATE INDEX used_sign_in_by_age ON used_sign_in(used);
    CREATE INDEX session_of_provider ON session(issuer, provider_session) WHERE issuer IS NOT NULL;
    """,
    """
    -- Of erased content, what the object store may still have: the blob, if it was one, and its renditions.
    CREATE TABLE erased_object(source TEXT NOT NULL PRIMARY KEY, blob TEXT) STRICT, WITHOUT ROWID;
    """,
    """
    -- owner: whose the object is.
    ALTER TABLE audit ADD COLUMN owner INTEGER;
    UPDATE audit SET owner = CASE object
      WHEN 'user' THEN CAST(object_id AS INTEGER)
      WHEN 'device' THEN (SELECT user_id FROM registration WHERE id = object_id)
      WHEN 'session' THEN (SELECT user_id FROM session WHERE id = CAST(object_id AS INTEGER))
      WHEN 'pairing' THEN (SELECT user_id FROM pairing WHERE id = CAST(object_id AS INTEGER))
      WHEN 'token' THEN (SELECT user_id FROM access_token WHERE id = CAST(object_id AS INTEGER))
      WHEN 'webhook' THEN (SELECT user_id FROM access_token WHERE id = CAST(object_id AS INTEGER))
      WHEN 'notification' THEN (SELECT sender FROM notification WHERE id = CAST(object_id AS INTEGER))
    END;
    """,
    """
    -- Tokens of admins that read how the server is, and the audit log, and do nothing else.
    ALTER TABLE access_token ADD COLUMN status INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE access_token ADD COLUMN audit INTEGER NOT NULL DEFAULT 0;
    """,
    """
    -- A file is known to be published also when its notification is gone.
    CREATE TABLE later_file(
      folder TEXT NOT NULL, path TEXT NOT NULL, sidecar TEXT NOT NULL, content TEXT NOT NULL,
      notification INTEGER NOT NULL, published INTEGER NOT NULL,
      PRIMARY KEY (folder, path)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO later_file
      SELECT folder, path, sidecar, content, notification, published FROM published_file;
    DROP TABLE published_file;
    ALTER TABLE later_file RENAME TO published_file;
    CREATE INDEX published_file_of_notification ON published_file(notification);
    """,
  ]

  /// The tables of ``version``.
  ///
  /// Times are milliseconds since 1970.
  static let creation = """
    CREATE TABLE counter(name TEXT PRIMARY KEY, next INTEGER NOT NULL) STRICT;
    INSERT INTO counter VALUES ('notification', 0);

    -- max_devices: the quota that an admin has set. own_…: what the user's devices have sent to it since when.
    CREATE TABLE users(
      id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, hash TEXT, role TEXT NOT NULL,
      created INTEGER NOT NULL, max_devices INTEGER, own_sent INTEGER NOT NULL DEFAULT 0,
      own_since INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    -- What is known of users, for placeholders.
    CREATE TABLE user_attribute(
      user_id INTEGER NOT NULL REFERENCES users ON DELETE CASCADE, name TEXT NOT NULL,
      value TEXT NOT NULL, PRIMARY KEY (user_id, name)
    ) STRICT, WITHOUT ROWID;
    -- issuer: the provider where it began. provider_session, id_token: its name of the session, and its token.
    CREATE TABLE session(
      id INTEGER PRIMARY KEY AUTOINCREMENT, hash TEXT NOT NULL UNIQUE, user_id INTEGER NOT NULL,
      created INTEGER NOT NULL, used INTEGER NOT NULL, user_agent TEXT NOT NULL,
      issuer TEXT, provider_session TEXT, id_token TEXT
    ) STRICT;
    CREATE INDEX session_of_user ON session(user_id, id);
    CREATE INDEX session_by_age ON session(created);
    -- Users as providers of OpenID Connect know them, and sign-ins there that have counted.
    CREATE TABLE provider_identity(
      issuer TEXT NOT NULL, subject TEXT NOT NULL, user_id INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
      created INTEGER NOT NULL, PRIMARY KEY (issuer, subject)
    ) STRICT, WITHOUT ROWID;
    CREATE UNIQUE INDEX identity_of_user ON provider_identity(user_id, issuer);
    CREATE TABLE used_sign_in(hash TEXT PRIMARY KEY, used INTEGER NOT NULL) STRICT;
    CREATE INDEX used_sign_in_by_age ON used_sign_in(used);
    CREATE INDEX session_of_provider ON session(issuer, provider_session) WHERE issuer IS NOT NULL;

    -- Tokens of publishers. audience: to whom they send, of everybody null. receipts, assets: what else they allow. rate:
    -- notifications a minute. used, used_from: their last use. status, audit: what one of an admin reads, and nothing else.
    CREATE TABLE access_token(
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      user_id INTEGER NOT NULL REFERENCES users ON DELETE CASCADE, name TEXT NOT NULL,
      hash TEXT NOT NULL UNIQUE, audience TEXT, receipts INTEGER NOT NULL, assets INTEGER NOT NULL,
      rate INTEGER, created INTEGER NOT NULL, expires INTEGER, used INTEGER, used_from TEXT,
      status INTEGER NOT NULL DEFAULT 0, audit INTEGER NOT NULL DEFAULT 0, UNIQUE (user_id, name)
    ) STRICT;

    -- Access tokens that count only as the address of a webhook. secret: with which its sender signs. What failed of what it
    -- was sent; digest: of fields and body, so that one that comes again is there once; body: null if it is not kept.
    CREATE TABLE webhook(
      token INTEGER PRIMARY KEY REFERENCES access_token ON DELETE CASCADE, template TEXT NOT NULL, secret TEXT
    ) STRICT;
    CREATE TABLE webhook_delivery(
      id INTEGER PRIMARY KEY AUTOINCREMENT, webhook INTEGER NOT NULL REFERENCES webhook ON DELETE CASCADE,
      digest TEXT NOT NULL, fields TEXT NOT NULL, body TEXT, reason TEXT NOT NULL, failed INTEGER NOT NULL,
      UNIQUE (webhook, digest)
    ) STRICT;

    -- What publishers have begun to write. template: whether it is kept for more than one notification. author, editor: who
    -- has begun it, and who has changed it last. asset: which it names, as `img/logo.png`.
    CREATE TABLE draft(
      id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, content TEXT NOT NULL,
      template INTEGER NOT NULL, version INTEGER NOT NULL,
      author INTEGER REFERENCES users ON DELETE SET NULL,
      editor INTEGER REFERENCES users ON DELETE SET NULL,
      created INTEGER NOT NULL, updated INTEGER NOT NULL, asset TEXT
    ) STRICT;
    CREATE INDEX draft_of_author ON draft(author);
    CREATE INDEX draft_of_editor ON draft(editor);
    CREATE INDEX draft_by_time ON draft(template, updated);
    CREATE INDEX draft_of_asset ON draft(asset) WHERE asset IS NOT NULL;

    -- Audiences that publishers have saved. author, editor: who has made it, and who has changed it last.
    CREATE TABLE segment(
      name TEXT PRIMARY KEY, content TEXT NOT NULL, version INTEGER NOT NULL,
      author INTEGER REFERENCES users ON DELETE SET NULL,
      editor INTEGER REFERENCES users ON DELETE SET NULL,
      created INTEGER NOT NULL, updated INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX segment_of_author ON segment(author);
    CREATE INDEX segment_of_editor ON segment(editor);

    -- Codes by which a device of a user gets a token, once; ended: used, or revoked.
    CREATE TABLE pairing(
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      user_id INTEGER NOT NULL REFERENCES users ON DELETE CASCADE, hash TEXT NOT NULL UNIQUE,
      short_hash TEXT, created INTEGER NOT NULL, expires INTEGER NOT NULL,
      ended INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE INDEX pairing_of_user ON pairing(user_id);
    CREATE INDEX pairing_by_short_hash ON pairing(short_hash) WHERE short_hash IS NOT NULL;
    -- Users who have added themselves, with the subjects that they wanted; some wait for approval.
    CREATE TABLE sign_up(
      user_id INTEGER NOT NULL PRIMARY KEY REFERENCES users ON DELETE CASCADE, subjects TEXT NOT NULL,
      created INTEGER NOT NULL, waiting INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX sign_up_waiting ON sign_up(user_id) WHERE waiting = 1;

    -- Those that a service has ended are kept for a while.
    CREATE TABLE registration(
      id TEXT PRIMARY KEY, user_id INTEGER NOT NULL DEFAULT 0, platform TEXT, handle TEXT NOT NULL UNIQUE,
      updated INTEGER NOT NULL, keys TEXT, lane TEXT, name TEXT, created INTEGER, credential TEXT,
      user_agent TEXT, contact INTEGER, ended INTEGER, ended_by TEXT, language TEXT, time_zone TEXT,
      quiet_hours TEXT
    ) STRICT;
    CREATE INDEX registration_of_user ON registration(user_id);
    -- What an audience needs of a registration, in the order of the IDs: its row is at a random place.
    CREATE INDEX registration_in_order
      ON registration(id, user_id, platform, lane, ended, time_zone);
    CREATE INDEX registration_by_end ON registration(ended_by, ended) WHERE ended IS NOT NULL;
    CREATE INDEX registration_by_lane ON registration(lane) WHERE lane IS NOT NULL;
    CREATE TABLE registration_tag(
      tag TEXT NOT NULL, registration TEXT NOT NULL REFERENCES registration ON DELETE CASCADE,
      PRIMARY KEY (tag, registration)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX tag_of_registration ON registration_tag(registration);
    CREATE TABLE device_token(
      hash TEXT NOT NULL PRIMARY KEY, created INTEGER NOT NULL,
      registration TEXT NOT NULL REFERENCES registration ON DELETE CASCADE
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX device_token_of_registration ON device_token(registration);

    -- replaced: when the content was replaced that some had fetched. members: what the message says beside its text.
    -- replaces: what it is about. replaced_by: which one has taken its place. focus: its asset's. asset_alt: whether
    -- its alternative text is its asset's. local_time: the time by the clock of each recipient at which it is sent.
    -- awaits: whether it awaits approval. people: for how many it is, if it may need it. emptied: whether its
    -- recipients, pushes and content were removed, since it has ended.
    -- per_minute: the most devices that it is pushed to in a minute.
    CREATE TABLE notification(
      id INTEGER PRIMARY KEY, message TEXT NOT NULL, rich_type TEXT NOT NULL, payload TEXT NOT NULL,
      sender INTEGER, audience TEXT NOT NULL, details TEXT, blob TEXT, blob_size INTEGER, blob_type TEXT,
      created INTEGER NOT NULL, not_before INTEGER, expires INTEGER, form TEXT NOT NULL DEFAULT '',
      withdrawn INTEGER, held INTEGER, replaced INTEGER, members TEXT, replaces TEXT, replaced_by INTEGER,
      focus TEXT, asset_alt INTEGER, local_time TEXT, awaits INTEGER, people INTEGER, emptied INTEGER,
      per_minute INTEGER
    ) STRICT;
    CREATE INDEX notification_of_blob ON notification(blob) WHERE blob IS NOT NULL;
    CREATE INDEX notification_of_asset ON notification(rich_type, payload, id, sender)
      WHERE blob IS NOT NULL;
    CREATE INDEX notification_by_expiry ON notification(emptied, expires) WHERE expires IS NOT NULL;
    CREATE INDEX notification_by_sender ON notification(sender, id);
    CREATE INDEX notification_awaiting ON notification(id) WHERE awaits = 1;
    CREATE INDEX notification_by_subject ON notification(sender, replaces)
      WHERE replaces IS NOT NULL AND replaced_by IS NULL;
    -- Who has decided on notifications that awaited approval, and why one was refused.
    CREATE TABLE approval(
      notification INTEGER PRIMARY KEY REFERENCES notification ON DELETE CASCADE,
      user_id INTEGER REFERENCES users ON DELETE SET NULL, reason TEXT, created INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX approval_of_user ON approval(user_id);
    CREATE TABLE idempotency(
      sender INTEGER NOT NULL, key TEXT NOT NULL, request TEXT NOT NULL,
      notification INTEGER NOT NULL REFERENCES notification ON DELETE CASCADE,
      PRIMARY KEY (sender, key)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX idempotency_of_notification ON idempotency(notification);
    -- The file of the drop folder that a notification was made of, which may be gone, with what it held then.
    CREATE TABLE published_file(
      folder TEXT NOT NULL, path TEXT NOT NULL, sidecar TEXT NOT NULL, content TEXT NOT NULL,
      notification INTEGER NOT NULL, published INTEGER NOT NULL,
      PRIMARY KEY (folder, path)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX published_file_of_notification ON published_file(notification);
    -- What was changed of notifications before they went: who has changed it, and the members as they were before, as JSON.
    CREATE TABLE amendment(
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      notification INTEGER NOT NULL REFERENCES notification ON DELETE CASCADE,
      editor INTEGER REFERENCES users ON DELETE SET NULL,
      earlier TEXT NOT NULL, created INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX amendment_of_notification ON amendment(notification, id);
    CREATE INDEX amendment_of_editor ON amendment(editor);
    CREATE TABLE notification_count(
      notification INTEGER PRIMARY KEY REFERENCES notification ON DELETE CASCADE,
      recipients INTEGER NOT NULL, reached INTEGER NOT NULL DEFAULT 0,
      fetched INTEGER NOT NULL DEFAULT 0, read INTEGER NOT NULL DEFAULT 0,
      queued INTEGER NOT NULL DEFAULT 0, sent INTEGER NOT NULL DEFAULT 0,
      failed INTEGER NOT NULL DEFAULT 0, displayed INTEGER NOT NULL DEFAULT 0,
      opened INTEGER NOT NULL DEFAULT 0, dismissed INTEGER NOT NULL DEFAULT 0,
      actions INTEGER NOT NULL DEFAULT 0, replies INTEGER NOT NULL DEFAULT 0,
      first_sent INTEGER, first_fetched INTEGER, first_read INTEGER, first_displayed INTEGER,
      first_opened INTEGER
    ) STRICT;

    -- progress: how far the notification has come with the recipient, from 0 (queued) to 5 (read). kept: not null if
    -- another has taken its place for others only. hidden: when the recipient took it out of the inbox. due: when the
    -- recipient learns of it, if that is a time of the recipient's own.
    CREATE TABLE recipient(
      user_id INTEGER NOT NULL,
      notification INTEGER NOT NULL REFERENCES notification ON DELETE CASCADE,
      fetched INTEGER, read INTEGER, sent INTEGER, displayed INTEGER, opened INTEGER, dismissed INTEGER,
      kept INTEGER, hidden INTEGER, due INTEGER,
      progress INTEGER AS (
        CASE WHEN read IS NOT NULL THEN 5 WHEN opened IS NOT NULL THEN 4 WHEN fetched IS NOT NULL THEN 3
          WHEN displayed IS NOT NULL THEN 2 WHEN sent IS NOT NULL THEN 1 ELSE 0 END
      ) VIRTUAL,
      PRIMARY KEY (user_id, notification)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX recipient_by_progress ON recipient(notification, progress, user_id);
    CREATE INDEX unread ON recipient(user_id, notification) WHERE read IS NULL;
    CREATE INDEX recipient_kept ON recipient(kept, user_id) WHERE kept IS NOT NULL;
    -- What placeholders of a notification stand for, by recipient; of those who are no recipients yet in the parts.
    CREATE TABLE recipient_values(
      notification INTEGER NOT NULL REFERENCES notification ON DELETE CASCADE,
      user_id INTEGER NOT NULL, data TEXT NOT NULL, PRIMARY KEY (notification, user_id)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE device_receipt(
      notification INTEGER NOT NULL REFERENCES notification ON DELETE CASCADE,
      user_id INTEGER NOT NULL, registration TEXT NOT NULL, fetched INTEGER, read INTEGER,
      displayed INTEGER, opened INTEGER, dismissed INTEGER,
      PRIMARY KEY (notification, user_id, registration)
    ) STRICT, WITHOUT ROWID;
    -- Buttons that were pressed, and replies; key tells a reply from its repetitions.
    CREATE TABLE interaction(
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      notification INTEGER NOT NULL REFERENCES notification ON DELETE CASCADE,
      user_id INTEGER NOT NULL, registration TEXT NOT NULL, event TEXT NOT NULL, key TEXT NOT NULL,
      action TEXT NOT NULL, text TEXT, created INTEGER NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX interaction_once ON interaction(user_id, notification, registration, event, key);
    CREATE INDEX interaction_of_notification ON interaction(notification, id);

    CREATE TABLE push_event(
      sequence INTEGER PRIMARY KEY AUTOINCREMENT, user_id INTEGER NOT NULL,
      notification INTEGER REFERENCES notification ON DELETE CASCADE,
      data TEXT NOT NULL, created INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX push_event_of_user ON push_event(user_id, sequence);
    CREATE INDEX push_event_of_notification ON push_event(notification);
    CREATE TABLE held_event(
      notification INTEGER NOT NULL REFERENCES notification ON DELETE CASCADE,
      due INTEGER NOT NULL, data TEXT NOT NULL, PRIMARY KEY (notification, due)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX held_event_due ON held_event(due);
    -- Notifications whose recipients are found when they are due; segment: in which, if it is one.
    CREATE TABLE due_audience(
      notification INTEGER PRIMARY KEY REFERENCES notification ON DELETE CASCADE,
      segment TEXT REFERENCES segment
    ) STRICT;
    CREATE INDEX due_audience_of_segment ON due_audience(segment) WHERE segment IS NOT NULL;
    CREATE TABLE event(
      sequence INTEGER PRIMARY KEY AUTOINCREMENT, token TEXT NOT NULL DEFAULT (lower(hex(randomblob(16)))),
      type TEXT NOT NULL, publisher INTEGER, user_id INTEGER, notification INTEGER, data TEXT NOT NULL,
      created INTEGER NOT NULL, interaction INTEGER REFERENCES interaction ON DELETE CASCADE
    ) STRICT;
    CREATE INDEX event_of_publisher ON event(publisher, sequence);
    CREATE INDEX event_of_interaction ON event(interaction) WHERE interaction IS NOT NULL;

    -- message, members, form: what it says, if that is not what the notification says now. media: what it links to.
    -- urgent: not null if it does not wait for the end of a device's quiet hours. scheduled: when its jobs are first due,
    -- if not with the notification.
    CREATE TABLE push(
      id INTEGER PRIMARY KEY, notification INTEGER REFERENCES notification ON DELETE CASCADE,
      lane TEXT NOT NULL, kind TEXT NOT NULL, collapse TEXT, expires INTEGER, message TEXT, members TEXT,
      form TEXT, media TEXT, urgent INTEGER, scheduled INTEGER
    ) STRICT;
    CREATE INDEX push_of_notification ON push(notification);
    -- refused: the settings under which a queued job was refused. refused_since: the time of renewal after which its
    -- registration does not end. quiet: until when it has waited for the end of the device's quiet hours.
    CREATE TABLE job(
      id INTEGER PRIMARY KEY AUTOINCREMENT, push INTEGER NOT NULL REFERENCES push ON DELETE CASCADE,
      lane TEXT NOT NULL, token TEXT NOT NULL, user_id INTEGER, registration TEXT, audience TEXT, collapse TEXT,
      state TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, due INTEGER NOT NULL, owner TEXT,
      updated INTEGER NOT NULL, sent_as TEXT, reference TEXT, reason TEXT, refused TEXT, refused_since INTEGER,
      quiet INTEGER
    ) STRICT;
    CREATE INDEX job_of_push ON job(push, state);
    CREATE INDEX job_by_state ON job(state, lane, id);
    CREATE INDEX job_due ON job(lane, due, id, owner) WHERE state = 'queued';
    CREATE INDEX job_in_order ON job(registration, collapse, id)
      WHERE state = 'queued' AND collapse IS NOT NULL;
    CREATE INDEX job_called_off ON job(registration, collapse)
      WHERE state = 'cancelled' AND owner IS NOT NULL;
    -- Silent pushes of the last hour and collapse IDs that a device holds, of any lane.
    CREATE INDEX job_sent ON job(registration, audience, updated) WHERE state = 'sent';
    CREATE INDEX job_refused ON job(lane, refused, id) WHERE state = 'queued' AND refused IS NOT NULL;
    CREATE INDEX job_refused_device ON job(registration) WHERE state = 'queued' AND refused IS NOT NULL;
    CREATE INDEX job_quiet ON job(registration) WHERE state = 'queued' AND quiet IS NOT NULL;
    -- Lanes whose service is doubted (since is NULL), or that wait for the operator.
    CREATE TABLE lane_pause(
      lane TEXT NOT NULL, settings TEXT NOT NULL, since INTEGER, until INTEGER, reason TEXT,
      probes INTEGER NOT NULL DEFAULT 0, trials INTEGER NOT NULL DEFAULT 0,
      stopped INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (lane, settings)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE audience_part(
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      notification INTEGER NOT NULL REFERENCES notification ON DELETE CASCADE,
      push INTEGER REFERENCES push ON DELETE CASCADE,
      event TEXT, due INTEGER, first INTEGER, last INTEGER, members TEXT NOT NULL, data TEXT
    ) STRICT;
    CREATE INDEX audience_part_of_notification ON audience_part(notification, push, first);
    CREATE INDEX audience_part_of_push ON audience_part(push);

    -- What users were pushed in the last day, if that is limited. subject: the collapse ID, which is the same for all
    -- pushes of a notification and for what takes its place.
    CREATE TABLE daily_push(
      user_id INTEGER NOT NULL REFERENCES users ON DELETE CASCADE, subject TEXT NOT NULL,
      sent INTEGER NOT NULL, PRIMARY KEY (user_id, subject)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX daily_push_by_time ON daily_push(sent);
    -- Users who are being erased, until nothing is left of them. name: that they had, until no record has it.
    CREATE TABLE erasure(
      user_id INTEGER PRIMARY KEY, name TEXT, begun INTEGER NOT NULL
    ) STRICT;
    -- What renditions were made of that belonged to them alone: the digest of what the store no longer has.
    CREATE TABLE erased_content(
      source TEXT NOT NULL PRIMARY KEY, erased INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX erased_content_by_time ON erased_content(erased);
    -- Of erased content, what the object store may still have: the blob, if it was one, and its renditions.
    CREATE TABLE erased_object(source TEXT NOT NULL PRIMARY KEY, blob TEXT) STRICT, WITHOUT ROWID;

    CREATE TABLE link_key(
      id INTEGER PRIMARY KEY AUTOINCREMENT, secret TEXT NOT NULL, created INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE vapid_key(
      id INTEGER PRIMARY KEY CHECK (id = 1), secret TEXT NOT NULL, created INTEGER NOT NULL
    ) STRICT;
    -- Keys of session tickets; in no backup.
    CREATE TABLE ticket_key(
      id INTEGER PRIMARY KEY AUTOINCREMENT, secret TEXT NOT NULL, created INTEGER NOT NULL
    ) STRICT;

    -- folded: the name without what differs between file systems. ordered: the name in the form by which names are sorted.
    -- focus_of: the content that focus is a point of. labels: each with a comma before and after it.
    CREATE TABLE asset(
      rich_type TEXT NOT NULL, name TEXT NOT NULL, state TEXT NOT NULL, reason TEXT, blob TEXT,
      bytes INTEGER NOT NULL, type TEXT, details TEXT, stamp TEXT NOT NULL, modified INTEGER NOT NULL,
      updated INTEGER NOT NULL, folded TEXT NOT NULL DEFAULT '', alt TEXT, focus TEXT, focus_of TEXT,
      ordered TEXT NOT NULL DEFAULT '', labels TEXT, PRIMARY KEY (rich_type, name)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX asset_of_blob ON asset(blob) WHERE blob IS NOT NULL;
    CREATE INDEX asset_by_folded_name ON asset(rich_type, folded);
    CREATE INDEX asset_by_state ON asset(state, updated);
    -- Content that assets had before it was replaced or removed. ended: when that was.
    CREATE TABLE asset_version(
      rich_type TEXT NOT NULL, name TEXT NOT NULL, blob TEXT NOT NULL, type TEXT, bytes INTEGER NOT NULL,
      modified INTEGER NOT NULL, alt TEXT, focus TEXT, labels TEXT, ended INTEGER NOT NULL,
      PRIMARY KEY (rich_type, name, blob)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX asset_version_of_blob ON asset_version(blob);
    CREATE INDEX asset_version_by_end ON asset_version(ended);
    -- Who did what. kind: what actor is a number of. share: of which limit it takes. owner: whose the object is.
    CREATE TABLE audit(
      id INTEGER PRIMARY KEY AUTOINCREMENT, time INTEGER NOT NULL, kind TEXT NOT NULL, actor INTEGER,
      credential TEXT, credential_id TEXT, address TEXT, request TEXT, share INTEGER NOT NULL,
      action TEXT NOT NULL, object TEXT, object_id TEXT, detail TEXT, count INTEGER NOT NULL,
      owner INTEGER
    ) STRICT;
    CREATE INDEX audit_by_time ON audit(time);
    CREATE INDEX audit_by_share ON audit(share, id);
    """
}

extension StoreError {
  /// Refuses tables of a version before the first that is carried over.
  static func tooOld(_ what: String) -> StoreError {
    StoreError(
      .older,
      "\(what) was written by a richpush before commit c1a7ad3; start that version once, which brings it to "
        + "its own tables, and then this one")
  }
}
