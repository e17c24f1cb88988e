#!/usr/bin/env python3
"""The push outbox beside bare HTTP/2 posts, and a notification's way to a phone beside its bare requests.

    Tests/Bench/push.py [PUSHES] [ROUNDS]

1. PUSHES (20,000) pushes to as many devices: richpush from the moment they are due, with every lease and
   receipt committed, beside Tests/Bench/h2post.c, which posts the same to the same nghttpd by libcurl's multi
   interface and stores nothing. The two take turns; a ratio of 1 means that durability costs nothing.
2. POST to first byte: a phone listens on the embedded gateway and fetches each notification as it is told,
   beside the same POST followed by the same GET without any push between. The ratio is of the medians.
"""
import atexit, base64, http.client, json, os, re, resource, shutil, socket, sqlite3, statistics, subprocess, sys, tempfile, time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PUSHES = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 3
PROGRAM = os.environ.get("RICHPUSH", ROOT + "/.build/release/richpush")
sys.path.insert(0, ROOT + "/Tests/StandIns/Services")
import certificates  # noqa: E402


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def cpu_of(pid):
    """Seconds of processor time that a process has used."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cpu_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Server:
    """richpush with a data folder of its own."""

    def __init__(self, folder, environment, *flags):
        self.folder, self.environment, self.flags = folder, environment, flags
        for path in ("assets/img", "plugins/img"):
            os.makedirs(f"{folder}/{path}", exist_ok=True)
        shutil.copy(ROOT + "/assets/img/logo.png", folder + "/assets/img/")
        shutil.copy(ROOT + "/plugins/img/plugin.json", folder + "/plugins/img/")

    def __enter__(self):
        self.log = open(self.folder + "/log", "a")
        self.process = subprocess.Popen(
            [PROGRAM, "serve", "--demo", "--listen", "127.0.0.1:0", "--data", self.folder + "/var",
             "--assets", self.folder + "/assets", "--plugins", self.folder + "/plugins", *self.flags],
            stdout=subprocess.PIPE, stderr=self.log, text=True,
            env={"PATH": os.environ["PATH"], **self.environment})
        self.port = int(self.process.stdout.readline().rsplit(":", 1)[1])
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port)
        return self

    def __exit__(self, *error):
        self.process.terminate()
        self.process.wait()

    def ask(self, method, path, body=None, user="shop"):
        key = base64.b64encode(f"{user}:{user}".encode()).decode()
        self.connection.request(method, path, body, {"Authorization": "Basic " + key})
        answer = self.connection.getresponse()
        data = answer.read()
        assert answer.status < 300, (method, path, answer.status, data)
        return data

    def create(self, **members):
        new = {"message": "Look", "richType": "img", "payload": "logo.png", **members}
        return json.loads(self.ask("POST", "/api/notifications", json.dumps(new)))["id"]

    def delivered(self, lane="apns"):
        page = self.ask("GET", "/metrics").decode()
        return int(re.search(r'pushes_total{lane="%s",outcome="sent"} (\d+)' % lane, page)[1])


def last_receipt(folder):
    store = sqlite3.connect(f"file:{folder}/var/richpush.db?mode=ro", uri=True)
    try:
        return store.execute("SELECT max(updated) FROM job").fetchone()[0] / 1000
    finally:
        store.close()


def throughput(folder):
    certificates.server_context(folder, ["h2"])
    site = folder + "/site"
    os.makedirs(site + "/3/device")
    # A byte each: after an empty file libcurl resets the stream, and nghttpd hangs up on too many resets.
    for number in range(PUSHES):  # nghttpd's paths are the posts' lower case, and the store's upper case
        for name in {f"{number:08x}", f"{number:08X}"}:
            with open(f"{site}/3/device/{name}", "w") as file:
                file.write("x")
    port = free_port()
    service = subprocess.Popen(
        ["nghttpd", "-a", "127.0.0.1", "-d", site, "-m", "1000", str(port),
         folder + "/leaf.key", folder + "/leaf.pem"], stdout=subprocess.DEVNULL)
    atexit.register(service.kill)
    subprocess.run(
        ["openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", folder + "/ec"], check=True)
    subprocess.run(
        ["openssl", "pkcs8", "-topk8", "-nocrypt", "-in", folder + "/ec", "-out", folder + "/key.p8"], check=True)
    subprocess.run(["cc", "-O2", "-o", folder + "/h2post", ROOT + "/Tests/Bench/h2post.c", "-lcurl"], check=True)
    url = f"https://localhost:{port}"
    environment = {
        "RICHPUSH_APNS_KEY_FILE": folder + "/key.p8", "RICHPUSH_APNS_KEY_ID": "ABC123DEFG",
        "RICHPUSH_APNS_TEAM_ID": "DEF123GHIJ", "RICHPUSH_APNS_TOPIC": "com.example.richpush",
        "RICHPUSH_APNS_ENDPOINT": url, "RICHPUSH_PUSH_CA": folder + "/ca.pem"}
    with Server(folder, environment, "--push", "apns"):
        pass
    store = sqlite3.connect(folder + "/var/richpush.db")
    with store:
        devices = [f"{number:08x}".upper() for number in range(PUSHES)]
        store.executemany("INSERT INTO users(name, role, created) VALUES (?, 'device', 0)",
                          [("user" + one,) for one in devices])
        store.executemany("INSERT INTO registration(id, user_id, platform, handle, updated) SELECT ?, id, 'apns', ?, 0 FROM users WHERE name = ?",
                          [(one, one, "user" + one) for one in devices])
        store.executemany("INSERT INTO registration_tag VALUES ('all', ?)", [(one,) for one in devices])
    store.close()
    text = '{"aps":{"alert":{"body":"Look"},"mutable-content":1},"richId":"0","richType":"img"}'
    with open(folder + "/push.json", "w") as file:
        file.write(text)
    ours, bare = [], []
    with Server(folder, environment, "--push", "apns") as server:
        for _ in range(ROUNDS):
            before = cpu_of_children()
            seconds = float(subprocess.run(
                [folder + "/h2post", url + "/3/device", folder + "/push.json", str(PUSHES), "500",
                 folder + "/ca.pem"], check=True, capture_output=True, text=True).stdout)
            bare.append((PUSHES / seconds, (cpu_of_children() - before) / PUSHES * 1e6))
            before = server.delivered()
            due = float(int(time.time() + 5 + PUSHES / 2_000))
            server.create(to="all", form="alert",
                          notBefore=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(due)))
            assert time.time() < due, "storing the jobs took longer than the wait"
            time.sleep(due - time.time())
            cpu = cpu_of(server.process.pid)
            while server.delivered() < before + PUSHES:
                time.sleep(0.2)  # to ask costs processor time; the store knows when the last one was settled
            used = (cpu_of(server.process.pid) - cpu) / PUSHES * 1e6
            ours.append((PUSHES / (last_receipt(folder) - due), used))
    for what, place in (("outbox, pushes/s", 0), ("outbox, CPU us/push", 1)):
        pair = [statistics.median(one[place] for one in list) for list in (ours, bare)]
        print(f"{what:32} {pair[0]:10.0f} {'bare posts':>14} {pair[1]:10.0f} {'ratio':>7} {pair[0] / pair[1]:5.2f}",
              flush=True)


def latency(folder):
    def fetched(server, connection, id):
        connection.request("GET", f"/api/notifications/{id}?profile=thumb", headers=credentials)
        answer = connection.getresponse()
        answer.read(1)
        moment = time.perf_counter()
        answer.read()
        assert answer.status == 200
        return moment

    credentials = {"Authorization": "Basic " + base64.b64encode(b"alice:alice").decode()}
    with Server(folder, {}) as server:
        phone = http.client.HTTPConnection("127.0.0.1", server.port)
        stream = http.client.HTTPConnection("127.0.0.1", server.port)
        stream.request("GET", "/api/push/stream", headers=credentials)
        events = stream.getresponse()
        while not events.readline().startswith(b"id:"):
            pass
        pushed, bare = [], []
        for number in range(220):
            for way in (pushed, bare):
                start = time.perf_counter()
                # The bare pair is for a user who does not listen, but the same one fetches.
                to = ["username:alice"] if way is pushed else ["username:alice", "username:bob"]
                id = server.create(to=to)
                if way is pushed:
                    while True:
                        line = events.readline()
                        if line.startswith(b"data:") and json.loads(line[5:])["richId"] == str(id):
                            break
                moment = fetched(server, phone, id)
                if number >= 20:
                    way.append(moment - start)
        pushed, bare = statistics.median(pushed) * 1000, statistics.median(bare) * 1000
    print(f"{'POST to first byte by push, ms':32} {pushed:10.2f} {'POST + GET, ms':>14} {bare:10.2f} "
          f"{'ratio':>7} {pushed / bare:5.2f}")


if __name__ == "__main__":
    for work in (throughput, latency):
        with tempfile.TemporaryDirectory() as place:
            work(place)
