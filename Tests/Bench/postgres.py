#!/usr/bin/env python3
"""A server with its records in PostgreSQL beside one with SQLite, in one run, by turns.

    Tests/Bench/postgres.py [SECONDS] [ROUNDS]

Users fetch media (load.c): the same again and again, and each once, so that a receipt is written for each. Publishers
(wrk) create notifications with one push each, to one user with one device; the pushes go to nghttpd as Apple's service,
and are settled. Each row has the latency (median and 99th percentile), the requests per second, the processor time of
the server's process for each, and that of PostgreSQL's processes. The target is the ratio of the server's processor time
to that with SQLite. Last it counts the statements and commits that PostgreSQL ran for each. PostgreSQL has its default
settings (fsync on), and is on the same machine, by a socket. VERBOSE=1 shows the statements.
"""
import atexit, base64, glob, http.client, json, os, re, shutil, signal, statistics, subprocess, sys, tempfile, time

import push
from processes import processor_seconds
from push import ROOT, free_port

SECONDS = int(sys.argv[1]) if len(sys.argv) > 1 else 4
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 5
USERS, FETCHES = 200, 4000

# Row: what is measured, the requests, at how many connections, the greatest ratio of processor time (None: not a target).
ROWS = [("media again", "again", 64, 1.15), ("media first time", "first", 64, None),
        ("pushes", "posts", 1, 1.5), ("pushes", "posts", 64, 1.5)]

SCRIPT = """
local lines, turn = {}, 0
function init()
  for line in io.lines(os.getenv("BENCH_REQUESTS")) do
    local path, key, body = line:match("(%S+) (%S+) (.*)")
    lines[#lines + 1] = wrk.format("POST", path, {["Authorization"] = "Basic " .. key}, body)
  end
end
function request()
  turn = turn % #lines + 1
  return lines[turn]
end
function done(summary, latency, requests)
  io.write(string.format('{"count": %d, "seconds": %f, "median": %f, "slow": %f, "errors": %d}\\n', summary.requests,
    summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, summary.errors.status
    + summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout))
end
"""


def key(user):
    return base64.b64encode(f"{user}:{user}".encode()).decode()


class PostgreSQL:
    """A server of its own, on a socket in a folder."""

    def __init__(self, folder):
        self.programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]
        self.folder = folder
        os.mkdir(folder)
        if os.getuid() == 0:  # it refuses to run as root
            shutil.chown(folder, "postgres")
        self.run("initdb", "-D", folder + "/data", "-A", "trust", "-U", "bench", "-E", "UTF8", "--locale=C")
        self.run("pg_ctl", "-D", folder + "/data", "-l", folder + "/log", "-w", "-o",
                 f"-k {folder} -c listen_addresses='' -c shared_preload_libraries=pg_stat_statements", "start")
        self.url = f"postgres://bench@/postgres?host={folder}" + os.environ.get("BENCH_URL", "")
        with open(folder + "/data/postmaster.pid") as file:
            self.pid = int(file.readline())
        self.query("CREATE EXTENSION pg_stat_statements")
        self.track("none")

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.run("pg_ctl", "-D", self.folder + "/data", "-m", "immediate", "stop")

    def track(self, what):
        self.query(f"ALTER SYSTEM SET pg_stat_statements.track = '{what}'")
        self.query("SELECT pg_reload_conf()")
        while self.query("SHOW pg_stat_statements.track") != what:
            time.sleep(0.05)
        self.query("SELECT pg_stat_statements_reset()")

    def run(self, program, *arguments):
        user = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
        return subprocess.run([*user, f"{self.programs}/{program}", *arguments], check=True, cwd="/",
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout

    def query(self, sql):
        return self.run("psql", "-XAtqd", self.url, "-c", sql).strip()

    def seconds(self):
        return processor_seconds([self.pid, *children(self.pid)])


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(child) for child in file.read().split()]


