#!/usr/bin/env python3
"""The first request of each of 20,000 devices, beside nginx in the same run: what counts is the ratio.

    Tests/Bench/touch.py

1,000 notifications have 20 recipients each, and all renditions are stored. The server is started again before each
round, so that it remembers nobody; then every device fetches its notification once, on 64 connections: with its token,
with a password that is remembered since an earlier request of the user ("remembered"), or with one that is not, in
demonstration mode, where no password is hashed. The time is that of all threads until the receipts are written. nginx
serves as many files in the same way. The instructions outside the kernel (callgrind) are those of a device with its
token. ROUNDS (5) may be set in the environment. Exits with 1 if a request failed.
"""
import base64, hashlib, json, os, random, shutil, sqlite3, statistics, subprocess, time

import media
from media import FILES, FOLDER, LAST, PROGRAM, ROOT, Nginx, Origin, Process, ask, key
from processes import counted, instructions, stripped, wait_until_idle

ROUNDS = int(os.environ.get("ROUNDS", "5"))
DEVICES, GROUP = 20_000, 20


class Restarted(Process):
    """The server of a folder, started again."""

    def __init__(self, *flags, command=(PROGRAM,)):
        folder = FOLDER + "/touch"
        super().__init__(
            [*command, "serve", "--demo", "--listen", "127.0.0.1:0", "--data", folder + "/var", "--assets",
             folder + "/assets", "--plugins", folder + "/plugins", *flags],
            stdout=subprocess.PIPE, stderr=open(folder + "/log", "a"), text=True)
        self.port = int(self.process.stdout.readline().rsplit(":", 1)[1])
        wait_until_idle(self)


def token(number):
    return base64.urlsafe_b64encode(hashlib.sha256(b"%d" % number).digest()).decode().rstrip("=")


def prepare(devices, size):
    """A folder with a notification of this size for every 20 devices; returns the lines that the load generator reads."""
    server, ids = Origin("touch", False), []
    for number in range(devices // GROUP):
        users = [f"username:u{user}" for user in range(number * GROUP, (number + 1) * GROUP)]
        body = {"message": "m", "richType": "sound", "payload": f"{size}-{number % FILES}.wav", "to": users}
        ids.append(json.loads(ask(server, "POST", "/api/notifications", key("bench"), json.dumps(body))[1])["id"])
    server.end()
    with sqlite3.connect(FOLDER + "/touch/var/richpush.db") as database:
        users = dict(database.execute("SELECT name, id FROM users"))
        for number in range(devices):
            hash = hashlib.sha256(token(number).encode()).hexdigest()
            database.execute("INSERT INTO registration(id, user_id, platform, handle, updated) VALUES (?, ?, 'apns', ?, 0)",
                             (f"d{number}", users[f"u{number}"], f"{number:064x}"))
            database.execute("INSERT INTO device_token VALUES (?, 0, ?)", (hash, f"d{number}"))
    database.close()
    order = list(range(devices))
    random.Random(1).shuffle(order)
    paths = {number: f"/api/notifications/{ids[number // GROUP]}" for number in order}
    passwords = [f"{paths[number]} {key(f'u{number}')} -" for number in order]
    return {"tokens": [f"{paths[number]} {token(number)} -" for number in order], "remembered": passwords,
            "passwords": passwords, "logins": [f"/api/session {key(f'u{number}')} -" for number in order]}


def forget():
    with sqlite3.connect(FOLDER + "/touch/var/richpush.db") as database:
        database.execute("UPDATE recipient SET fetched = NULL")
        database.execute("DELETE FROM device_receipt")
        database.execute("DELETE FROM event")
        database.execute("UPDATE notification_count SET fetched = 0")
    database.close()


def written():
    database = sqlite3.connect(f"file:{FOLDER}/touch/var/richpush.db?mode=ro", uri=True)
    try:
        return database.execute("SELECT sum(fetched) FROM notification_count").fetchone()[0]
    finally:
        database.close()


def touch(server, file, is_done=lambda: True):
    """Requests per second, and processor microseconds per request."""
    before = server.seconds()
    out = json.loads(subprocess.run(
        [FOLDER + "/load", str(server.port), file, "64", "once", str(LAST), "200"], capture_output=True, text=True,
        check=True).stdout)
    while not is_done():
        time.sleep(0.05)
    assert not out["other"] and not out["broken"], out
    return out["rate"], (server.seconds() - before) / out["answered"] * 1e6


def per_request(few, many, count):
    """Instructions for each request: the difference of a run with few of them and one with many.

    `count` runs a server that is counted with so many requests, and returns its number of instructions.
    """
    return (count(many) - count(few)) / (many - few)


def count(requests):
    forget()
    server = Restarted(command=counted(FOLDER, stripped(FOLDER, PROGRAM)))
    with open(FOLDER + "/tokens.requests") as all, open(FOLDER + "/some.requests", "w") as some:
        some.writelines(all.readlines()[:requests])
    try:
        touch(server, FOLDER + "/some.requests", lambda: written() == requests)
    finally:
        server.end()
    return instructions(FOLDER, server.process.pid)


def main():
    media.write_files("1k")
    subprocess.run(["cc", "-O2", "-pthread", "-o", FOLDER + "/load", ROOT + "/Tests/Bench/load.c"], check=True)
    media.certify("rsa:2048")
    lines = prepare(DEVICES, "1k")
    lines["nginx"] = [f"/1k-{number % FILES}.wav - -" for number in range(DEVICES)]
    for name, requests in lines.items():
        with open(f"{FOLDER}/{name}.requests", "w") as file:
            file.write("\n".join(requests) + "\n")
    runs, nginx = {name: [] for name in lines if name != "logins"}, Nginx(False)
    try:
        for _ in range(ROUNDS):
            runs["nginx"].append(touch(nginx, FOLDER + "/nginx.requests"))
            for name in ("tokens", "remembered", "passwords"):
                forget()
                server = Restarted()
                try:
                    if name == "remembered":
                        touch(server, FOLDER + "/logins.requests")
                    runs[name].append(touch(server, f"{FOLDER}/{name}.requests", lambda: written() == DEVICES))
                finally:
                    server.end()
    finally:
        nginx.end()
    print(f"{'':>10} {'rate':>9} {'us/req':>8} {'in nginx':>9}")
    theirs = statistics.median(cost for _, cost in runs["nginx"])
    for name, values in runs.items():
        rate, cost = (statistics.median(part) for part in zip(*values))
        print(f"{name:>10} {rate:9.0f} {cost:8.1f} {cost / theirs:9.2f}")
    print(f"instructions for each with a token: {per_request(500, 5000, count):.0f}")


if __name__ == "__main__":
    try:
        main()
    finally:
        shutil.rmtree(FOLDER)
