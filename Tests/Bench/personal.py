#!/usr/bin/env python3
"""A notification in each person's language and by name, beside a plain one.

    Tests/Bench/personal.py [USERS]     1,000,000 without it

Each user has a device that prefers one of 12 languages, and an attribute `name`. In turns, a plain text and one in 12
languages with `{{name}}` are sent to all of them: measured from the POST until it is acknowledged, and until all is
written. The target is 1.3 times the plain one. Then 10,000 users get one through the webhook, and each payload must have
the language and the name of its device. ROUNDS (3) may be set in the environment. Exits with 1 if the target is missed, or
a payload is wrong.
"""
import http.server, json, os, sqlite3, statistics, sys, tempfile, threading, time

from fanout import ROUNDS, Server, post

TAGS = ["de", "fr", "it", "es", "pt-BR", "nl", "sv", "pl", "cs", "tr", "ja", "zh-Hant"]
TEXTS = {tag: {"message": f"{tag}: {{{{name}}}}!", "title": f"T-{tag}"} for tag in TAGS}
MESSAGE = {"message": "en: {{name}}!", "title": "T-en", "language": "en", "languages": TEXTS}
TARGET, SAMPLE = 1.3, 10_000


def personalize(folder):
    """Gives each user a name and each device a language; a 13th of them prefers one that there is not."""
    with sqlite3.connect(folder + "/var/richpush.db") as store:
        tags = " ".join(f"WHEN {number} THEN '{tag}'" for number, tag in enumerate(TAGS))
        store.execute(f"UPDATE registration SET language = CASE user_id % 13 {tags} ELSE 'fi' END")
        store.execute("INSERT INTO user_attribute SELECT id, 'name', 'N' || id FROM users")
    store.close()


def sent(server, connection, **members):
    """Seconds until a notification to all is acknowledged, and until it is written."""
    start = time.monotonic()
    post(connection, to="all", **members)
    acknowledged = time.monotonic() - start
    server.await_written()
    return acknowledged, time.monotonic() - start


def times(users):
    """Median seconds of a plain notification and of a personal one."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_FOLDER")) as folder:
        server = Server(folder, users, True)
        personalize(folder)
        plain, personal = [], []
        try:
            for _ in range(ROUNDS):
                for results, members in ((plain, {}), (personal, MESSAGE)):
                    server.start()
                    connection = server.connection()
                    post(connection, to="username:bench")
                    results.append(sent(server, connection, **members))
                    server.end()
                    server.truncate_log()
        finally:
            if server.process.poll() is None:
                server.end()
    return [[statistics.median(column) for column in zip(*results)] for results in (plain, personal)]


class Receiver(http.server.ThreadingHTTPServer):
    """Takes the webhook's requests, and remembers the text of each device."""

    def __init__(self):
        self.found, self.lock = {}, threading.Lock()
        super().__init__(("127.0.0.1", 0), Handler)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.found[body["target"]["handle"]] = body["push"]["aps"]["alert"]
        self.send_response(204)
        self.end_headers()


def wrong(users):
    """How many of so many payloads are not right."""
    receiver = Receiver()
    threading.Thread(target=receiver.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_FOLDER")) as folder:
        server = Server(folder, users, True)
        personalize(folder)
        server.start(receiver.server_port)
        try:
            post(server.connection(), to="all", form="alert", **MESSAGE)
            deadline = time.monotonic() + 300
            while len(receiver.found) < users and time.monotonic() < deadline:
                time.sleep(0.1)
        finally:
            server.end()
        store = sqlite3.connect(folder + "/var/richpush.db")
        devices = store.execute("SELECT handle, user_id, language FROM registration").fetchall()
        store.close()
    receiver.shutdown()

    def expected(user, language):
        tag = language if language in TAGS else "en"
        return {"title": f"T-{tag}", "body": f"{tag}: N{user}!"}
    return sum(receiver.found.get(handle) != expected(user, language) for handle, user, language in devices)


def main():
    users = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    print(f"{users} users, in s    acknowledged  written")
    plain, personal = times(users)
    ratios = [own / other for own, other in zip(personal, plain)]
    for name, row in (("plain", plain), ("personal", personal), ("ratio", ratios)):
        print(f"{name:20} {row[0]:14.2f} {row[1]:8.2f}")
    count = wrong(min(users, SAMPLE))
    print(f"payloads that are wrong: {count} of {min(users, SAMPLE)}")
    isMet = ratios[1] <= TARGET and count == 0
    print(f"target: written within {TARGET}, none wrong: {'met' if isMet else 'missed'}")
    sys.exit(not isMet)


main()
