#!/usr/bin/env python3
"""The media route beside nginx, in one run, by turns: what counts is the ratio.

    Tests/Bench/media.py [ROW…]     such as 20k, tls or 1k-close; without any: all

richpush answers `GET /api/notifications/<id>` to distinct users with Basic credentials; nginx, with two
workers, sendfile and open_file_cache, serves the same distinct files to anybody. The load generator (load.c)
has the last processor to itself, the servers have the others; over TLS wrk asks, with the script of
this file. Each row shows the requests per second and the processor time per request, of all processes of the
server (/proc/<pid>/stat), and beside them the processor time of a bare loop of system calls (floor.c). A row
passes when it reaches the target in requests and costs no more processor time than its target.
SECONDS_EACH (2), ROUNDS (7), NOTIFICATIONS (2000, each with a user of its own) and FILES (100 of each size, no
two alike) may be set in the environment. Exits with 1 if a row fails.
"""
import base64, http.client, json, os, re, shutil, signal, socket, ssl, statistics, struct, subprocess, sys, tempfile, time

from processes import processor_seconds

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.environ.get("RICHPUSH", ROOT + "/.build/release/richpush")
SECONDS = int(os.environ.get("SECONDS_EACH", "2"))
ROUNDS = int(os.environ.get("ROUNDS", "7"))
LAST = os.cpu_count() - 1
NOTIFICATIONS = int(os.environ.get("NOTIFICATIONS", "2000"))
FILES = int(os.environ.get("FILES", "100"))
SIZES = {"1k": 1 << 10, "20k": 20 << 10, "200k": 200 << 10, "2m": 2 << 20}

# Row: what is asked for, how, over how many connections, the least ratio of requests per second, and the greatest of
# processor time.
ROWS = [("1k", "keep", 64, 1.4, 0.68), ("20k", "keep", 64, 1.12, 0.88), ("200k", "keep", 64, 1.0, 0.97)]
ROWS += [("2m", "keep", 64, 1.1, 1.0), ("20k", "304", 64, 1.0, 0.9)]
ROWS += [(name, "keep", 1000, 1.0, 1.0) for name in SIZES]
ROWS += [(name, "close", 64, 0.9, 9.9) for name in ("1k", "20k")]
ROWS += [(name, "tls", 64, 0.7, 9.9) for name in ("1k", "20k", "200k")]

SCRIPT = """
local file = os.getenv("BENCH_REQUESTS")
local requests, turn = {}, 0
function init()
  for line in io.lines(file) do
    local path, key = line:match("(%S+) (%S+)")
    local fields = {}
    if key ~= "-" then fields["Authorization"] = "Basic " .. key end
    requests[#requests + 1] = wrk.format("GET", path, fields)
  end
  turn = math.random(#requests)
end
function request()
  turn = turn % #requests + 1
  return requests[turn]
end
"""


def wave(size, number):
    """A WAV of almost silence: sounds are served as they are, so that their size can be chosen."""
    return struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", size - 8, b"WAVE", b"fmt ", 16, 1, 1, 8000, 8000, 1, 8,
                       b"data", size - 44) + struct.pack("<I", number) + b"\x80" * (size - 48)


class Process:
    """A server with all its processes."""

    def __init__(self, command, **options):
        self.process = subprocess.Popen(
            command, preexec_fn=lambda: os.sched_setaffinity(0, set(range(LAST)) or {0}), **options)

    def family(self):
        parents = {}
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/stat") as file:
                    parents[int(pid)] = int(file.read().rpartition(")")[2].split()[1])
            except OSError:
                pass
        family = {self.process.pid}
        while more := {pid for pid, parent in parents.items() if parent in family} - family:
            family |= more
        return family

    def seconds(self):
        return processor_seconds(self.family())

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


def free_port():
    with socket.socket() as it:
        it.bind(("127.0.0.1", 0))
        return it.getsockname()[1]


