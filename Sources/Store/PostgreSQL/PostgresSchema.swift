/// The tables in PostgreSQL, in the version that the table `schema_version` has.
///
/// To change a table, change ``creation``, and append to ``steps`` what brings a database of the version before to
/// it, beside that of ``SQLiteSchema``. Never change a step that was released. While nodes are upgraded one after
/// the other, those of the earlier version use the new tables, or stop.
enum PostgresSchema {
  /// The version before the first step: that of commit c1a7ad3.
  private static let firstVersion = 4
  /// The version of ``creation``.
  static var version: Int { firstVersion + steps.count }

  /// Creates the tables, or applies the missing steps, and `initialize`, all of it or nothing; nodes that start at
  /// the same time do so one after the other.
  ///
  /// Throws `newer` if the tables are of a later version, and `older` if of one before the first.
  static func migrate(
    _ connection: PostgresConnection, initialize: (PostgresConnection) throws -> Void
  ) throws {
    if try presentVersion(connection) == version { return }
    try connection.script("BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0")
    do {
      try connection.run(
        "SELECT pg_advisory_xact_lock(hashtextextended('richpush tables ' || current_schema(), 0))")
      try connection.script(
        "CREATE TABLE IF NOT EXISTS schema_version(version integer NOT NULL)")
      if let present = try presentVersion(connection) {
        guard present <= version else { throw newer }
        guard present >= firstVersion else { throw StoreError.tooOld("the database") }
        for step in steps[(present - firstVersion)...] { try connection.script(step) }
        try connection.foldAssetNames()
      } else {
        try connection.script(creation)
      }
      try initialize(connection)
      try connection.run("DELETE FROM schema_version")
      try connection.run("INSERT INTO schema_version VALUES ($1)", version)
      try connection.script("COMMIT")
    } catch {
      try? connection.script("ROLLBACK")
      throw error
    }
  }

  /// Throws `newer` if the tables are of a later version; changes nothing.
  static func requireKnownVersion(_ connection: PostgresConnection) throws {
    if try isLater(connection) { throw newer }
  }

  /// Whether the tables are of a later version.
  static func isLater(_ connection: PostgresConnection) throws -> Bool {
    try presentVersion(connection) ?? 0 > version
  }

  /// Why a node does nothing while a later version has changed its tables.
  static let outdated = StoreError(
    .newer,
    "a node of a newer richpush has changed the tables: this one serves and sends nothing until it is upgraded"
  )

  private static let newer = StoreError(
    .newer, "the database was written by a newer richpush; start that version instead")

  /// Throws `conflict` if not all records are there that `store migrate` copies into the database.
  static func requireFinishedMigration(_ connection: PostgresConnection) throws {
    guard try isMigrationUnfinished(connection) else { return }
    throw StoreError(
      .conflict,
      "not all records have been copied into the database: run 'richpush store migrate' again, "
        + "which goes on where it was")
  }

  /// Whether `store migrate` has begun to copy records into the database, and has not compared all of them.
  static func isMigrationUnfinished(_ connection: PostgresConnection) throws -> Bool {
    try connection.value(
      "SELECT to_regclass(quote_ident(current_schema()) || '.unfinished_migration') IS NOT NULL")
      ?? false
  }

  /// Throws `failed` if the role may not make the tables, or change those that are there.
  static func requirePermission(_ connection: PostgresConnection) throws {
    let problem = try connection.value(
      """
      SELECT CASE
        WHEN current_schema() IS NULL
        THEN 'there is no schema for its tables: the search_path is ' || current_setting('search_path')
        WHEN NOT has_schema_privilege(current_schema(), 'CREATE')
        THEN 'the role ' || current_user || ' may not create tables in the schema ' || current_schema()
          || ': make it the owner of the database'
        ELSE (
          SELECT 'the role ' || current_user || ' may not change the table ' || relname
            || ', whose owner is ' || pg_get_userbyid(relowner)
          FROM pg_class WHERE oid = to_regclass(quote_ident(current_schema()) || '.schema_version')
            AND NOT pg_has_role(relowner, 'USAGE'))
        END
      """, as: String?.self)
    if let problem = problem ?? nil { throw StoreError(.failed, problem) }
  }

  /// Nil if there are no tables.
  static func presentVersion(_ connection: PostgresConnection) throws -> Int? {
    let exists = try connection.value(
      "SELECT to_regclass(quote_ident(current_schema()) || '.schema_version') IS NOT NULL",
      as: Bool.self)
    guard exists == true else { return nil }
    return try connection.value("SELECT version FROM schema_version")
  }

