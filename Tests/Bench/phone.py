#!/usr/bin/env python3
"""A phone's whole fetch over TLS, beside nginx and a bare loop of C in the same run: what counts are the ratios.

    Tests/Bench/phone.py [ROW…]     such as full, rsa, 1.2 or "first"; without any: all

A phone that a push wakes makes one connection for one picture: TCP, TLS, one GET with its token, 20 KiB, close. 100
notifications have 20 recipients each. Each row is a kind of handshake; its phones (phones.c, 8 at a time, on the last
processor) get what they have got before and is in the cache, but for "first", which is after a start, and whose receipts
are written; "open" is a GET on a connection that is open. nginx is as its users run it, at its best: two workers,
reuseport, sessions by ticket and by cache, open_file_cache; it serves as many files to anybody. The loop (tlsfloor.c) only
shakes hands and writes, with the same library. Processor time is that of all processes of a server, medians of ROUNDS (7)
by turns. "delay" is how long a client that has not set TCP_NODELAY waits for its first byte.

Last come the instructions outside the kernel for a first fetch (callgrind), where no time of others is counted; COUNT=0
leaves them out. Exits with 1 if a row misses its target.
"""
import json, os, shutil, signal, socket, statistics, subprocess, sys, time

import media, touch
from media import FILES, FOLDER, LAST, PROGRAM, ROOT, Nginx, Process
from processes import counted, instructions, stripped, wait_until_idle
from touch import Restarted, forget, per_request, written

ROUNDS = int(os.environ.get("ROUNDS", "7"))
DEVICES, TOGETHER, SIZE = 2_000, 8, "20k"
KEYS = {"ecdsa": ("ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"), "rsa": ("rsa:2048",)}
FLAGS = ["--tls-certificate", media.CERTIFICATE, "--tls-key", FOLDER + "/key.pem"]

# What is done, key, version, the most of nginx's processor time and of the loop's.
ROWS = [("full", "ecdsa", "1.3", 0.85, 1.2), ("full", "ecdsa", "1.2", None, 1.2), ("resumed", "ecdsa", "1.3", 0.9, 1.2),
        ("resumed", "ecdsa", "1.2", 1.0, 1.2), ("first", "ecdsa", "1.3", 1.0, None), ("open", "ecdsa", "1.3", 0.98, None),
        ("delay", "ecdsa", "1.3", None, None),
        ("full", "rsa", "1.3", 0.92, 1.2), ("full", "rsa", "1.2", 0.92, 1.2), ("resumed", "rsa", "1.3", 0.9, 1.2),
        ("resumed", "rsa", "1.2", 1.0, 1.2)]


class TunedNginx(Nginx):
    """nginx with what makes connections cheap."""

    def configure(self, text):
        return text.replace("open_file_cache max=10000;", "open_file_cache max=10000; open_file_cache_valid 600s;").replace(
            "ssl_protocols", "ssl_session_cache shared:tls:10m; ssl_session_tickets on; ssl_protocols")


class CountedNginx(TunedNginx):
    """nginx as one process whose instructions are counted."""

    def __init__(self):
        super().__init__(True)
        self.end()
        with open(FOLDER + "/nginx.conf", "r+") as file:
            text = file.read().replace("worker_processes 2", "worker_processes 1")  # each has a socket of its own
            file.seek(0)
            file.write(text)
        Process.__init__(
            self, [*counted(FOLDER, "nginx"), "-c", FOLDER + "/nginx.conf", "-p", FOLDER, "-g", "master_process off;"],
            stderr=subprocess.DEVNULL)
        while socket.socket().connect_ex(("127.0.0.1", self.port)):
            time.sleep(0.05)
        wait_until_idle(self)

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        while self.process.poll() is None:  # under valgrind it sees the signal when something else happens
            socket.socket().connect_ex(("127.0.0.1", self.port))
            time.sleep(0.1)


class Loop(Process):
    """The bare loop."""

    def __init__(self):
        super().__init__([FOLDER + "/tlsfloor", media.CERTIFICATE, FOLDER + "/key.pem", str(media.SIZES[SIZE])],
                         stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())


def write_lines(name, lines):
    with open(f"{FOLDER}/{name}", "w") as file:
        file.write("\n".join(lines) + "\n")
    return file.name


def fetch_all(server, lines, how, version, *more, together=TOGETHER):
    """What the phones print."""
    out = json.loads(subprocess.run(
        [FOLDER + "/phones", str(server.port), lines, str(together), str(LAST), version, how, *more], capture_output=True,
        text=True, check=True).stdout)
    assert not out["failed"], out
    server.are_resumed = out["resumed"] >= out["answered"] - together
    return out