class Origin(Process):
    """richpush with sounds of each size, over HTTP or over TLS."""

    def __init__(self, name, secure):
        folder = f"{FOLDER}/{name}"
        self.how = "https" if secure else "http"
        for path in ("plugins/sound", "assets/sound"):
            os.makedirs(f"{folder}/{path}")
        shutil.copy(ROOT + "/plugins/sound/plugin.json", folder + "/plugins/sound/")
        for name in os.listdir(FOLDER + "/static"):
            os.link(f"{FOLDER}/static/{name}", f"{folder}/assets/sound/{name}")
        flags = ["--tls-certificate", CERTIFICATE, "--tls-key", FOLDER + "/key.pem"] if secure else []
        super().__init__(
            [PROGRAM, "serve", "--demo", "--listen", "127.0.0.1:0", "--data", folder + "/var", "--assets",
             folder + "/assets", "--plugins", folder + "/plugins", *flags],
            stdout=subprocess.PIPE, stderr=open(folder + "/log", "a"), text=True)
        self.port = int(self.process.stdout.readline().rsplit(":", 1)[1])

    def paths(self, size):
        """A notification for each user, and the users' credentials."""
        for number in range(NOTIFICATIONS):
            user = f"u{number}"
            body = {"message": "m", "richType": "sound", "payload": f"{size}-{number % FILES}.wav",
                    "to": ["username:" + user]}
            text = ask(self, "POST", "/api/notifications", key("bench"), json.dumps(body))[1]
            yield f"/api/notifications/{json.loads(text)['id']}", key(user)


class Floor(Process):
    """A bare loop that always gives the same answer."""

    def __init__(self, status, size):
        self.how = "http"
        super().__init__([FOLDER + "/floor", status, str(size), "2"], stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())


class Nginx(Process):
    """nginx with as many files of each size."""

    def __init__(self, secure):
        self.how, self.port = "https" if secure else "http", free_port()
        with open(FOLDER + "/nginx.conf", "w") as file:
            file.write(self.configure(f"""
daemon off; worker_processes 2; pid {FOLDER}/nginx.pid; error_log {FOLDER}/nginx.log; worker_rlimit_nofile 8192;
events {{ worker_connections 4096; }}
http {{
  sendfile on; tcp_nopush on; open_file_cache max=10000; keepalive_requests 100000000; access_log off;
  types {{ audio/wav wav; }}
  ssl_certificate {CERTIFICATE}; ssl_certificate_key {FOLDER}/key.pem;
  ssl_protocols TLSv1.2 TLSv1.3; ssl_prefer_server_ciphers on;
  server {{ listen 127.0.0.1:{self.port} {"ssl" if secure else ""} reuseport; root {FOLDER}/static; }}
}}"""))
        super().__init__(["nginx", "-c", FOLDER + "/nginx.conf", "-p", FOLDER], stderr=subprocess.DEVNULL)
        while socket.socket().connect_ex(("127.0.0.1", self.port)):
            time.sleep(0.05)

    def configure(self, text):
        """The configuration, which a subclass may change."""
        return text

    def paths(self, size):
        return [(f"/{size}-{number % FILES}.wav", "-") for number in range(NOTIFICATIONS)]


def key(user):
    return base64.b64encode(f"{user}:{user}".encode()).decode()


def ask(server, method, path, key, body=None):
    """One request: the fields and the body of its answer."""
    if server.how == "https":
        connection = http.client.HTTPSConnection("127.0.0.1", server.port, context=ssl._create_unverified_context())
    else:
        connection = http.client.HTTPConnection("127.0.0.1", server.port)
    fields = {"Authorization": "Basic " + key} if key != "-" else {}
    connection.request(method, path, body, fields | ({"Content-Type": "application/json"} if body else {}))
    answer = connection.getresponse()
    text = answer.read()
    assert answer.status < 300, (path, answer.status, text)
    return answer.headers, text


def requests(server, size, how):
    """The lines that the load generators read: path, credentials, validator."""
    file = f"{FOLDER}/{server.port}-{size}-{how}"
    with open(file, "w") as lines:
        for path, key in server.paths(size):
            tag = ask(server, "GET", path, key)[0]["ETag"] if how == "304" else "-"
            lines.write(f"{path} {key} {tag}\n")
    return file


def cipher(port):
    out = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{port}"], stdin=subprocess.DEVNULL,
                         capture_output=True, text=True).stdout
    return re.search(r"New, (\S+), Cipher is (\S+)", out).groups()


def load(server, file, how, connections):
    """One run: requests per second, processor microseconds per request, what went wrong."""
    before = server.seconds()
    if how == "tls":
        out = subprocess.run(
            ["wrk", "-t2", f"-c{connections}", f"-d{SECONDS}s", "--timeout", "20s", "-s", FOLDER + "/wrk.lua",
             f"https://127.0.0.1:{server.port}"],
            env=dict(os.environ, BENCH_REQUESTS=file), capture_output=True, text=True, check=True).stdout
        count, rate = int(re.search(r"(\d+) requests in", out)[1]), float(re.search(r"Requests/sec: *([\d.]+)", out)[1])
        errors = re.search(r"Socket errors: .*|Non-2xx or 3xx.*", out)
        return rate, (server.seconds() - before) / max(count, 1) * 1e6, errors and errors[0]
    out = json.loads(subprocess.run(
        [FOLDER + "/load", str(server.port), file, str(connections), str(SECONDS), str(LAST),
         "304" if how == "304" else "200", *(["close"] if how == "close" else [])],
        capture_output=True, text=True, check=True).stdout)
    errors = f"{out['other']} other statuses, {out['broken']} broken" if out["other"] or out["broken"] else None
    return out["rate"], (server.seconds() - before) / max(out["answered"], 1) * 1e6, errors