  /// What brings a database of each version since the first to the next one.
  private static let steps = [
    """
    ALTER TABLE registration ADD COLUMN name text, ADD COLUMN created bigint,
      ADD COLUMN credential text, ADD COLUMN user_agent text, ADD COLUMN contact bigint;
    ALTER TABLE notification ADD COLUMN held bigint;
    """,
    """
    -- The quota that an admin has set, and what the user's devices have sent to it since when.
    ALTER TABLE users ADD COLUMN max_devices bigint, ADD COLUMN own_sent bigint NOT NULL DEFAULT 0,
      ADD COLUMN own_since bigint NOT NULL DEFAULT 0;
    """,
    """
    -- Registrations that a service has ended are kept for a while.
    ALTER TABLE registration ADD COLUMN ended bigint, ADD COLUMN ended_by text;
    CREATE INDEX registration_by_end ON registration(ended_by, ended) WHERE ended IS NOT NULL;
    CREATE INDEX registration_by_lane ON registration(lane) WHERE lane IS NOT NULL;
    -- Under which settings a queued job was refused, and the time of renewal after which its registration does not end.
    ALTER TABLE job ADD COLUMN refused text, ADD COLUMN refused_since bigint;
    CREATE INDEX job_refused ON job(lane, refused, id) WHERE state = 'queued' AND refused IS NOT NULL;
    CREATE INDEX job_refused_device ON job(registration) WHERE state = 'queued' AND refused IS NOT NULL;
    -- Lanes whose service is doubted (since is null), or that wait for the operator.
    CREATE TABLE lane_pause(
      lane text COLLATE "C" NOT NULL, settings text NOT NULL, since bigint, until bigint, reason text,
      probes bigint NOT NULL DEFAULT 0, trials bigint NOT NULL DEFAULT 0,
      stopped bigint NOT NULL DEFAULT 0, PRIMARY KEY (lane, settings)
    );
    """,
    """
    -- The file of the drop folder that a notification was made of, with what it held then.
    CREATE TABLE published_file(
      folder text NOT NULL, path text NOT NULL, sidecar text NOT NULL, content text NOT NULL,
      notification bigint NOT NULL REFERENCES notification ON DELETE CASCADE
        DEFERRABLE INITIALLY DEFERRED,
      published bigint NOT NULL,
      PRIMARY KEY (folder, path)
    );
    CREATE INDEX published_file_of_notification ON published_file(notification);
    -- When the content was replaced that some had fetched.
    ALTER TABLE notification ADD COLUMN replaced bigint;
    -- Folded as before, upper and lower case only; the next start folds them again.
    UPDATE asset SET folded = '';
    """,
    """
    -- Silent pushes of the last hour and collapse IDs that a device holds, of any lane.
    DROP INDEX job_woken;
    DROP INDEX job_collapsed;
    CREATE INDEX job_sent ON job(line, updated) WHERE state = 'sent';
    """,
    """
    -- What a message says beside its text.
    ALTER TABLE notification ADD COLUMN members text;
    -- What a notification is about, and which one has taken its place.
    ALTER TABLE notification ADD COLUMN replaces text;
    ALTER TABLE notification ADD COLUMN replaced_by bigint;
    CREATE INDEX notification_by_subject ON notification(sender, replaces)
      WHERE replaces IS NOT NULL AND replaced_by IS NULL;
    -- Payloads are made when they are sent: a push has the media it links to, and a message only if it is not the
    -- notification's.
    ALTER TABLE push ADD COLUMN message text, ADD COLUMN members text, ADD COLUMN form text,
      ADD COLUMN media text;
    UPDATE push SET media = (
      SELECT '{"size":' || (made.text #>> '{att,size}') || ',"type":' || (made.text #> '{att,type}')::text || '}'
      FROM (SELECT coalesce(push.fallback, push.text)::json AS text) AS made)
    WHERE text LIKE '{%';
    UPDATE push SET form = '',
      message = coalesce(text::json #>> '{aps,alert}', text::json #>> '{richMessage}', '')
    WHERE notification IS NULL AND text LIKE '{%';
    UPDATE push_event SET data = CASE
      WHEN data NOT LIKE '{%' THEN '{}'
      WHEN data::json #>> '{att,size}' IS NOT NULL
        THEN '{"size":' || (data::json #>> '{att,size}') || ',"type":' || (data::json #> '{att,type}')::text || '}'
      ELSE '{}' END
    WHERE notification IS NOT NULL;
    UPDATE held_event SET data = CASE
      WHEN data NOT LIKE '{%' THEN '{}'
      WHEN data::json #>> '{att,size}' IS NOT NULL
        THEN '{"size":' || (data::json #>> '{att,size}') || ',"type":' || (data::json #> '{att,type}')::text || '}'
      ELSE '{}' END
    WHERE true;
    UPDATE audience_part SET event = CASE
      WHEN event NOT LIKE '{%' THEN '{}'
      WHEN event::json #>> '{att,size}' IS NOT NULL
        THEN '{"size":' || (event::json #>> '{att,size}') || ',"type":' || (event::json #> '{att,type}')::text || '}'
      ELSE '{}' END
    WHERE push IS NULL AND event IS NOT NULL;
    ALTER TABLE push DROP COLUMN text, DROP COLUMN fallback;
    """,
    """
    -- What a device prefers to be told in, and when: a language (BCP 47), and a time zone of the IANA.
    ALTER TABLE registration ADD COLUMN language text, ADD COLUMN time_zone text;
    -- What is known of users, for placeholders.
    CREATE TABLE user_attribute(
      user_id bigint NOT NULL REFERENCES users ON DELETE CASCADE, name text COLLATE "C" NOT NULL,
      value text NOT NULL, PRIMARY KEY (user_id, name)
    );
    -- What placeholders of a notification stand for, by recipient; of those who are no recipients yet in the parts.
    CREATE TABLE recipient_values(
      notification bigint NOT NULL REFERENCES notification ON DELETE CASCADE,
      user_id bigint NOT NULL, data text NOT NULL, PRIMARY KEY (notification, user_id)
    );
    ALTER TABLE audience_part ADD COLUMN data json;
    -- From now on {{ begins a placeholder.
    UPDATE notification SET message = replace(message, '{{', '{{{{')
    WHERE message LIKE '%{{%' AND form NOT LIKE 'legacy%';
    UPDATE push SET message = replace(message, '{{', '{{{{')
    WHERE message LIKE '%{{%' AND notification IS NOT NULL AND form NOT LIKE 'legacy%';
    """,
    """
    -- What people did with a notification.
    DROP INDEX recipient_by_progress;
    ALTER TABLE recipient ADD COLUMN displayed bigint, ADD COLUMN opened bigint,
      ADD COLUMN dismissed bigint;
    CREATE INDEX recipient_by_progress ON recipient(notification, (
      CASE WHEN read IS NOT NULL THEN 5 WHEN opened IS NOT NULL THEN 4 WHEN fetched IS NOT NULL THEN 3
        WHEN displayed IS NOT NULL THEN 2 WHEN sent IS NOT NULL THEN 1 ELSE 0 END
    ), user_id);
    ALTER TABLE device_receipt ADD COLUMN displayed bigint, ADD COLUMN opened bigint,
      ADD COLUMN dismissed bigint;
    ALTER TABLE notification_count ADD COLUMN displayed bigint NOT NULL DEFAULT 0,
      ADD COLUMN opened bigint NOT NULL DEFAULT 0, ADD COLUMN dismissed bigint NOT NULL DEFAULT 0,
      ADD COLUMN actions bigint NOT NULL DEFAULT 0, ADD COLUMN replies bigint NOT NULL DEFAULT 0,
      ADD COLUMN first_displayed bigint, ADD COLUMN first_opened bigint;
    -- Buttons that were pressed, and replies; key tells a reply from its repetitions.
    CREATE TABLE interaction(
      id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
      notification bigint NOT NULL REFERENCES notification ON DELETE CASCADE,
      user_id bigint NOT NULL, registration text COLLATE "C" NOT NULL, event text NOT NULL,
      key text NOT NULL, action text NOT NULL, text text, created bigint NOT NULL
    );
    CREATE UNIQUE INDEX interaction_once ON interaction(user_id, notification, registration, event, key);
    CREATE INDEX interaction_of_notification ON interaction(notification, id);
    ALTER TABLE event ADD COLUMN interaction bigint REFERENCES interaction ON DELETE CASCADE;
    CREATE INDEX event_of_interaction ON event(interaction) WHERE interaction IS NOT NULL;
    """,
    """
    -- That a recipient keeps a notification whose place another has taken for others.
    ALTER TABLE recipient ADD COLUMN kept bigint;
    CREATE INDEX recipient_kept ON recipient(kept, user_id) WHERE kept IS NOT NULL;
    """,
    """
    -- What an asset shows, and the point that crops keep, with the content that it is a point of.
    ALTER TABLE asset ADD COLUMN alt text, ADD COLUMN focus text, ADD COLUMN focus_of text;
    -- What a notification has of its asset: the focus, and whether its alternative text is the asset's.
    ALTER TABLE notification ADD COLUMN focus text, ADD COLUMN asset_alt bigint;
    """,
    """
    -- Codes by which a device of a user gets a token: once, until they expire.
    CREATE TABLE pairing(
      id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
      user_id bigint NOT NULL REFERENCES users ON DELETE CASCADE, hash text NOT NULL UNIQUE,
      short_hash text, created bigint NOT NULL, expires bigint NOT NULL,
      ended bigint NOT NULL DEFAULT 0
    );
    CREATE INDEX pairing_of_user ON pairing(user_id);
    CREATE INDEX pairing_by_short_hash ON pairing(short_hash) WHERE short_hash IS NOT NULL;
    -- Users who have added themselves, with the subjects that they wanted; some wait for approval.
    CREATE TABLE sign_up(
      user_id bigint PRIMARY KEY REFERENCES users ON DELETE CASCADE, subjects text NOT NULL,
      created bigint NOT NULL, waiting bigint NOT NULL
    );
    CREATE INDEX sign_up_waiting ON sign_up(user_id) WHERE waiting = 1;
    -- That a recipient has taken a notification out of the inbox.
    ALTER TABLE recipient ADD COLUMN hidden bigint;
    -- When a device is not disturbed, which pushes come then all the same, and until when a job waits for that.
    ALTER TABLE registration ADD COLUMN quiet_hours text;
    ALTER TABLE push ADD COLUMN urgent bigint;
    UPDATE push SET urgent = 1 WHERE id IN (SELECT push FROM job WHERE state = 'queued')
      AND notification IN (
        SELECT id FROM notification WHERE members LIKE '%"importance":"urgent"%');
    ALTER TABLE job ADD COLUMN quiet bigint;
    CREATE INDEX job_quiet ON job(registration) WHERE state = 'queued' AND quiet IS NOT NULL;
    """,
    """
    -- Keys of session tickets; in no backup.
    CREATE TABLE ticket_key(
      id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, secret text NOT NULL,
      created bigint NOT NULL
    );
    """,
    """
    -- Tokens of publishers. audience: to whom they send, of everybody null. receipts, assets: what else they allow. rate:
    -- notifications a minute. used, used_from: their last use.
    CREATE TABLE access_token(
      id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
      user_id bigint NOT NULL REFERENCES users ON DELETE CASCADE, name text NOT NULL,
      hash text NOT NULL UNIQUE, audience text, receipts bigint NOT NULL, assets bigint NOT NULL,
      rate bigint, created bigint NOT NULL, expires bigint, used bigint, used_from text, UNIQUE (user_id, name)
    );
    """,
    """
    -- Access tokens that count only as the address of a webhook. secret: with which its sender signs. What failed of what it
    -- was sent; digest: of fields and body, so that one that comes again is there once; body: null if it is not kept.
    CREATE TABLE webhook(
      token bigint PRIMARY KEY REFERENCES access_token ON DELETE CASCADE, template text NOT NULL, secret text
    );
    CREATE TABLE webhook_delivery(
      id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
      webhook bigint NOT NULL REFERENCES webhook ON DELETE CASCADE, digest text NOT NULL, fields text NOT NULL,
      body text, reason text NOT NULL, failed bigint NOT NULL, UNIQUE (webhook, digest)
    );
    """,
    """
    -- What publishers have begun to write. template: whether it is kept for more than one notification. author, editor: who
    -- has begun it, and who has changed it last.
    CREATE TABLE draft(
      id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, name text NOT NULL, content text NOT NULL,
      template bigint NOT NULL, version bigint NOT NULL,
      author bigint REFERENCES users ON DELETE SET NULL,
      editor bigint REFERENCES users ON DELETE SET NULL,
      created bigint NOT NULL, updated bigint NOT NULL
    );
    CREATE INDEX draft_of_author ON draft(author);
    CREATE INDEX draft_of_editor ON draft(editor);
    CREATE INDEX draft_by_time ON draft(template, updated);
    """,
    """
    -- What was changed of notifications before they went: who has changed it, and the members as they were before, as JSON.
    CREATE TABLE amendment(
      id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
      notification bigint NOT NULL REFERENCES notification ON DELETE CASCADE,
      editor bigint REFERENCES users ON DELETE SET NULL,
      earlier text NOT NULL, created bigint NOT NULL
    );
    CREATE INDEX amendment_of_notification ON amendment(notification, id);
    CREATE INDEX amendment_of_editor ON amendment(editor);
    """,
    """
    -- Audiences that publishers have saved. author, editor: who has made it, and who has changed it last.
    CREATE TABLE segment(
      name text PRIMARY KEY, content text NOT NULL, version bigint NOT NULL,
      author bigint REFERENCES users ON DELETE SET NULL,
      editor bigint REFERENCES users ON DELETE SET NULL,
      created bigint NOT NULL, updated bigint NOT NULL
    );
    CREATE INDEX segment_of_author ON segment(author);
    CREATE INDEX segment_of_editor ON segment(editor);
    -- Notifications whose recipients are found when they are due; segment: in which, if it is one.
    CREATE TABLE due_audience(
      notification bigint PRIMARY KEY REFERENCES notification ON DELETE CASCADE,
      segment text REFERENCES segment
    );
    CREATE INDEX due_audience_of_segment ON due_audience(segment) WHERE segment IS NOT NULL;
    """,
    """
    -- The name in the form by which names are sorted.
    ALTER TABLE asset ADD COLUMN ordered text COLLATE "C" NOT NULL DEFAULT '';
    -- Content that assets had before it was replaced or removed. ended: when that was.
    CREATE TABLE asset_version(
      rich_type text COLLATE "C" NOT NULL, name text COLLATE "C" NOT NULL, blob text NOT NULL, type text,
      bytes bigint NOT NULL, modified bigint NOT NULL, alt text, focus text, ended bigint NOT NULL,
      PRIMARY KEY (rich_type, name, blob)
    );
    CREATE INDEX asset_version_of_blob ON asset_version(blob);
    CREATE INDEX asset_version_by_end ON asset_version(ended);
    """,
    """
    -- The time by the clock of each recipient at which it is sent; when a recipient learns of it; when a push is first due.
    ALTER TABLE notification ADD COLUMN local_time text;
    ALTER TABLE recipient ADD COLUMN due bigint;
    ALTER TABLE push ADD COLUMN scheduled bigint;
    ALTER TABLE held_event DROP CONSTRAINT held_event_pkey, ADD PRIMARY KEY (notification, due);
    """,
    """
    -- Notifications for many people may await approval.
    ALTER TABLE notification ADD COLUMN awaits bigint;
    ALTER TABLE notification ADD COLUMN people bigint;
    CREATE INDEX notification_awaiting ON notification(id) WHERE awaits = 1;
    -- Who has decided on notifications that awaited approval, and why one was refused.
    CREATE TABLE approval(
      notification bigint PRIMARY KEY REFERENCES notification ON DELETE CASCADE,
      user_id bigint REFERENCES users ON DELETE SET NULL, reason text, created bigint NOT NULL
    );
    CREATE INDEX approval_of_user ON approval(user_id);
    """,
    """
    -- What has expired stays listed for a while: whether its recipients, pushes and content were removed.
    ALTER TABLE notification ADD COLUMN emptied bigint;
    DROP INDEX notification_by_expiry;
    CREATE INDEX notification_by_expiry ON notification(emptied, expires) WHERE expires IS NOT NULL;
    """,
    """
    -- The most devices that a notification is pushed to in a minute.
    ALTER TABLE notification ADD COLUMN per_minute bigint;
    """,
    """
    -- What users were pushed in the last day, if that is limited. subject: the collapse ID, which is the same for all
    -- pushes of a notification and for what takes its place.
    CREATE TABLE daily_push(
      user_id bigint NOT NULL REFERENCES users ON DELETE CASCADE, subject text COLLATE "C" NOT NULL,
      sent bigint NOT NULL, PRIMARY KEY (user_id, subject)
    );
    CREATE INDEX daily_push_by_time ON daily_push(sent);
    """,
    """
    -- Which notifications and drafts have an asset, whose names have this collation; asset: its rich type and its name,
    -- with a slash between them.
    ALTER TABLE notification ALTER COLUMN rich_type TYPE text COLLATE "C",
      ALTER COLUMN payload TYPE text COLLATE "C";
    CREATE INDEX notification_of_asset ON notification(rich_type, payload, id, sender)
      WHERE blob IS NOT NULL;
    ALTER TABLE draft ADD COLUMN asset text COLLATE "C";
    CREATE INDEX draft_of_asset ON draft(asset) WHERE asset IS NOT NULL;
    """,
    """
    -- Words by which assets are found: each with a comma before and after it, as in ",summer,sale,".
    ALTER TABLE asset ADD COLUMN labels text;
    ALTER TABLE asset_version ADD COLUMN labels text;
    """,
    """
    -- Who did what. kind: what actor is a number of. share: of which limit it takes.
    CREATE TABLE audit(
      id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, time bigint NOT NULL, kind text NOT NULL,
      actor bigint, credential text, credential_id text, address text, request text, share bigint NOT NULL,
      action text NOT NULL, object text, object_id text, detail text, count bigint NOT NULL
    );
    CREATE INDEX audit_by_time ON audit(time);
    CREATE INDEX audit_by_share ON audit(share, id);
    """,
    """
    -- Users who are being erased, until nothing is left of them. name: that they had, until no record has it.
    CREATE TABLE erasure(
      user_id bigint PRIMARY KEY, name text, begun bigint NOT NULL
    );
    -- What renditions were made of that belonged to them alone: the digest of what the store no longer has.
    CREATE TABLE erased_content(
      source text NOT NULL PRIMARY KEY, erased bigint NOT NULL
    );
    CREATE INDEX erased_content_by_time ON erased_content(erased);
    """,
    """
    -- Sessions that began there. issuer: the provider. provider_session, id_token: its name of the session, and its token.
    ALTER TABLE session ADD COLUMN issuer text;
    ALTER TABLE session ADD COLUMN provider_session text;
    ALTER TABLE session ADD COLUMN id_token text;
    -- Users as providers of OpenID Connect know them, and sign-ins there that have counted.
    CREATE TABLE provider_identity(
      issuer text COLLATE "C" NOT NULL, subject text COLLATE "C" NOT NULL,
      user_id bigint NOT NULL REFERENCES users ON DELETE CASCADE, created bigint NOT NULL,
      PRIMARY KEY (issuer, subject)
    );
    CREATE UNIQUE INDEX identity_of_user ON provider_identity(user_id, issuer);
    CREATE TABLE used_sign_in(hash text COLLATE "C" PRIMARY KEY, used bigint NOT NULL);
    CREATE INDEX used_sign_in_by_age ON used_sign_in(used);
    CREATE INDEX session_of_provider ON session(issuer, provider_session) WHERE issuer IS NOT NULL;
    """,
    """
    -- Of erased content, what the object store may still have: the blob, if it was one, and its renditions.
    CREATE TABLE erased_object(source text NOT NULL PRIMARY KEY, blob text);
    """,
    """
    -- owner: whose the object is.
    ALTER TABLE audit ADD COLUMN owner bigint;
    UPDATE audit SET owner = CASE object
      WHEN 'user' THEN CAST(object_id AS bigint)
      WHEN 'device' THEN (SELECT user_id FROM registration WHERE id = object_id)
      WHEN 'session' THEN (SELECT user_id FROM session WHERE id = CAST(object_id AS bigint))
      WHEN 'pairing' THEN (SELECT user_id FROM pairing WHERE id = CAST(object_id AS bigint))
      WHEN 'token' THEN (SELECT user_id FROM access_token WHERE id = CAST(object_id AS bigint))
      WHEN 'webhook' THEN (SELECT user_id FROM access_token WHERE id = CAST(object_id AS bigint))
      WHEN 'notification' THEN (SELECT sender FROM notification WHERE id = CAST(object_id AS bigint))
    END;
    """,
    """
    -- Tokens of admins that read how the server is, and the audit log, and do nothing else.
    ALTER TABLE access_token ADD COLUMN status bigint NOT NULL DEFAULT 0;
    ALTER TABLE access_token ADD COLUMN audit bigint NOT NULL DEFAULT 0;
    """,
    """
    -- A file is known to be published also when its notification is gone.
    ALTER TABLE published_file DROP CONSTRAINT published_file_notification_fkey;
    """,
  ]

