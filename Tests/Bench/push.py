#!/usr/bin/env python3
"""The push outbox beside bare HTTP/2 posts, and a notification's way to a phone beside its bare requests.

    Tests/Bench/push.py [PUSHES] [ROUNDS]

1. PUSHES (4,000) pushes to as many devices: richpush from the moment they are due, with every lease and
   receipt committed, beside Tests/Bench/h2post.c, which posts the same to the same nghttpd by libcurl's multi
   interface and stores nothing. The two take turns; a ratio of 1 means that durability costs nothing.
2. POST to first byte: a phone listens on the embedded gateway and fetches each notification as it is told,
   beside the same POST followed by the same GET without any push between. The ratio is of the medians.
"""
import atexit, base64, http.client, json, os, re, shutil, socket, sqlite3, statistics, subprocess, sys, tempfile, time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PUSHES = int(sys.argv[1]) if len(sys.argv) > 1 else 4_000
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 3
PROGRAM = os.environ.get("RICHPUSH", ROOT + "/.build/release/richpush")
sys.path.insert(0, ROOT + "/Tests/StandIns/Services")
import certificates  # noqa: E402


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


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

    def delivered(self):
        page = self.ask("GET", "/metrics").decode()
        return int(re.search(r'pushes_total{lane="apns",outcome="delivered"} (\d+)', page)[1])


def throughput(folder):
    certificates.server_context(folder, ["h2"])
    site = folder + "/site"
    os.makedirs(site + "/3/device")
    for number in range(PUSHES):
        open(f"{site}/3/device/{number:08x}", "w").close()
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
        store.executemany("INSERT INTO registration VALUES (?, ?, 'apns', ?, 0)",
                          [(one, "user" + one, one) for one in devices])
        store.executemany("INSERT INTO registration_tag VALUES ('all', ?)", [(one,) for one in devices])
    store.close()
    text = '{"aps":{"alert":{"body":"Look"},"mutable-content":1},"richId":"0","richType":"img"}'
    with open(folder + "/push.json", "w") as file:
        file.write(text)
    # nghttpd's paths are lower case, the store's handles upper case.
    for number in range(PUSHES):
        upper = f"{site}/3/device/{number:08X}"
        if not os.path.exists(upper):
            open(upper, "w").close()
    ours, bare = [], []
    with Server(folder, environment, "--push", "apns") as server:
        for _ in range(ROUNDS):
            bare.append(PUSHES / float(subprocess.run(
                [folder + "/h2post", url + "/3/device", folder + "/push.json", str(PUSHES), "500",
                 folder + "/ca.pem"], check=True, capture_output=True, text=True).stdout))
            before = server.delivered()
            due = time.time() + 4 + PUSHES / 20_000
            due = float(int(due) + 1)
            server.create(to="all", form="alert",
                          notBefore=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(due)))
            assert time.time() < due, "storing the jobs took longer than the wait"
            time.sleep(due - time.time())
            while server.delivered() < before + PUSHES:
                time.sleep(0.02)
            ours.append(PUSHES / (time.time() - due))
    ours, bare = statistics.median(ours), statistics.median(bare)
    print(f"{'outbox, pushes/s':32} {ours:10.0f} {'bare posts/s':>14} {bare:10.0f} {'ratio':>7} {ours / bare:5.2f}")


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


for work in (throughput, latency):
    with tempfile.TemporaryDirectory() as place:
        work(place)