class Origin(push.Server):
    """richpush with a user and a device for each of USERS, and requests for wrk."""

    def prepare(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        for number in range(USERS):
            body = json.dumps({"platform": "apns", "handle": f"{number:08X}", "tags": ["all"]})
            self.ask("PUT", f"/api/register/d{number}", body, user=f"u{number}")
        with open(self.folder + "/posts", "w") as posts, open(self.folder + "/again", "w") as gets:
            for number in range(USERS):
                new = {"message": "Look", "richType": "img", "payload": "logo.png", "form": "alert",
                       "to": [f"username:u{number}"]}
                posts.write(f"/api/notifications {key('shop')} {json.dumps(new)}\n")
                id = self.create(to=[f"username:u{number}"], form="alert")
                gets.write(f"/api/notifications/{id}?profile=thumb {key(f'u{number}')} -\n")
        self.settle()

    def prepare_first(self):
        """Notifications to everybody, which nobody has fetched."""
        with open(self.folder + "/first", "w") as gets:
            for _ in range(FETCHES // USERS):
                id = self.create(to="all", form="alert")
                gets.writelines(
                    f"/api/notifications/{id}?profile=thumb {key(f'u{number}')} -\n" for number in range(USERS))
        self.settle()

    def settle(self):
        """Waits until all pushes are settled."""
        while True:
            page = self.ask("GET", "/metrics").decode()
            waiting = re.search(r'richpush_push_waiting{lane="apns"} (\d+)', page)
            if not waiting or waiting[1] == "0":
                return
            time.sleep(0.1)


def load(origin, requests, connections, seconds):
    """One run of the load generator: how many, in which time, the median and the 99th percentile in ms."""
    file, port = f"{origin.folder}/{requests}", origin.port
    if requests == "posts":
        out = subprocess.run(
            ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "20s", "-s", FOLDER + "/wrk.lua",
             f"http://127.0.0.1:{port}"], check=True, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "BENCH_REQUESTS": file}).stdout
        result = json.loads(out.splitlines()[-1])
        assert not result["errors"], out
        return result
    time = "once" if requests == "first" else str(seconds)
    out = json.loads(subprocess.run(
        [FOLDER + "/load", str(port), file, str(connections), time, str(os.cpu_count() - 1), "200"], check=True,
        stdout=subprocess.PIPE, text=True).stdout)
    assert not out["other"] and not out["broken"], out
    return {"count": out["answered"], "seconds": out["answered"] / out["rate"], "median": out["p50"] / 1000,
            "slow": out["p99"] / 1000}


def measure(origin, database, requests, connections, seconds):
    if requests == "first":
        origin.prepare_first()
    before = push.cpu_of(origin.process.pid), database.seconds()
    result = load(origin, requests, connections, seconds)
    if requests == "posts":
        origin.settle()
    elif requests == "first":
        time.sleep(0.5)  # the last receipts
    after = push.cpu_of(origin.process.pid), database.seconds()
    own, others = [(b - a) / result["count"] * 1e6 for a, b in zip(before, after)]
    return {**result, "rate": result["count"] / result["seconds"], "own": own, "others": others}


def row(what, requests, connections, target, origins, database):
    for origin in origins:
        measure(origin, database, requests, connections, 1)  # statements are prepared, caches filled
    runs = [[], []]
    for _ in range(ROUNDS):
        for index, origin in enumerate(origins):
            runs[index].append(measure(origin, database, requests, connections, SECONDS))
    lite, pg = [{name: statistics.median(run[name] for run in side) for name in side[0]} for side in runs]
    ratio = statistics.median(theirs["own"] / ours["own"] for ours, theirs in zip(*runs))
    holds = not target or ratio <= target
    print(f"{what:17} {connections:3} {lite['median']:7.2f} {pg['median']:7.2f} {lite['slow']:7.1f} {pg['slow']:7.1f} "
          f"{lite['rate']:8.0f} {pg['rate']:8.0f} {lite['own']:8.0f} {pg['own']:8.0f} {ratio:6.2f} {target or '-':>6} "
          f"{pg['others']:10.0f}  {'pass' if holds else 'FAIL'}", flush=True)
    return holds


