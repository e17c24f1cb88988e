#!/usr/bin/env python3
"""A phone's whole fetch, beside nginx in the same run: what counts is the ratio.

    Tests/Bench/phone.py

A phone that a push wakes makes one connection for one picture, often in a new process, which has no session to resume:
TCP connection, TLS 1.3 with an ECDSA certificate, GET with its token, 20 KiB, close. 100 notifications have 20
recipients each, and all renditions are stored. The server is started again before each round; then every device fetches
its notification once, 8 at a time, from the last processor. The processor time is that of all threads until the
receipts are written; the instructions are those outside the kernel (callgrind), where no time of others is counted.
nginx serves as many files in the same way. ROUNDS (5) may be set in the environment. Exits with 1 if a request failed.
"""
import concurrent.futures, os, shutil, signal, socket, ssl, statistics, subprocess, time

import media, touch
from media import FILES, FOLDER, LAST, PROGRAM, SIZES, Nginx, Process
from processes import counted, instructions, stripped, wait_until_idle
from touch import Restarted, forget, per_request, written

ROUNDS = int(os.environ.get("ROUNDS", "5"))
DEVICES, TOGETHER, SIZE = 2_000, 8, "20k"
FLAGS = ["--tls-certificate", media.CERTIFICATE, "--tls-key", FOLDER + "/key.pem"]
CONTEXT = ssl._create_unverified_context()
CONTEXT.minimum_version = ssl.TLSVersion.TLSv1_3


class CountedNginx(Nginx):
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


def fetch(port, line):
    path, token, _ = line.split()
    authorization = "" if token == "-" else f"Authorization: Bearer {token}\r\n"
    request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{authorization}\r\n"
    with socket.create_connection(("127.0.0.1", port)) as plain:
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with CONTEXT.wrap_socket(plain, server_hostname="localhost") as connection:
            connection.sendall(request.encode())
            answer = b""
            while (end := answer.find(b"\r\n\r\n")) < 0 or len(answer) < end + 4 + SIZES[SIZE]:
                if not (piece := connection.recv(65536)):
                    break
                answer += piece
    assert answer.startswith(b"HTTP/1.1 200 ") and len(answer) == end + 4 + SIZES[SIZE], (line, answer[:200])


def fetch_all(server, lines, are_recorded):
    with concurrent.futures.ThreadPoolExecutor(TOGETHER) as phones:
        for _ in phones.map(lambda line: fetch(server.port, line), lines):
            pass
    while are_recorded and written() < len(lines):
        time.sleep(0.05)


def cost(server, lines, are_recorded):
    """Processor microseconds for each fetch."""
    try:
        before = server.seconds()
        fetch_all(server, lines, are_recorded)
        return (server.seconds() - before) / len(lines) * 1e6
    finally:
        server.end()


def count(start, lines, are_recorded):
    """A function for `per_request`."""
    def run(requests):
        forget()
        server = start()
        try:
            fetch_all(server, lines[:requests], are_recorded)
        finally:
            server.end()
        return instructions(FOLDER, server.process.pid)
    return run


def main():
    os.sched_setaffinity(0, {LAST})
    media.write_files(SIZE)
    media.certify("ec", "-pkeyopt", "ec_paramgen_curve:prime256v1")
    ours = touch.prepare(DEVICES, SIZE)["tokens"]
    theirs = [f"/{SIZE}-{number % FILES}.wav - -" for number in range(DEVICES)]
    costs = []
    for _ in range(ROUNDS):
        forget()
        costs.append((cost(Restarted(*FLAGS), ours, True), cost(Nginx(True), theirs, False)))
    command = counted(FOLDER, stripped(FOLDER, PROGRAM))
    counts = (per_request(100, 500, count(lambda: Restarted(*FLAGS, command=command), ours, True)),
              per_request(100, 500, count(CountedNginx, theirs, False)))
    print(f"{'for each fetch':<28} {'richpush':>10} {'nginx':>10} {'ratio':>7}")
    for name, (one, other) in (("processor time, us", map(statistics.median, zip(*costs))), ("instructions", counts)):
        print(f"{name:<28} {one:10.0f} {other:10.0f} {one / other:7.2f}")


if __name__ == "__main__":
    try:
        main()
    finally:
        shutil.rmtree(FOLDER)
