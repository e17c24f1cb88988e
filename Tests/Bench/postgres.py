#!/usr/bin/env python3
"""One and three nodes with their records in PostgreSQL beside a server with SQLite, in one run, by turns.

    Tests/Bench/postgres.py [SECONDS] [ROUNDS]

Users fetch media (load.c): the same again and again, and each once, so that a receipt is written for each. Publishers
(wrk) create notifications with one push each, to one user with one device; the pushes go to nghttpd as Apple's service,
and are settled. Connections are spread over the nodes, without a balancer; three nodes have their content in an object
store. Each row has the latency (median and 99th percentile; of three nodes, the means of theirs), the requests per
second, the processor time of the server's processes for each, its ratio to that with SQLite, which is the target, and
the processor time of PostgreSQL's processes. Last it counts the statements and transactions that PostgreSQL ran for
each. PostgreSQL has its default settings (fsync on), and is on the same machine, by a socket. VERBOSE=1 shows the
statements.
"""
import atexit, base64, contextlib, glob, json, os, re, shutil, statistics, subprocess, sys, tempfile, time

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
        with open(folder + "/data/postmaster.pid") as file:
            self.pid = int(file.readline())
        self.query("CREATE DATABASE three")
        for database in "postgres", "three":
            self.query("CREATE EXTENSION pg_stat_statements", database)
        self.track("none")

    def url(self, database="postgres"):
        return f"postgres://bench@/{database}?host={self.folder}" + os.environ.get("BENCH_URL", "")

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

    def query(self, sql, database="postgres"):
        return self.run("psql", "-XAtqd", self.url(database), "-c", sql).strip()

    def transactions(self, database):
        """How many were committed; a server process that is idle tells after ten seconds."""
        time.sleep(11)
        return int(self.query(f"SELECT xact_commit FROM pg_stat_database WHERE datname = '{database}'"))

    def seconds(self):
        return processor_seconds([self.pid, *children(self.pid)])


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(child) for child in file.read().split()]


