/// The tables of commit c1a7ad3 in each database, and some rows.
enum EarlierTables {
  /// Rows that fit both, with the names that PostgreSQL's columns have.
  static let rows = """
    INSERT INTO users(id, name, hash, role, created)
      VALUES (1, 'press', 'h2', 'publisher', 2), (2, 'anna', 'h1', 'device', 1), (3, 'gone', NULL, 'device', 1);
    INSERT INTO notification(id, message, rich_type, payload, sender, audience, created, form)
      VALUES (0, 'm', 'img', 'p', 1, '[]', 0, '');
    INSERT INTO notification_count(notification, recipients, reached, fetched, read, queued, sent, failed)
      VALUES (0, 2, 0, 0, 1, 1, 0, 0);
    INSERT INTO idempotency(sender, key, request, notification)
      VALUES (1, 'k', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', 0);
    INSERT INTO registration(id, user_id, platform, handle, updated) VALUES ('r1', 2, 'apns', 'A', 0);
    INSERT INTO registration_tag(tag, registration) VALUES ('username:anna', 'r1');
    INSERT INTO recipient(user_id, notification, read) VALUES (2, 0, 5), (3, 0, NULL);
    INSERT INTO device_receipt(notification, user_id, registration, read) VALUES (0, 2, 'r1', 5);
    INSERT INTO session(hash, user_id, created, used, user_agent) VALUES ('s', 2, 0, 0, '');
    INSERT INTO push(notification, lane, kind, text, fallback) VALUES
      (0, 'apns', 'background', '{"aps":{"content-available":1},"richId":"0","richMessage":"m","richType":"img"}',
        '{"aps":{"alert":{"body":"m"},"mutable-content":1,"badge":999999},"richId":"0","richType":"img","att":{"url":"https://a/media/0/ios?expires=9&key=1&signature=s&to=9223372036854775807.00000000-0000-0000-0000-000000000000","type":"image/png","size":7}}'),
      (0, 'fcm', 'alert', '{"richId":"0","richMessage":"m","richType":"img"}', NULL),
      (NULL, 'apns', 'alert', '{"aps":{"alert":"From press: \\"hi\\""}}', NULL),
      (NULL, 'fcm', 'alert', '{"richMessage":"From press: hi"}', NULL);
    INSERT INTO job(push, lane, token, user_id, registration, state, due, updated)
      VALUES (1, 'apns', 't', 2, 'r1', 'queued', 0, 0);
    INSERT INTO push_event(sequence, user_id, notification, data, created) VALUES
      (3, 2, NULL, '{"aps":{"alert":"hi"}}', 0), (4, 2, 0, '{"richId":"0"}', 0),
      (5, 2, 0, '{"aps":{"alert":{"body":"m"}},"richId":"0","att":{"url":"u","type":"image/png","size":7}}', 0);
    INSERT INTO held_event(notification, due, data) VALUES (0, 9000000000000, '{}');
    INSERT INTO asset(rich_type, name, state, bytes, stamp, modified, updated, folded)
      VALUES ('img', 'Logo.png', 'ready', 1, '', 0, 0, 'logo.png');
    """