def count(what, requests, connections, origin, database):
    """Statements and commits for each notification or media request."""
    database.track("all")
    run = measure(origin, database, requests, connections, 2)
    lines = database.query(
        "SELECT calls, round(total_exec_time::numeric, 1), regexp_replace(left(query, 120), '\\s+', ' ', 'g') "
        "FROM pg_stat_statements WHERE query NOT LIKE '%pg_stat%' ORDER BY 1 DESC").splitlines()
    database.track("none")
    if os.environ.get("VERBOSE"):
        print(run["count"], *lines[:40], sep="\n")
    calls = [int(line.split("|")[0]) for line in lines]
    commits = sum(int(line.split("|")[0]) for line in lines if line.endswith("|COMMIT"))
    print(f"{what}, {connections} at once: {sum(calls) / run['count']:.2f} statements for each, in "
          f"{commits / run['count']:.3f} transactions that write", flush=True)


def main():
    push.certificates.server_context(FOLDER, ["h2"])
    site = FOLDER + "/site/3/device"
    os.makedirs(site)
    for number in range(USERS):
        for name in {f"{number:08x}", f"{number:08X}"}:
            with open(f"{site}/{name}", "w") as file:
                file.write("x")
    port = free_port()
    service = subprocess.Popen(
        ["nghttpd", "-a", "127.0.0.1", "-d", FOLDER + "/site", "-m", "1000", str(port), FOLDER + "/leaf.key",
         FOLDER + "/leaf.pem"], stdout=subprocess.DEVNULL)
    atexit.register(service.kill)
    subprocess.run(f"openssl ecparam -name prime256v1 -genkey -noout -out {FOLDER}/ec && "
                   f"openssl pkcs8 -topk8 -nocrypt -in {FOLDER}/ec -out {FOLDER}/key.p8", shell=True, check=True)
    with open(FOLDER + "/wrk.lua", "w") as file:
        file.write(SCRIPT)
    subprocess.run(["cc", "-O2", "-pthread", "-o", FOLDER + "/load", ROOT + "/Tests/Bench/load.c"], check=True)
    environment = {
        "RICHPUSH_APNS_KEY_FILE": FOLDER + "/key.p8", "RICHPUSH_APNS_KEY_ID": "ABC123DEFG",
        "RICHPUSH_APNS_TEAM_ID": "DEF123GHIJ", "RICHPUSH_APNS_TOPIC": "com.example.richpush",
        "RICHPUSH_APNS_ENDPOINT": f"https://localhost:{port}", "RICHPUSH_PUSH_CA": FOLDER + "/ca.pem"}
    with PostgreSQL(FOLDER + "/pg") as database, \
            Origin(FOLDER + "/lite", environment, "--push", "apns") as lite, \
            Origin(FOLDER + "/nodes", environment, "--push", "apns", "--database", database.url) as nodes:
        for origin in (lite, nodes):
            origin.prepare()
        print(f"{'':21} {'median, ms':>15} {'99%, ms':>15} {'per second':>17} {'processor us for each':>24} {'':>6} {'PostgreSQL':>10}")
        print(f"{'':21} {'SQLite':>7} {'PG':>7} {'SQLite':>7} {'PG':>7} {'SQLite':>8} {'PG':>8} {'SQLite':>8} {'PG':>8} "
              f"{'ratio':>6} {'target':>6} {'us':>10}")
        holds = all([row(*one, (lite, nodes), database) for one in ROWS])
        for what, requests, connections, _ in ROWS[1:]:
            count(what, requests, connections, nodes, database)
    sys.exit(0 if holds else 1)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="rpb-") as FOLDER:
        os.chmod(FOLDER, 0o755)
        main()