class Origin(push.Server):
    """richpush with a user and a device for each of USERS, and requests for wrk."""

    def prepare(self):
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

    def prepare_first(self, parts):
        """Notifications to everybody, which nobody has fetched; returns files with as many parts of the requests."""
        lines = []
        for _ in range(FETCHES // USERS):
            id = self.create(to="all", form="alert")
            lines += [f"/api/notifications/{id}?profile=thumb {key(f'u{number}')} -\n" for number in range(USERS)]
        self.settle()
        files = [f"{self.folder}/first{part}" for part in range(parts)]
        for part, name in enumerate(files):
            with open(name, "w") as gets:
                gets.writelines(lines[part::parts])
        return files

    def settle(self):
        """Waits until all pushes are settled."""
        while True:
            page = self.ask("GET", "/metrics").decode()
            waiting = re.search(r'richpush_push_waiting{lane="apns"} (\d+)', page)
            if not waiting or waiting[1] == "0":
                return
            time.sleep(0.1)


class ObjectStore:
    """OpenStack Swift with its S3 interface, in a process of the tests'."""

    def __init__(self, folder):
        os.mkdir(folder)
        self.process = subprocess.Popen(
            ["/usr/bin/python3", ROOT + "/Tests/StandIns/Services/object_store.py", folder], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        port = json.loads(self.process.stdout.readline())["port"]
        self.url = f"s3://content/richpush?endpoint=http://127.0.0.1:{port}"
        self.environment = {
            "RICHPUSH_OBJECTS_ACCESS_KEY": "richpush:media", "RICHPUSH_OBJECTS_SECRET_KEY": "s3secret"}

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.stdin.close()
        self.process.wait()


class Side:
    """Nodes that are one service; PostgreSQL has the records in a database, or SQLite has."""

    def __init__(self, name, origins, database=None):
        self.name, self.origins, self.database = name, origins, database

    def prepare(self):
        first, *others = self.origins
        first.prepare()
        # Each node checks all passwords once.
        visits = [start_load(origin.port, first.folder + "/again", "first", 2, 0, 0) for origin in others]
        for visit in visits:
            load_result(visit, "first")

    def seconds(self):
        return sum(push.cpu_of(origin.process.pid) for origin in self.origins)


def start_load(port, file, requests, connections, seconds, processor):
    if requests == "posts":
        return subprocess.Popen(
            ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "20s", "-s", FOLDER + "/wrk.lua",
             f"http://127.0.0.1:{port}"], stdout=subprocess.PIPE, text=True,
            env={**os.environ, "BENCH_REQUESTS": file})
    period = "once" if requests == "first" else str(seconds)
    return subprocess.Popen(
        [FOLDER + "/load", str(port), file, str(connections), period, str(processor), "200"],
        stdout=subprocess.PIPE, text=True)


def load_result(run, requests):
    """What a load generator has printed: how many, in which time, the median and the 99th percentile in ms."""
    out = run.communicate()[0]
    assert run.returncode == 0, out
    result = json.loads(out.splitlines()[-1])
    if requests == "posts":
        assert not result["errors"], out
        return result
    assert not result["other"] and not result["broken"], out
    return {"count": result["answered"], "seconds": result["answered"] / result["rate"],
            "median": result["p50"] / 1000, "slow": result["p99"] / 1000}


def load(side, files, requests, connections, seconds):
    """Runs a load generator for each node at once, with its part of the connections; adds their results."""
    nodes = len(side.origins)
    parts = [connections // nodes + (number < connections % nodes) for number in range(nodes)]
    runs = [start_load(origin.port, file, requests, part, seconds, os.cpu_count() - 1 - number % os.cpu_count())
            for number, (origin, file, part) in enumerate(zip(side.origins, files, parts)) if part]
    results = [load_result(run, requests) for run in runs]
    return {"count": sum(one["count"] for one in results), "seconds": max(one["seconds"] for one in results),
            "median": statistics.mean(one["median"] for one in results),
            "slow": statistics.mean(one["slow"] for one in results)}


def measure(side, postgres, requests, connections, seconds):
    first, nodes = side.origins[0], len(side.origins)
    files = first.prepare_first(nodes) if requests == "first" else [f"{first.folder}/{requests}"] * nodes
    before = side.seconds(), postgres.seconds()
    result = load(side, files, requests, connections, seconds)
    if requests == "posts":
        first.settle()
    elif requests == "first":
        time.sleep(0.5)  # the last receipts
    after = side.seconds(), postgres.seconds()
    own, others = [(b - a) / result["count"] * 1e6 for a, b in zip(before, after)]
    return {**result, "rate": result["count"] / result["seconds"], "own": own, "others": others}


def row(what, requests, connections, target, sides, postgres):
    for side in sides:
        measure(side, postgres, requests, connections, 1)  # statements are prepared, caches filled
    runs = {side.name: [] for side in sides}
    for _ in range(ROUNDS):
        for side in sides:
            runs[side.name].append(measure(side, postgres, requests, connections, SECONDS))
    base = runs[sides[0].name]
    holds = True
    for name, side in runs.items():
        result = {member: statistics.median(run[member] for run in side) for member in side[0]}
        ratio = statistics.median(theirs["own"] / ours["own"] for ours, theirs in zip(base, side))
        missed = side is not base and target and ratio > target
        holds = holds and not missed
        print(f"{what:16} {connections:3} {name:12} {result['median']:7.2f} {result['slow']:7.1f} {result['rate']:8.0f} "
              f"{result['own']:8.0f} {ratio:6.2f} {target or '-':>6} {result['others'] if side is not base else 0:10.0f}  "
              f"{'FAIL' if missed else 'pass'}", flush=True)
    return holds


def count(what, requests, connections, side, postgres, before):
    """Prints statements and transactions for each notification or media request; returns all transactions so far."""
    postgres.track("all")
    run = measure(side, postgres, requests, connections, 2)
    lines = postgres.query(
        "SELECT calls, round(total_exec_time::numeric, 1), regexp_replace(left(query, 120), '\\s+', ' ', 'g') "
        "FROM pg_stat_statements JOIN pg_database ON pg_database.oid = dbid "
        f"WHERE datname = '{side.database}' AND query NOT LIKE '%pg_stat%' ORDER BY 1 DESC").splitlines()
    postgres.track("none")
    after = postgres.transactions(side.database)
    if os.environ.get("VERBOSE"):
        print(run["count"], *lines[:40], sep="\n")
    calls = sum(int(line.split("|")[0]) for line in lines)
    print(f"{what}, {connections} at once, {side.name}: {calls / run['count']:.2f} statements for each, in "
          f"{(after - before) / run['count']:.2f} transactions", flush=True)
    return after


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
    with PostgreSQL(FOLDER + "/pg") as postgres, ObjectStore(FOLDER + "/objects") as objects, \
            contextlib.ExitStack() as stack:
        def origin(name, *flags):
            return stack.enter_context(
                Origin(f"{FOLDER}/{name}", {**environment, **objects.environment}, "--push", "apns", *flags))

        lite = Side("SQLite", [origin("lite")])
        one = Side("one node", [origin("one", "--database", postgres.url())], "postgres")
        shared = ["--database", postgres.url("three"), "--objects", objects.url]
        three = Side("three nodes", [origin(f"three{number}", *shared) for number in range(3)], "three")
        sides = [lite, one, three]
        for side in sides:
            side.prepare()
        print(f"{'':33} {'median':>7} {'99%':>7} {'per':>8} {'processor':>8} {'':>5} {'':>6} {'PostgreSQL':>10}")
        print(f"{'':33} {'ms':>7} {'ms':>7} {'second':>8} {'us each':>8} {'ratio':>6} {'target':>6} {'us each':>10}")
        holds = all([row(*entry, sides, postgres) for entry in ROWS])
        for side in sides[1:]:
            before = postgres.transactions(side.database)
            side.origins[0].connection.close()  # it was not used for too long; it opens again
            for what, requests, connections, _ in ROWS[1:]:
                before = count(what, requests, connections, side, postgres, before)
    sys.exit(0 if holds else 1)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="rpb-") as FOLDER:
        os.chmod(FOLDER, 0o755)
        main()