def floor(file, row):
    """The bare loop's processor microseconds per request."""
    size, how, connections, *_ = row
    if how in ("tls", "close"):
        return 0
    server = Floor("304" if how == "304" else "200", 0 if how == "304" else SIZES[size])
    try:
        return statistics.median(load(server, file, how, connections)[1] for _ in range(3))
    finally:
        server.end()


def measure(ours, theirs, row):
    """The two by turns; prints the row and says whether it holds."""
    size, how, connections, target, most = row
    files = [requests(server, size, how) for server in (ours, theirs)]
    for server, file in zip((ours, theirs), files):  # the first fetch of each user is not what is measured
        load(server, file, how, connections)
    runs = [[load(server, file, how, connections) for server, file in zip((ours, theirs), files)]
            for _ in range(ROUNDS)]
    rates, costs = ([statistics.median(run[side][part] for run in runs) for side in (0, 1)] for part in (0, 1))
    rate, cost = rates[0] / rates[1], costs[0] / costs[1]
    errors = {f"{name}: {run[side][2]}" for run in runs for side, name in ((0, "richpush"), (1, "nginx")) if run[side][2]}
    holds = rate >= target and cost <= most and not errors
    print(f"{size:>5} {how:>6} {connections:5} {rates[0]:9.0f} {rates[1]:9.0f} {rate:7.2f} {target:7.2f}"
          f" {costs[0]:9.1f} {costs[1]:9.1f} {cost:7.2f} {most:7.2f} {floor(files[0], row):9.1f}"
          f"  {'pass' if holds else 'FAIL'}", *errors, flush=True)
    return holds


def write_files(name):
    """Writes the files of a size, which nginx serves."""
    os.makedirs(FOLDER + "/static", exist_ok=True)
    for number in range(FILES):
        with open(f"{FOLDER}/static/{name}-{number}.wav", "wb") as file:
            file.write(wave(SIZES[name], number))
        os.utime(file.name, (1e9, 1e9))  # so that nginx gives all of a size one ETag


def certify(*key):
    """Makes a certificate, with a key as `openssl req -newkey` describes it."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", *key, "-nodes", "-subj", "/CN=localhost", "-keyout",
                    FOLDER + "/key.pem", "-out", CERTIFICATE], check=True, capture_output=True)


def main():
    wanted = set(sys.argv[1:])
    rows = [row for row in ROWS if not wanted or f"{row[0]}-{row[1]}" in wanted or wanted & {row[0], row[1]}]
    for name in SIZES:
        write_files(name)
    for name in ("load", "floor"):
        subprocess.run(["cc", "-O2", "-pthread", "-o", f"{FOLDER}/{name}", f"{ROOT}/Tests/Bench/{name}.c"], check=True)
    with open(FOLDER + "/wrk.lua", "w") as file:
        file.write(SCRIPT)
    certify("rsa:2048")
    print(f"{'bytes':>5} {'how':>6} {'conns':>5} {'richpush':>9} {'nginx':>9} {'ratio':>7} {'target':>7}"
          f" {'us/req':>9} {'nginx':>9} {'ratio':>7} {'target':>7} {'floor':>9}")
    holds = True
    for secure in (False, True):
        part = [row for row in rows if (row[1] == "tls") == secure]
        if not part:
            continue
        servers = [Origin("secure" if secure else "plain", secure), Nginx(secure)]
        try:
            if secure:
                ciphers = [cipher(server.port) for server in servers]
                print("richpush and nginx negotiate", *ciphers)
                holds &= ciphers[0] == ciphers[1]
            holds &= all([measure(*servers, row) for row in part])
        finally:
            for server in servers:
                server.end()
    sys.exit(0 if holds else 1)


FOLDER = tempfile.mkdtemp(prefix="richpush-bench-")
os.chmod(FOLDER, 0o755)  # nginx, started by root, works as another user
CERTIFICATE = FOLDER + "/certificate.pem"
if __name__ == "__main__":
    try:
        main()
    finally:
        shutil.rmtree(FOLDER)