  /// `PRAGMA user_version` 19.
  static let sqlite = """
    CREATE TABLE counter(name TEXT PRIMARY KEY, next INTEGER NOT NULL) STRICT;
    CREATE TABLE registration(
      id TEXT PRIMARY KEY, platform TEXT, handle TEXT NOT NULL UNIQUE,
      updated INTEGER NOT NULL,
      user INTEGER NOT NULL DEFAULT 0, keys TEXT, lane TEXT) STRICT;
    CREATE TABLE registration_tag(
      tag TEXT NOT NULL,
      registration TEXT NOT NULL REFERENCES registration ON DELETE CASCADE,
      PRIMARY KEY (tag, registration)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX tag_of_registration ON registration_tag(registration);
    CREATE TABLE notification(
      id INTEGER PRIMARY KEY, message TEXT NOT NULL, rich_type TEXT NOT NULL,
      payload TEXT NOT NULL, audience TEXT NOT NULL, details TEXT,
      blob TEXT, blob_size INTEGER, blob_type TEXT,
      created INTEGER NOT NULL, expires INTEGER,
      not_before INTEGER, form TEXT NOT NULL DEFAULT '', sender INTEGER, withdrawn INTEGER) STRICT;
    CREATE INDEX notification_of_blob ON notification(blob) WHERE blob IS NOT NULL;
    CREATE INDEX notification_by_expiry ON notification(expires) WHERE expires IS NOT NULL;
    CREATE TABLE asset(
      rich_type TEXT NOT NULL, name TEXT NOT NULL, state TEXT NOT NULL, reason TEXT,
      blob TEXT, bytes INTEGER NOT NULL, type TEXT, details TEXT,
      stamp TEXT NOT NULL, modified INTEGER NOT NULL, updated INTEGER NOT NULL, folded TEXT NOT NULL DEFAULT '',
      PRIMARY KEY (rich_type, name)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX asset_of_blob ON asset(blob) WHERE blob IS NOT NULL;
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
      registration TEXT, audience TEXT, collapse TEXT,
      state TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0,
      due INTEGER NOT NULL, owner TEXT, updated INTEGER NOT NULL,
      sent_as TEXT, reference TEXT, reason TEXT,
      user INTEGER) STRICT;
    CREATE INDEX job_in_order ON job(registration, collapse, id)
      WHERE state = 'queued' AND collapse IS NOT NULL;
    CREATE TABLE link_key(
      id INTEGER PRIMARY KEY AUTOINCREMENT, secret TEXT NOT NULL, created INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE held_event(
      notification INTEGER PRIMARY KEY REFERENCES notification ON DELETE CASCADE,
      due INTEGER NOT NULL, data TEXT NOT NULL
    ) STRICT;
    CREATE INDEX held_event_due ON held_event(due);
    CREATE INDEX job_called_off ON job(registration, collapse)
      WHERE state = 'cancelled' AND owner IS NOT NULL;
    CREATE INDEX asset_by_folded_name ON asset(rich_type, folded);
    CREATE INDEX asset_by_state ON asset(state, updated);
    CREATE INDEX job_due ON job(lane, due, id, owner) WHERE state = 'queued';
    CREATE INDEX job_woken ON job(registration, audience, updated)
      WHERE state = 'sent' AND sent_as = 'background';
    CREATE TABLE user(
      id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, hash TEXT,
      role TEXT NOT NULL, created INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE recipient(
      user INTEGER NOT NULL,
      notification INTEGER NOT NULL REFERENCES notification ON DELETE CASCADE,
      fetched INTEGER, read INTEGER, sent INTEGER, progress INTEGER AS (
      CASE WHEN read IS NOT NULL THEN 3 WHEN fetched IS NOT NULL THEN 2 WHEN sent IS NOT NULL THEN 1 ELSE 0 END
    ) VIRTUAL,
      PRIMARY KEY (user, notification)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX unread ON recipient(user, notification) WHERE read IS NULL;
    CREATE TABLE device_receipt(
      notification INTEGER NOT NULL REFERENCES notification ON DELETE CASCADE,
      user INTEGER NOT NULL, registration TEXT NOT NULL, fetched INTEGER, read INTEGER,
      PRIMARY KEY (notification, user, registration)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE idempotency(
      sender INTEGER NOT NULL, key TEXT NOT NULL, request TEXT NOT NULL,
      notification INTEGER NOT NULL REFERENCES notification ON DELETE CASCADE,
      PRIMARY KEY (sender, key)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX idempotency_of_notification ON idempotency(notification);
    CREATE INDEX registration_of_user ON registration(user);
    CREATE TABLE push_event(
      sequence INTEGER PRIMARY KEY AUTOINCREMENT, user INTEGER NOT NULL,
      notification INTEGER REFERENCES notification ON DELETE CASCADE,
      data TEXT NOT NULL, created INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX push_event_of_user ON push_event(user, sequence);
    CREATE INDEX push_event_of_notification ON push_event(notification);
    CREATE TABLE event(
      sequence INTEGER PRIMARY KEY AUTOINCREMENT,
      token TEXT NOT NULL DEFAULT (lower(hex(randomblob(16)))),
      type TEXT NOT NULL, publisher INTEGER, user INTEGER, data TEXT NOT NULL,
      created INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX event_of_publisher ON event(publisher, sequence);
    CREATE TABLE device_token(
      hash TEXT NOT NULL PRIMARY KEY, created INTEGER NOT NULL,
      registration TEXT NOT NULL REFERENCES registration ON DELETE CASCADE
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX device_token_of_registration ON device_token(registration);
    CREATE TABLE vapid_key(
      id INTEGER PRIMARY KEY CHECK (id = 1), secret TEXT NOT NULL, created INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX job_collapsed ON job(registration, id)
      WHERE state = 'sent' AND lane = 'fcm' AND collapse IS NOT NULL;
    CREATE TABLE session(
      id INTEGER PRIMARY KEY AUTOINCREMENT, hash TEXT NOT NULL UNIQUE, user INTEGER NOT NULL,
      created INTEGER NOT NULL, used INTEGER NOT NULL, user_agent TEXT NOT NULL
    ) STRICT;
    CREATE INDEX session_of_user ON session(user, id);
    CREATE INDEX session_by_age ON session(created);
    CREATE INDEX notification_by_sender ON notification(sender, id);
    CREATE INDEX job_by_state ON job(state, lane, id);
    CREATE TABLE notification_count(
      notification INTEGER PRIMARY KEY REFERENCES notification ON DELETE CASCADE,
      recipients INTEGER NOT NULL, reached INTEGER NOT NULL DEFAULT 0,
      fetched INTEGER NOT NULL DEFAULT 0, read INTEGER NOT NULL DEFAULT 0,
      queued INTEGER NOT NULL DEFAULT 0, sent INTEGER NOT NULL DEFAULT 0,
      failed INTEGER NOT NULL DEFAULT 0,
      first_sent INTEGER, first_fetched INTEGER, first_read INTEGER) STRICT;
    CREATE TABLE audience_part(
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      notification INTEGER NOT NULL REFERENCES notification ON DELETE CASCADE,
      push INTEGER REFERENCES push ON DELETE CASCADE,
      event TEXT, due INTEGER, first INTEGER, last INTEGER, members TEXT NOT NULL
    ) STRICT;
    CREATE INDEX audience_part_of_notification ON audience_part(notification, push, first);
    CREATE INDEX audience_part_of_push ON audience_part(push);
    CREATE INDEX recipient_by_progress ON recipient(notification, progress, user);
    CREATE INDEX job_of_push ON job(push, state);
    CREATE INDEX registration_in_order ON registration(id, user, platform, lane);
    """