  /// The tables of ``version``.
  ///
  /// Names are compared byte by byte (collation "C"), as in SQLite and in Swift's order of UTF-8. Times are
  /// milliseconds since 1970.
  static let creation = """
    CREATE TABLE counter(name text PRIMARY KEY, next bigint NOT NULL);
    CREATE SEQUENCE notification_id MINVALUE 0 START WITH 0;
    -- One row. A transaction that has updated it numbers events; no other can until it commits.
    CREATE TABLE event_counter(push_event bigint NOT NULL, event bigint NOT NULL);
    INSERT INTO event_counter VALUES (0, 0);

    -- max_devices: the quota that an admin has set. own_…: what the user's devices have sent to it since when.
    CREATE TABLE users(
      id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
      name text COLLATE "C" NOT NULL UNIQUE, hash text, role text NOT NULL, created bigint NOT NULL,
      max_devices bigint, own_sent bigint NOT NULL DEFAULT 0, own_since bigint NOT NULL DEFAULT 0
    );
    -- What is known of users, for placeholders.
    CREATE TABLE user_attribute(
      user_id bigint NOT NULL REFERENCES users ON DELETE CASCADE, name text COLLATE "C" NOT NULL,
      value text NOT NULL, PRIMARY KEY (user_id, name)
    );
    -- issuer: the provider where it began. provider_session, id_token: its name of the session, and its token.
    CREATE TABLE session(
      id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, hash text NOT NULL UNIQUE,
      user_id bigint NOT NULL, created bigint NOT NULL, used bigint NOT NULL, user_agent text NOT NULL,
      issuer text, provider_session text, id_token text
    );
    CREATE INDEX session_of_user ON session(user_id, id);
    CREATE INDEX session_by_age ON session(created);
    -- Users as providers of OpenID Connect know them, and sign-ins there that have counted.
    CREATE TABLE provider_identity(
      issuer text COLLATE "C" NOT NULL, subject text COLLATE "C" NOT NULL,
      user_id bigint NOT NULL REFERENCES users ON DELETE CASCADE, created bigint NOT NULL,
      PRIMARY KEY (issuer, subject)
    );
    CREATE UNIQUE INDEX identity_of_user ON provider_identity(user_id, issuer);
    CREATE TABLE used_sign_in(hash text COLLATE "C" PRIMARY KEY, used bigint NOT NULL);
    CREATE INDEX used_sign_in_by_age ON used_sign_in(used);
    CREATE INDEX session_of_provider ON session(issuer, provider_session) WHERE issuer IS NOT NULL;

    -- Tokens of publishers. audience: to whom they send, of everybody null. receipts, assets: what else they allow. rate:
    -- notifications a minute. used, used_from: their last use. status, audit: what one of an admin reads, and nothing else.
    CREATE TABLE access_token(
      id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
      user_id bigint NOT NULL REFERENCES users ON DELETE CASCADE, name text NOT NULL,
      hash text NOT NULL UNIQUE, audience text, receipts bigint NOT NULL, assets bigint NOT NULL,
      rate bigint, created bigint NOT NULL, expires bigint, used bigint, used_from text,
      status bigint NOT NULL DEFAULT 0, audit bigint NOT NULL DEFAULT 0, UNIQUE (user_id, name)
    );

    -- Access tokens that count only as the address of a webhook. secret: with which its sender signs. What failed of what it
    -- was sent; digest: of fields and body, so that one that comes again is there once; body: null if it is not kept.
    CREATE TABLE webhook(
      token bigint PRIMARY KEY REFERENCES access_token ON DELETE CASCADE, template text NOT NULL, secret text
    );
    CREATE TABLE webhook_delivery(
      id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
      webhook bigint NOT NULL REFERENCES webhook ON DELETE CASCADE, digest text NOT NULL, fields text NOT NULL,
      body text, reason text NOT NULL, failed bigint NOT NULL, UNIQUE (webhook, digest)
    );

    -- What publishers have begun to write. template: whether it is kept for more than one notification. author, editor: who
    -- has begun it, and who has changed it last. asset: which it names, as `img/logo.png`.
    CREATE TABLE draft(
      id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, name text NOT NULL, content text NOT NULL,
      template bigint NOT NULL, version bigint NOT NULL,
      author bigint REFERENCES users ON DELETE SET NULL,
      editor bigint REFERENCES users ON DELETE SET NULL,
      created bigint NOT NULL, updated bigint NOT NULL, asset text COLLATE "C"
    );
    CREATE INDEX draft_of_author ON draft(author);
    CREATE INDEX draft_of_editor ON draft(editor);
    CREATE INDEX draft_by_time ON draft(template, updated);
    CREATE INDEX draft_of_asset ON draft(asset) WHERE asset IS NOT NULL;

    -- Audiences that publishers have saved. author, editor: who has made it, and who has changed it last.
    CREATE TABLE segment(
      name text PRIMARY KEY, content text NOT NULL, version bigint NOT NULL,
      author bigint REFERENCES users ON DELETE SET NULL,
      editor bigint REFERENCES users ON DELETE SET NULL,
      created bigint NOT NULL, updated bigint NOT NULL
    );
    CREATE INDEX segment_of_author ON segment(author);
    CREATE INDEX segment_of_editor ON segment(editor);

    -- Codes by which a device of a user gets a token, once; ended: used, or revoked.
    CREATE TABLE pairing(
      id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
      user_id bigint NOT NULL REFERENCES users ON DELETE CASCADE, hash text NOT NULL UNIQUE,
      short_hash text, created bigint NOT NULL, expires bigint NOT NULL,
      ended bigint NOT NULL DEFAULT 0
    );
    CREATE INDEX pairing_of_user ON pairing(user_id);
    CREATE INDEX pairing_by_short_hash ON pairing(short_hash) WHERE short_hash IS NOT NULL;
    -- Users who have added themselves, with the subjects that they wanted; some wait for approval.
    CREATE TABLE sign_up(
      user_id bigint PRIMARY KEY REFERENCES users ON DELETE CASCADE, subjects text NOT NULL,
      created bigint NOT NULL, waiting bigint NOT NULL
    );
    CREATE INDEX sign_up_waiting ON sign_up(user_id) WHERE waiting = 1;

    -- Those that a service has ended are kept for a while.
    CREATE TABLE registration(
      id text COLLATE "C" PRIMARY KEY, user_id bigint NOT NULL, platform text, handle text NOT NULL,
      updated bigint NOT NULL, keys text, lane text, name text, created bigint, credential text,
      user_agent text, contact bigint, ended bigint, ended_by text, language text, time_zone text,
      quiet_hours text
    );
    CREATE INDEX registration_of_user ON registration(user_id);
    -- An endpoint of Web Push may be longer than an index entry.
    CREATE UNIQUE INDEX registration_of_handle ON registration(md5(handle));
    CREATE INDEX registration_by_end ON registration(ended_by, ended) WHERE ended IS NOT NULL;
    CREATE INDEX registration_by_lane ON registration(lane) WHERE lane IS NOT NULL;
    CREATE TABLE registration_tag(
      tag text COLLATE "C" NOT NULL,
      registration text COLLATE "C" NOT NULL REFERENCES registration ON DELETE CASCADE,
      PRIMARY KEY (tag, registration)
    );
    CREATE INDEX tag_of_registration ON registration_tag(registration);
    CREATE TABLE device_token(
      hash text PRIMARY KEY, created bigint NOT NULL,
      registration text COLLATE "C" NOT NULL REFERENCES registration ON DELETE CASCADE
    );
    CREATE INDEX device_token_of_registration ON device_token(registration);

    -- replaced: when the content was replaced that some had fetched. members: what the message says beside its text.
    -- replaces: what it is about. replaced_by: which one has taken its place. focus: its asset's. asset_alt: whether
    -- its alternative text is its asset's. local_time: the time by the clock of each recipient at which it is sent.
    -- awaits: whether it awaits approval. people: for how many it is, if it may need it. emptied: whether its
    -- recipients, pushes and content were removed, since it has ended.
    -- per_minute: the most devices that it is pushed to in a minute.
    CREATE TABLE notification(
      id bigint PRIMARY KEY, message text NOT NULL, rich_type text COLLATE "C" NOT NULL,
      payload text COLLATE "C" NOT NULL, sender bigint, audience text NOT NULL, details text, blob text,
      blob_size bigint, blob_type text, created bigint NOT NULL, not_before bigint, expires bigint,
      form text NOT NULL, withdrawn bigint, held bigint, replaced bigint, members text, replaces text,
      replaced_by bigint, focus text, asset_alt bigint, local_time text, awaits bigint, people bigint,
      emptied bigint, per_minute bigint
    );
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
      notification bigint PRIMARY KEY REFERENCES notification ON DELETE CASCADE,
      user_id bigint REFERENCES users ON DELETE SET NULL, reason text, created bigint NOT NULL
    );
    CREATE INDEX approval_of_user ON approval(user_id);
    -- Its row is written before that of the notification, so that one of two nodes waits for the other.
    CREATE TABLE idempotency(
      sender bigint NOT NULL, key text NOT NULL, request text NOT NULL,
      notification bigint NOT NULL REFERENCES notification ON DELETE CASCADE
        DEFERRABLE INITIALLY DEFERRED,
      PRIMARY KEY (sender, key)
    );
    CREATE INDEX idempotency_of_notification ON idempotency(notification);
    -- The file of the drop folder that a notification was made of, which may be gone, with what it held then.
    CREATE TABLE published_file(
      folder text NOT NULL, path text NOT NULL, sidecar text NOT NULL, content text NOT NULL,
      notification bigint NOT NULL, published bigint NOT NULL,
      PRIMARY KEY (folder, path)
    );
    CREATE INDEX published_file_of_notification ON published_file(notification);
    -- What was changed of notifications before they went: who has changed it, and the members as they were before, as JSON.
    CREATE TABLE amendment(
      id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
      notification bigint NOT NULL REFERENCES notification ON DELETE CASCADE,
      editor bigint REFERENCES users ON DELETE SET NULL,
      earlier text NOT NULL, created bigint NOT NULL
    );
    CREATE INDEX amendment_of_notification ON amendment(notification, id);
    CREATE INDEX amendment_of_editor ON amendment(editor);
    CREATE TABLE notification_count(
      notification bigint PRIMARY KEY REFERENCES notification ON DELETE CASCADE,
      recipients bigint NOT NULL, reached bigint NOT NULL DEFAULT 0,
      fetched bigint NOT NULL DEFAULT 0, read bigint NOT NULL DEFAULT 0,
      queued bigint NOT NULL DEFAULT 0, sent bigint NOT NULL DEFAULT 0,
      failed bigint NOT NULL DEFAULT 0, displayed bigint NOT NULL DEFAULT 0,
      opened bigint NOT NULL DEFAULT 0, dismissed bigint NOT NULL DEFAULT 0,
      actions bigint NOT NULL DEFAULT 0, replies bigint NOT NULL DEFAULT 0,
      first_sent bigint, first_fetched bigint, first_read bigint, first_displayed bigint,
      first_opened bigint
    ) WITH (fillfactor = 70);

    -- kept: not null if another has taken its place for others only. hidden: when the recipient took it out of the inbox.
    -- due: when the recipient learns of it, if that is a time of the recipient's own.
    CREATE TABLE recipient(
      user_id bigint NOT NULL,
      notification bigint NOT NULL REFERENCES notification ON DELETE CASCADE,
      sent bigint, fetched bigint, read bigint, displayed bigint, opened bigint, dismissed bigint,
      kept bigint, hidden bigint, due bigint,
      PRIMARY KEY (user_id, notification)
    );
    CREATE INDEX recipient_by_progress ON recipient(notification, (\(progress)), user_id);
    CREATE INDEX unread ON recipient(user_id, notification) WHERE read IS NULL;
    CREATE INDEX recipient_kept ON recipient(kept, user_id) WHERE kept IS NOT NULL;
    -- What placeholders of a notification stand for, by recipient; of those who are no recipients yet in the parts.
    CREATE TABLE recipient_values(
      notification bigint NOT NULL REFERENCES notification ON DELETE CASCADE,
      user_id bigint NOT NULL, data text NOT NULL, PRIMARY KEY (notification, user_id)
    );
    CREATE TABLE device_receipt(
      notification bigint NOT NULL REFERENCES notification ON DELETE CASCADE,
      user_id bigint NOT NULL, registration text COLLATE "C" NOT NULL, fetched bigint, read bigint,
      displayed bigint, opened bigint, dismissed bigint,
      PRIMARY KEY (notification, user_id, registration)
    );
    -- Buttons that were pressed, and replies; key tells a reply from its repetitions.
    CREATE TABLE interaction(
      id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
      notification bigint NOT NULL REFERENCES notification ON DELETE CASCADE,
      user_id bigint NOT NULL, registration text COLLATE "C" NOT NULL, event text NOT NULL,
      key text NOT NULL, action text NOT NULL, text text, created bigint NOT NULL
    );
    CREATE UNIQUE INDEX interaction_once ON interaction(user_id, notification, registration, event, key);
    CREATE INDEX interaction_of_notification ON interaction(notification, id);

    CREATE TABLE push_event(
      sequence bigint PRIMARY KEY, user_id bigint NOT NULL,
      notification bigint REFERENCES notification ON DELETE CASCADE,
      data text NOT NULL, created bigint NOT NULL
    );
    CREATE INDEX push_event_of_user ON push_event(user_id, sequence);
    CREATE INDEX push_event_of_notification ON push_event(notification);
    CREATE TABLE held_event(
      notification bigint NOT NULL REFERENCES notification ON DELETE CASCADE,
      due bigint NOT NULL, data text NOT NULL, PRIMARY KEY (notification, due)
    );
    CREATE INDEX held_event_due ON held_event(due);
    -- Notifications whose recipients are found when they are due; segment: in which, if it is one.
    CREATE TABLE due_audience(
      notification bigint PRIMARY KEY REFERENCES notification ON DELETE CASCADE,
      segment text REFERENCES segment
    );
    CREATE INDEX due_audience_of_segment ON due_audience(segment) WHERE segment IS NOT NULL;
    CREATE TABLE event(
      sequence bigint PRIMARY KEY, token text NOT NULL DEFAULT replace(gen_random_uuid()::text, '-', ''),
      type text NOT NULL, publisher bigint, user_id bigint, notification bigint, data text NOT NULL,
      created bigint NOT NULL, interaction bigint REFERENCES interaction ON DELETE CASCADE
    );
    CREATE INDEX event_of_publisher ON event(publisher, sequence);
    CREATE INDEX event_of_interaction ON event(interaction) WHERE interaction IS NOT NULL;

    -- message, members, form: what it says, if that is not what the notification says now. media: what it links to.
    -- urgent: not null if it does not wait for the end of a device's quiet hours. scheduled: when its jobs are first due,
    -- if not with the notification.
    CREATE TABLE push(
      id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
      notification bigint REFERENCES notification ON DELETE CASCADE,
      lane text NOT NULL, kind text NOT NULL, collapse text, expires bigint, message text,
      members text, form text, media text, urgent bigint, scheduled bigint
    );
    CREATE INDEX push_of_notification ON push(notification);
    -- Jobs with the same line and collapse are sent in order. refused: the settings under which a queued job was
    -- refused. refused_since: the time of renewal after which its registration does not end. quiet: until when it has
    -- waited for the end of the device's quiet hours.
    CREATE TABLE job(
      id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
      push bigint NOT NULL REFERENCES push ON DELETE CASCADE,
      lane text COLLATE "C" NOT NULL, token text NOT NULL, user_id bigint, registration text,
      audience text, collapse text,
      line text GENERATED ALWAYS AS (coalesce(registration, '@' || md5(audience))) STORED,
      state text NOT NULL, attempts bigint NOT NULL DEFAULT 0, due bigint NOT NULL, owner text,
      updated bigint NOT NULL, sent_as text, reference text, reason text,
      refused text, refused_since bigint, quiet bigint
    );
    CREATE INDEX job_of_push ON job(push, state, id);
    CREATE INDEX job_due ON job(lane, due, id) WHERE state = 'queued';
    CREATE INDEX job_in_order ON job(lane, line, collapse, id) WHERE state = 'queued';
    CREATE INDEX job_called_off ON job(lane, line, collapse, id)
      WHERE state = 'cancelled' AND owner IS NOT NULL;
    -- Silent pushes of the last hour and collapse IDs that a device holds, of any lane.
    CREATE INDEX job_sent ON job(line, updated) WHERE state = 'sent';
    CREATE INDEX job_by_state ON job(state, lane, id);
    CREATE INDEX job_refused ON job(lane, refused, id) WHERE state = 'queued' AND refused IS NOT NULL;
    CREATE INDEX job_refused_device ON job(registration) WHERE state = 'queued' AND refused IS NOT NULL;
    CREATE INDEX job_quiet ON job(registration) WHERE state = 'queued' AND quiet IS NOT NULL;
    -- Lanes whose service is doubted (since is null), or that wait for the operator.
    CREATE TABLE lane_pause(
      lane text COLLATE "C" NOT NULL, settings text NOT NULL, since bigint, until bigint, reason text,
      probes bigint NOT NULL DEFAULT 0, trials bigint NOT NULL DEFAULT 0,
      stopped bigint NOT NULL DEFAULT 0, PRIMARY KEY (lane, settings)
    );
    CREATE TABLE audience_part(
      id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
      notification bigint NOT NULL REFERENCES notification ON DELETE CASCADE,
      push bigint REFERENCES push ON DELETE CASCADE,
      event text, due bigint, first bigint, last bigint, users bigint[], devices text, data json
    );
    CREATE INDEX audience_part_of_notification ON audience_part(notification, push, first);
    CREATE INDEX audience_part_of_push ON audience_part(push);

    -- What users were pushed in the last day, if that is limited. subject: the collapse ID, which is the same for all
    -- pushes of a notification and for what takes its place.
    CREATE TABLE daily_push(
      user_id bigint NOT NULL REFERENCES users ON DELETE CASCADE, subject text COLLATE "C" NOT NULL,
      sent bigint NOT NULL, PRIMARY KEY (user_id, subject)
    );
    CREATE INDEX daily_push_by_time ON daily_push(sent);
    -- Users who are being erased, until nothing is left of them. name: that they had, until no record has it.
    CREATE TABLE erasure(
      user_id bigint PRIMARY KEY, name text, begun bigint NOT NULL
    );
    -- What renditions were made of that belonged to them alone: the digest of what the store no longer has.
    CREATE TABLE erased_content(
      source text NOT NULL PRIMARY KEY, erased bigint NOT NULL
    );
    CREATE INDEX erased_content_by_time ON erased_content(erased);
    -- Of erased content, what the object store may still have: the blob, if it was one, and its renditions.
    CREATE TABLE erased_object(source text NOT NULL PRIMARY KEY, blob text);

    CREATE TABLE link_key(
      id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, secret text NOT NULL,
      created bigint NOT NULL
    );
    CREATE TABLE vapid_key(
      id integer PRIMARY KEY CHECK (id = 1), secret text NOT NULL, created bigint NOT NULL
    );
    -- Keys of session tickets; in no backup.
    CREATE TABLE ticket_key(
      id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, secret text NOT NULL,
      created bigint NOT NULL
    );

    -- ordered: the name in the form by which names are sorted. focus_of: the content that focus is a point of.
    -- labels: each with a comma before and after it.
    CREATE TABLE asset(
      rich_type text COLLATE "C" NOT NULL, name text COLLATE "C" NOT NULL, state text NOT NULL,
      reason text, blob text, bytes bigint NOT NULL, type text, details text, stamp text NOT NULL,
      modified bigint NOT NULL, updated bigint NOT NULL, folded text NOT NULL, alt text, focus text,
      focus_of text, ordered text COLLATE "C" NOT NULL DEFAULT '', labels text,
      PRIMARY KEY (rich_type, name)
    );
    CREATE INDEX asset_of_blob ON asset(blob) WHERE blob IS NOT NULL;
    CREATE INDEX asset_by_folded_name ON asset(rich_type, folded);
    CREATE INDEX asset_by_state ON asset(state, updated);
    -- Content that assets had before it was replaced or removed. ended: when that was.
    CREATE TABLE asset_version(
      rich_type text COLLATE "C" NOT NULL, name text COLLATE "C" NOT NULL, blob text NOT NULL, type text,
      bytes bigint NOT NULL, modified bigint NOT NULL, alt text, focus text, labels text,
      ended bigint NOT NULL, PRIMARY KEY (rich_type, name, blob)
    );
    CREATE INDEX asset_version_of_blob ON asset_version(blob);
    CREATE INDEX asset_version_by_end ON asset_version(ended);
    -- Who did what. kind: what actor is a number of. share: of which limit it takes. owner: whose the object is.
    CREATE TABLE audit(
      id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, time bigint NOT NULL, kind text NOT NULL,
      actor bigint, credential text, credential_id text, address text, request text, share bigint NOT NULL,
      action text NOT NULL, object text, object_id text, detail text, count bigint NOT NULL,
      owner bigint
    );
    CREATE INDEX audit_by_time ON audit(time);
    CREATE INDEX audit_by_share ON audit(share, id);
    -- Files in the drop folders of other nodes, whose assets were removed or replaced.
    CREATE TABLE file_removal(
      folder text NOT NULL, rich_type text NOT NULL, name text NOT NULL, stamp text NOT NULL,
      PRIMARY KEY (folder, rich_type, name)
    );
    """

  /// How far a notification has come with a recipient, from 0 (queued) to 5 (read); an index has it.
  static let progress = """
    CASE WHEN read IS NOT NULL THEN 5 WHEN opened IS NOT NULL THEN 4 WHEN fetched IS NOT NULL THEN 3
      WHEN displayed IS NOT NULL THEN 2 WHEN sent IS NOT NULL THEN 1 ELSE 0 END
    """
}
