#!/usr/bin/env python3
"""Web Push to 10,000 subscriptions at 50 push services, five of them dead, beside bare posts by libcurl.

    Tests/Bench/webpush.py [PUSHES] [ROUNDS]

richpush from the moment the pushes are due until those to the living services are recorded as sent, beside
Tests/Bench/webpost.c, which encrypts and posts as many and stores nothing. Both post to nginx, which answers 201,
over HTTP/1.1 on loopback, as demo mode allows. The two take turns. The target is a ratio of 0.7. The last line tells
how evenly the living services were served; it has no target.
"""
import base64, os, signal, socket, sqlite3, statistics, subprocess, sys, tempfile, time
from collections import Counter

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

import push

PUSHES = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
ORIGINS, DEAD = 50, 5


def encoded(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def key_pairs(count):
    for _ in range(count):
        key = ec.generate_private_key(ec.SECP256R1()).public_key()
        yield (key.public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint),
               os.urandom(16))


def nginx(folder, ports):
    listen = "".join(f"listen 127.0.0.1:{port};" for port in ports)
    with open(folder + "/nginx.conf", "w") as out:
        out.write(f"""
worker_processes 1; pid {folder}/nginx.pid; error_log /dev/null; daemon off;
events {{ worker_connections 8192; }}
http {{ log_format push '$msec $server_port'; access_log {folder}/access push buffer=64k; keepalive_requests 1000000; client_body_temp_path {folder}/body;
  server {{ {listen} location / {{ return 201; }} }} }}""")
    return subprocess.Popen(["nginx", "-c", folder + "/nginx.conf", "-e", "/dev/null"])


def prepare(folder, ports):
    """Stores the subscriptions, in the database and in a file for webpost."""
    with push.Server(folder, {}, "--push", "webpush"):
        pass
    keys = list(key_pairs(100))
    store = sqlite3.connect(folder + "/var/richpush.db")
    with store, open(folder + "/subscriptions", "w") as file:
        for number in range(PUSHES):
            (point, secret), port = keys[number % len(keys)], ports[number % len(ports)]
            url = f"http://127.0.0.1:{port}/push/{number}"
            user = store.execute(
                "INSERT INTO users(name, role, created) VALUES (?, 'device', 0)", (f"user{number}",)).lastrowid
            store.execute(
                "INSERT INTO registration(id, user_id, platform, handle, updated, keys, lane) "
                "VALUES (?, ?, 'webpush', ?, 0, ?, ?)",
                (str(number), user, url, f"{encoded(point)}.{encoded(secret)}",
                 f"webpush:http://127.0.0.1:{port}"))
            store.execute("INSERT INTO registration_tag VALUES ('all', ?)", (str(number),))
            file.write(f"{url} {point.hex()} {secret.hex()}\n")
    store.close()


def last_sent(folder):
    store = sqlite3.connect(f"file:{folder}/var/richpush.db?mode=ro", uri=True)
    try:
        return store.execute("SELECT max(updated) FROM job WHERE state = 'sent'").fetchone()[0] / 1000
    finally:
        store.close()


def largest_share(folder, since):
    """The most pushes that a service got in a second, divided by the fewest, while all had pushes waiting."""
    with open(folder + "/access") as file:
        seen = [(float(time), port) for time, port in map(str.split, file) if float(time) >= since]
    end = min(max(time for time, port in seen if port == one) for one in {port for _, port in seen})
    shares = []
    for second in range(int(end - since)):
        counts = Counter(port for time, port in seen if int(time - since) == second)
        shares.append(max(counts.values()) / min(counts.values()))
    return max(shares, default=0)


def listens(port):
    try:
        socket.create_connection(("127.0.0.1", port)).close()
        return True
    except ConnectionRefusedError:
        return False


def main(folder):
    libraries = push.ROOT + "/Sources/CLibraries/"
    subprocess.run(
        ["cc", "-O2", "-I", libraries + "include", "-o", folder + "/webpost", push.ROOT + "/Tests/Bench/webpost.c",
         libraries + "openssl.c", libraries + "openssl-keys.c", "-lcurl", "-lcrypto"],
        check=True)
    ports = [push.free_port() for _ in range(ORIGINS)]
    alive = PUSHES * (ORIGINS - DEAD) // ORIGINS
    prepare(folder, ports)
    service = nginx(folder, ports[DEAD:])
    ours, bare, encryption, shares = [], [], [], []
    try:
        while not listens(ports[-1]):
            assert service.poll() is None, "nginx has ended"
            time.sleep(0.1)
        for _ in range(push.ROUNDS):
            before = push.cpu_of_children()
            seconds, each, failed = map(float, subprocess.run(
                [folder + "/webpost", folder + "/subscriptions", str(PUSHES), "500"],
                check=True, capture_output=True, text=True).stdout.split())
            assert failed == PUSHES - alive, failed
            bare.append((alive / seconds, (push.cpu_of_children() - before) / alive * 1e6))
            encryption.append(each)
            # A server of its own: the dead services' pushes of the last round must not be sent again now.
            with push.Server(folder, {}, "--push", "webpush") as server:
                due = float(int(time.time() + 5 + PUSHES / 2_000))
                server.create(to="all", form="alert",
                              notBefore=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(due)))
                assert time.time() < due, "storing the jobs took longer than the wait"
                time.sleep(due - time.time())
                cpu = push.cpu_of(server.process.pid)
                while server.delivered("webpush") < alive:
                    time.sleep(0.2)
                used = (push.cpu_of(server.process.pid) - cpu) / alive * 1e6
                ours.append((alive / (last_sent(folder) - due), used))
            os.kill(service.pid, signal.SIGUSR1)  # writes what is in the log's buffer
            time.sleep(0.5)
            shares.append(largest_share(folder, due))
            store = sqlite3.connect(folder + "/var/richpush.db")
            with store:
                store.execute("UPDATE job SET state = 'cancelled' WHERE state = 'queued'")
            store.close()
    finally:
        service.terminate()
        service.wait()
    ratio = 0
    for what, place in (("Web Push, pushes/s", 0), ("Web Push, CPU us/push", 1)):
        pair = [statistics.median(one[place] for one in list) for list in (ours, bare)]
        ratio = ratio or pair[0] / pair[1]
        print(f"{what:32} {pair[0]:10.0f} {'bare posts':>14} {pair[1]:10.0f} {'ratio':>7} {pair[0] / pair[1]:5.2f}")
    print(f"{'encryption, CPU us/push':32} {statistics.median(encryption):10.0f}")
    print(f"{'most/fewest of a service in 1 s':32} {max(shares):10.2f}")
    return ratio >= 0.7


with tempfile.TemporaryDirectory() as place:
    sys.exit(0 if main(place) else "below 0.7 of bare posts")