  /// `schema_version` 4.
  static let postgres = """
    CREATE TABLE counter(name text PRIMARY KEY, next bigint NOT NULL);
    CREATE SEQUENCE notification_id AS integer MINVALUE 0 START WITH 0;
    CREATE TABLE event_counter(push_event bigint NOT NULL, event bigint NOT NULL);
    INSERT INTO event_counter VALUES (0, 0);

    CREATE TABLE users(
      id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
      name text COLLATE "C" NOT NULL UNIQUE, hash text, role text NOT NULL, created bigint NOT NULL
    );
    CREATE TABLE session(
      id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, hash text NOT NULL UNIQUE,
      user_id bigint NOT NULL, created bigint NOT NULL, used bigint NOT NULL, user_agent text NOT NULL
    );
    CREATE INDEX session_of_user ON session(user_id, id);
    CREATE INDEX session_by_age ON session(created);

    CREATE TABLE registration(
      id text COLLATE "C" PRIMARY KEY, user_id bigint NOT NULL, platform text, handle text NOT NULL,
      updated bigint NOT NULL, keys text, lane text
    );
    CREATE INDEX registration_of_user ON registration(user_id);
    CREATE UNIQUE INDEX registration_of_handle ON registration(md5(handle));
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

    CREATE TABLE notification(
      id bigint PRIMARY KEY, message text NOT NULL, rich_type text NOT NULL, payload text NOT NULL,
      sender bigint, audience text NOT NULL, details text, blob text, blob_size bigint, blob_type text,
      created bigint NOT NULL, not_before bigint, expires bigint, form text NOT NULL, withdrawn bigint
    );
    CREATE INDEX notification_of_blob ON notification(blob) WHERE blob IS NOT NULL;
    CREATE INDEX notification_by_expiry ON notification(expires) WHERE expires IS NOT NULL;
    CREATE INDEX notification_by_sender ON notification(sender, id);
    CREATE TABLE idempotency(
      sender bigint NOT NULL, key text NOT NULL, request text NOT NULL,
      notification bigint NOT NULL REFERENCES notification ON DELETE CASCADE
        DEFERRABLE INITIALLY DEFERRED,
      PRIMARY KEY (sender, key)
    );
    CREATE INDEX idempotency_of_notification ON idempotency(notification);
    CREATE TABLE notification_count(
      notification bigint PRIMARY KEY REFERENCES notification ON DELETE CASCADE,
      recipients bigint NOT NULL, reached bigint NOT NULL DEFAULT 0,
      fetched bigint NOT NULL DEFAULT 0, read bigint NOT NULL DEFAULT 0,
      queued bigint NOT NULL DEFAULT 0, sent bigint NOT NULL DEFAULT 0,
      failed bigint NOT NULL DEFAULT 0
    ) WITH (fillfactor = 70);

    CREATE TABLE recipient(
      user_id bigint NOT NULL,
      notification bigint NOT NULL REFERENCES notification ON DELETE CASCADE,
      sent bigint, fetched bigint, read bigint,
      PRIMARY KEY (user_id, notification)
    );
    CREATE INDEX recipient_of_notification ON recipient(notification);
    CREATE INDEX unread ON recipient(user_id, notification) WHERE read IS NULL;
    CREATE TABLE device_receipt(
      notification bigint NOT NULL REFERENCES notification ON DELETE CASCADE,
      user_id bigint NOT NULL, registration text COLLATE "C" NOT NULL, fetched bigint, read bigint,
      PRIMARY KEY (notification, user_id, registration)
    );

    CREATE TABLE push_event(
      sequence bigint PRIMARY KEY, user_id bigint NOT NULL,
      notification bigint REFERENCES notification ON DELETE CASCADE,
      data text NOT NULL, created bigint NOT NULL
    );
    CREATE INDEX push_event_of_user ON push_event(user_id, sequence);
    CREATE INDEX push_event_of_notification ON push_event(notification);
    CREATE TABLE held_event(
      notification bigint PRIMARY KEY REFERENCES notification ON DELETE CASCADE,
      due bigint NOT NULL, data text NOT NULL
    );
    CREATE INDEX held_event_due ON held_event(due);
    CREATE TABLE event(
      sequence bigint PRIMARY KEY, token text NOT NULL DEFAULT replace(gen_random_uuid()::text, '-', ''),
      type text NOT NULL, publisher bigint, user_id bigint, notification bigint, data text NOT NULL,
      created bigint NOT NULL
    );
    CREATE INDEX event_of_publisher ON event(publisher, sequence);

    CREATE TABLE push(
      id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
      notification bigint REFERENCES notification ON DELETE CASCADE,
      lane text NOT NULL, kind text NOT NULL, text text NOT NULL, fallback text, collapse text,
      expires bigint
    );
    CREATE INDEX push_of_notification ON push(notification);
    CREATE TABLE job(
      id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
      push bigint NOT NULL REFERENCES push ON DELETE CASCADE,
      lane text COLLATE "C" NOT NULL, token text NOT NULL, user_id bigint, registration text,
      audience text, collapse text,
      line text GENERATED ALWAYS AS (coalesce(registration, '@' || md5(audience))) STORED,
      state text NOT NULL, attempts bigint NOT NULL DEFAULT 0, due bigint NOT NULL, owner text,
      updated bigint NOT NULL, sent_as text, reference text, reason text
    );
    CREATE INDEX job_of_push ON job(push);
    CREATE INDEX job_due ON job(lane, due, id) WHERE state = 'queued';
    CREATE INDEX job_in_order ON job(lane, line, collapse, id) WHERE state = 'queued';
    CREATE INDEX job_called_off ON job(lane, line, collapse, id)
      WHERE state = 'cancelled' AND owner IS NOT NULL;
    CREATE INDEX job_woken ON job(line, updated) WHERE state = 'sent' AND sent_as = 'background';
    CREATE INDEX job_collapsed ON job(line, id)
      WHERE state = 'sent' AND lane = 'fcm' AND collapse IS NOT NULL;
    CREATE INDEX job_by_state ON job(state, lane, id);
    CREATE TABLE audience_part(
      id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
      notification bigint NOT NULL REFERENCES notification ON DELETE CASCADE,
      push bigint REFERENCES push ON DELETE CASCADE,
      event text, due bigint, first bigint, last bigint, users bigint[], devices text
    );
    CREATE INDEX audience_part_of_notification ON audience_part(notification, push, first);
    CREATE INDEX audience_part_of_push ON audience_part(push);

    CREATE TABLE link_key(
      id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, secret text NOT NULL,
      created bigint NOT NULL
    );
    CREATE TABLE vapid_key(
      id integer PRIMARY KEY CHECK (id = 1), secret text NOT NULL, created bigint NOT NULL
    );

    CREATE TABLE asset(
      rich_type text COLLATE "C" NOT NULL, name text COLLATE "C" NOT NULL, state text NOT NULL,
      reason text, blob text, bytes bigint NOT NULL, type text, details text, stamp text NOT NULL,
      modified bigint NOT NULL, updated bigint NOT NULL, folded text NOT NULL,
      PRIMARY KEY (rich_type, name)
    );
    CREATE INDEX asset_of_blob ON asset(blob) WHERE blob IS NOT NULL;
    CREATE INDEX asset_by_folded_name ON asset(rich_type, folded);
    CREATE INDEX asset_by_state ON asset(state, updated);
    CREATE INDEX recipient_by_progress ON recipient(notification, (CASE WHEN read IS NOT NULL THEN 3 WHEN fetched IS NOT NULL THEN 2 WHEN sent IS NOT NULL THEN 1 ELSE 0 END), user_id);
    DROP INDEX recipient_of_notification;
    DROP INDEX job_of_push;
    CREATE INDEX job_of_push ON job(push, state, id);
    ALTER TABLE notification_count ADD COLUMN first_sent bigint, ADD COLUMN first_fetched bigint,
      ADD COLUMN first_read bigint;
    CREATE TABLE file_removal(
      folder text NOT NULL, rich_type text NOT NULL, name text NOT NULL, stamp text NOT NULL,
      PRIMARY KEY (folder, rich_type, name)
    );
    ALTER SEQUENCE notification_id AS bigint;
    """
}