def cost(server, lines, how, version):
    """Processor microseconds for each fetch."""
    before = server.seconds()
    count = fetch_all(server, lines, "full" if how == "first" else how, version)["answered"]
    while how == "first" and isinstance(server, Restarted) and written() < count:
        time.sleep(0.05)
    return (server.seconds() - before) / count * 1e6


def first(lines, version):
    forget()
    server = Restarted(*FLAGS)
    try:
        return cost(server, lines, "first", version)
    finally:
        server.end()


def measure(row, servers, files):
    """All servers by turns; prints the row and says whether it holds."""
    how, key, version, most, most_of_loop = row
    if how == "delay":
        waits = [statistics.median(fetch_all(server, file, "full", version, "nagle", together=1)["p50"] / 1000 for _ in range(3))
                 for server, file in zip(servers, (FOLDER + "/few.ours", FOLDER + "/few.theirs"))]
        holds = waits[0] < waits[1] + 2
        print(f"{how:>8} {key:>6} {version:>4} {waits[0]:9.1f} {waits[1]:9.1f} {'ms':>8}   {'as nginx':>17}  {'pass' if holds else 'FAIL'}",
              flush=True)
        return holds
    rounds = [[first(files[0], version) if how == "first" and server is servers[0] else cost(server, file, how, version)
               for server, file in zip(servers, files)] for _ in range(ROUNDS)]
    ours, theirs, least = map(statistics.median, zip(*rounds))
    ratio, of_loop = ours / theirs, ours / least
    fulls = how == "resumed" and not all(server.are_resumed for server in servers)
    holds = (most is None or ratio <= most) and (most_of_loop is None or of_loop <= most_of_loop) and not fulls
    print(f"{how:>8} {key:>6} {version:>4} {ours:9.0f} {theirs:9.0f} {ratio:8.2f} {most or '-':>8} {least:9.0f} {of_loop:8.2f}"
          f" {most_of_loop or '-':>8}  {'pass' if holds else 'FAIL'}{', not resumed' if fulls else ''}", flush=True)
    return holds


def count(start, lines, are_recorded):
    """A function for `per_request`."""
    def run(requests):
        forget()
        server, some = start(), write_lines("some", lines[:requests])
        try:
            fetch_all(server, some, "full", "1.3")
            while are_recorded and written() < requests:
                time.sleep(0.05)
        finally:
            server.end()
        return instructions(FOLDER, server.process.pid)
    return run


def main():
    wanted = set(sys.argv[1:])
    rows = [row for row in ROWS if not wanted or wanted & set(row[:3])]
    for name in ("StandIns/Services/phones", "Bench/tlsfloor"):
        subprocess.run(["cc", "-O2", "-o", f"{FOLDER}/{os.path.basename(name)}", f"{ROOT}/Tests/{name}.c", "-lssl", "-lcrypto"],
                       check=True)
    media.write_files(SIZE)
    ours = touch.prepare(DEVICES, SIZE)["tokens"]
    theirs = [f"/{SIZE}-{number % FILES}.wav - -" for number in range(DEVICES)]
    files = [write_lines("ours", ours), write_lines("theirs", theirs), FOLDER + "/theirs"]
    for name, lines in (("few.ours", ours), ("few.theirs", theirs)):
        write_lines(name, lines[:100])
    print(f"{'':>8} {'key':>6} {'TLS':>4} {'richpush':>9} {'nginx':>9} {'ratio':>8} {'at most':>8} {'loop':>9} {'ratio':>8} {'at most':>8}")
    holds = True
    for key, arguments in KEYS.items():
        media.certify(*arguments)
        for are_first in (False, True):  # its server is started for each round, on the same data
            part = [row for row in rows if row[1] == key and (row[0] == "first") == are_first]
            if not part:
                continue
            own = None if are_first else Restarted(*FLAGS)
            others = [TunedNginx(True), Loop()]
            try:
                for server, file in zip([own, *others], files):  # so that all is in caches
                    for _ in range(2 if server else 0):
                        fetch_all(server, file, "full", "1.3")
                holds &= all([measure(row, [own, *others], files) for row in part])
            finally:
                for server in others + ([own] if own else []):
                    server.end()
    if not wanted and os.environ.get("COUNT") != "0":
        media.certify(*KEYS["ecdsa"])
        command = counted(FOLDER, stripped(FOLDER, PROGRAM))
        counts = [per_request(100, 500, count(lambda: Restarted(*FLAGS, command=command), ours, True)),
                  per_request(100, 500, count(CountedNginx, theirs, False))]
        print(f"instructions for a first fetch: {counts[0]:.0f}, nginx's {counts[1]:.0f}, ratio {counts[0] / counts[1]:.2f}")
    sys.exit(0 if holds else 1)


if __name__ == "__main__":
    try:
        main()
    finally:
        shutil.rmtree(FOLDER)
