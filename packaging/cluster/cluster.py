"""`richpush-cluster`: runs a richpush service of several nodes on one machine. HELP says how."""

import argparse
import contextlib
import errno
import fcntl
import glob
import http.client
import json
import os
import pwd
import random
import re
import secrets
import select
import shutil
import signal
import socket
import ssl
import stat
import subprocess
import sys
import time
import urllib.parse

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.append(HERE)
import swift_store  # noqa: E402

SUMMARY = "runs a richpush service of several nodes on one machine"
HELP = """\
It starts PostgreSQL, an S3-compatible object store (OpenStack Swift), the nodes and HAProxy, from Debian's
packages, as plain processes with all their data in one folder. It is for trials: how several nodes behave,
an upgrade, the loss of a part. The machine itself is no spare: what is lost with it is lost.

  richpush-cluster up            starts what does not run, and prints the address
  richpush-cluster status        what runs, where, and whether it is ready; exit code 1 if anything is not
  richpush-cluster upgrade       one node after another: HAProxy sends it nothing more, it ends, starts
                                 again, and gets requests when it is ready
  richpush-cluster run WORDS...  a command of richpush with the cluster's store, such as
                                 run user add alice --role publisher
  richpush-cluster down          ends all of it; the data stays. With --purge it is removed

PART is 1, 2, ... for a node, or database, store or balancer:

  richpush-cluster kill PART     ends it at once, as a crash does
  richpush-cluster stop PART     ends it in order
  richpush-cluster start PART    starts it again
  richpush-cluster pause PART    it does not respond any more, until:
  richpush-cluster resume PART

Each command takes:

  --folder FOLDER     where the cluster is, a folder of its own: /var/lib/richpush-cluster for root,
                      ~/.local/share/richpush-cluster for others

These flags of up are remembered in the folder:

  --nodes NUMBER      how many nodes, 3 by default; more can be added while it runs
  --listen HOST:PORT  the address of HAProxy, 127.0.0.1:8080 by default
  --certificate FILE  PEM with a certificate, its chain and the key: HTTPS and HTTP/2
  --public-url URL    the address for phones, by default that of HAProxy
  --demo              any user name works, with the same word as password
  --program FILE      richpush, by default the one in PATH; upgrade takes it as well
  --from FOLDER       begin with a copy of this data folder, whose server may be running
  --database URL      a PostgreSQL database of yours; none is started then
  --bucket URL        a bucket of yours, as for richpush serve --objects, whose keys the variables
                      RICHPUSH_OBJECTS_... have; no object store is started then
  --user NAME         started by root: the user that everything runs as, richpush or else postgres

The file richpush.env in the folder has what all nodes share. Add any other setting of richpush, such as
push services, check it with richpush config check, and take it to the nodes with upgrade.
"""

OK, FAILED, USAGE = 0, 1, 64
PACKAGES = {"haproxy": "haproxy", "postgres": "postgresql", "swift": "python3-swift", "libpq": "libpq5"}
# What is in the folder; nothing else is removed from it.
ENTRIES = ["assets", "cluster.json", "copy", "haproxy.cfg", "lock", "logs", "nodes", "postgresql", "richpush.env", "run",
           "store"]
# Outside the kernel's range for connections, so that no connection takes a port while its process is away.
PORTS = range(20_000, 32_000)
LARGEST_LOG = 20_000_000
START_SECONDS = 120
# Of a socket's path (unix(7)).
LONGEST_SOCKET_PATH = 107


class Failure(Exception):
    """A sentence for people, and the exit code."""

    def __init__(self, sentence, code=FAILED):
        super().__init__(sentence)
        self.code = code


def say(text):
    print(text, flush=True)


def until(condition, seconds):
    """Waits for a condition; whether it holds."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


def write(path, text):
    """Replaces a file at once, for its owner only."""
    with open(path + ".new", "w", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(path + ".new", path)


def is_free(port, host="127.0.0.1"):
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
            probe.listen()
            return True
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return False
            raise Failure(f"--listen {host}:{port}: {error.strerror}")


def boot():
    with open("/proc/sys/kernel/random/boot_id") as file:
        return file.read().strip()


def started(pid):
    """When a process was started, in ticks since the boot; None if it has ended."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else fields[19]


# --- Processes


class Process:
    """A process of this cluster, and the file that says which one it is: its ID alone may be another's later."""

    def __init__(self, folder, name):
        self.name = name
        self.file = f"{folder}/run/{name}.pid"
        self.log = f"{folder}/logs/{name}.log"

    @contextlib.contextmanager
    def held(self):
        """Its ID and a descriptor of it, which is never another process; None if it does not run."""
        pid = descriptor = None
        try:
            with open(self.file) as file:
                text, start, at_boot = file.read().split()
            if at_boot == boot():
                pid = int(text)
                descriptor = os.pidfd_open(pid)
                if started(pid) != start:
                    os.close(descriptor)
                    descriptor = None
        except (OSError, ValueError):
            pass
        try:
            yield (pid, descriptor) if descriptor is not None else None
        finally:
            if descriptor is not None:
                os.close(descriptor)

    @property
    def pid(self):
        with self.held() as process:
            return process and process[0]

    def start(self, words, environment=None, folder="/"):
        with contextlib.suppress(OSError):
            if os.path.getsize(self.log) > LARGEST_LOG:
                os.replace(self.log, self.log + ".1")

        def before():
            # Known before it is the program: also if we are killed now.
            os.setsid()
            text = f"{os.getpid()} {started(os.getpid())} {boot()}\n"
            file = os.open(self.file + ".new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            os.write(file, text.encode())
            os.close(file)
            os.replace(self.file + ".new", self.file)

        try:
            with open(self.log, "ab") as log:
                self.child = subprocess.Popen(
                    words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment, cwd=folder, preexec_fn=before)
        except OSError as error:
            raise Failure(f"{words[0]} cannot be started: {error.strerror}")

    def send(self, number, family=False):
        """Sends a signal, perhaps to its descendants as well."""
        with self.held() as process:
            if not process:
                return
            for pid in descendants(process[0]) if family else []:
                with contextlib.suppress(OSError):
                    os.kill(pid, number)
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(process[1], number)

    def end(self, number=signal.SIGTERM, seconds=20):
        """Ends it by a signal, or by SIGKILL if that takes too long, and waits for its end."""
        with self.held() as process:
            if process:
                # A paused one hears nothing else.
                self.send(signal.SIGCONT, family=True)
                for last, patience in (number, seconds), (signal.SIGKILL, 30):
                    with contextlib.suppress(ProcessLookupError):
                        signal.pidfd_send_signal(process[1], last)
                    if wait(process[1], patience):
                        break
                else:
                    raise Failure(f"{self.name} (process {process[0]}) does not end")
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.file)

    @property
    def last_words(self):
        try:
            with open(self.log, errors="replace") as file:
                lines = file.read()[-4000:].strip().splitlines()[-8:]
        except OSError:
            lines = []
        return "".join(f"\n    {line}" for line in lines) + f"\n  Its log is {self.log}"


def wait(descriptor, seconds):
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


def descendants(pid):
    found = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as file:
                for child in map(int, file.read().split()):
                    found += [child] + descendants(child)
    except OSError:
        pass
    return found


# --- The parts of a cluster


class Cluster:
    def __init__(self, folder, is_default):
        self.folder = folder
        # How a user types a command for it.
        self.typed = "richpush-cluster" + ("" if is_default else f" --folder {folder}")
        self.settings = {}
        path = f"{folder}/cluster.json"
        if os.path.exists(path):
            try:
                with open(path) as file:
                    self.settings = json.load(file)
            except ValueError:
                raise Failure(f"{path} is damaged")

    @property
    def exists(self):
        return bool(self.settings)

    def save(self):
        write(f"{self.folder}/cluster.json", json.dumps(self.settings, indent=2) + "\n")

    def process(self, name):
        return Process(self.folder, name)

    @property
    def nodes(self):
        return list(range(1, self.settings["nodes"] + 1))

    @property
    def names(self):
        """All processes, in the order of their start."""
        database = [] if self.settings["database"] else ["postgresql"]
        store = [] if self.settings["bucket"] else [f"swift-{name}" for name in swift_store.SERVERS]
        return database + store + [f"node{number}" for number in self.nodes] + ["haproxy"]

    @property
    def is_running(self):
        return any(self.process(name).pid for name in self.names)

    def part(self, word):
        """The processes of a part."""
        found = {"database": ["postgresql"], "store": [f"swift-{name}" for name in swift_store.SERVERS],
                 "balancer": ["haproxy"]}.get(word, [f"node{word}"])
        if not set(found) <= set(self.names):
            raise Failure(f"this cluster has no part {word!r}: it has {', '.join(self.parts)}", USAGE)
        return [self.process(name) for name in found]

    @property
    def parts(self):
        own = [word for word, setting in (("database", "database"), ("store", "bucket")) if not self.settings[setting]]
        return [str(number) for number in self.nodes] + own + ["balancer"]

    @property
    def host(self):
        return self.settings["listen"].rpartition(":")[0].strip("[]")

    @property
    def port(self):
        return int(self.settings["listen"].rpartition(":")[2])

    @property
    def address(self):
        host = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)
        host = f"[{host}]" if ":" in host else host
        return f"{'https' if self.settings['certificate'] else 'http'}://{host}:{self.port}"

    def node_address(self, number):
        return f"http://127.0.0.1:{self.settings['ports'][f'node{number}']}"

    def is_ready(self, number):
        return answer(self.node_address(number) + "/readyz")[0] == 200

    def require_address(self):
        if not is_free(self.port, self.host or "0.0.0.0"):
            raise Failure(f"another program listens on {self.settings['listen']}: choose another address, "
                          f"`{self.typed} up --listen HOST:PORT`")

    # --- Its files

    def choose_ports(self):
        wanted = [f"node{number}" for number in self.nodes]
        if not self.settings["bucket"]:
            wanted += [f"swift-{name}" for name in swift_store.SERVERS]
        ports, runs = self.settings["ports"], self.is_running
        for name in wanted:
            port = ports.get(name)
            if port and (self.process(name).pid or is_free(port)):
                continue
            if port and runs:
                raise Failure(f"another program listens on port {port} of {name}: `{self.typed} down`, then `up`, "
                              "chooses another one")
            ports[name] = next(
                port for port in random.sample(PORTS, len(PORTS)) if port not in ports.values() and is_free(port))
        self.save()

    def write_environment(self):
        """What the cluster decides; other lines are the user's."""
        values = {"RICHPUSH_DATABASE": self.database_url, "RICHPUSH_ASSETS": f"{self.folder}/assets",
                  "RICHPUSH_TRUSTED_PROXY": "127.0.0.1",
                  "RICHPUSH_PUBLIC_URL": self.settings["public_url"] or self.address,
                  "RICHPUSH_DEMO": "yes" if self.settings["demo"] else "no"}
        if self.settings["bucket"]:
            values |= {"RICHPUSH_OBJECTS": self.settings["bucket"], **self.settings["keys"]}
        else:
            values |= {"RICHPUSH_OBJECTS": swift_store.url(self.settings["ports"]["swift-proxy"]),
                       "RICHPUSH_OBJECTS_ACCESS_KEY": swift_store.ACCESS_KEY,
                       "RICHPUSH_OBJECTS_SECRET_KEY": self.settings["secret"]}
        path = f"{self.folder}/richpush.env"
        lines = ["# What all nodes of the cluster share. Add other settings of richpush, then `richpush-cluster upgrade`."]
        if os.path.exists(path):
            with open(path) as file:
                lines = file.read().splitlines()
        kept = [line for line in lines if line.partition("=")[0].strip() not in values]
        text = "\n".join(kept + [f"{name}={value}" for name, value in values.items()]) + "\n"
        write(path, text)

    @property
    def environment(self):
        found = {name: value for name, value in os.environ.items() if not name.startswith("RICHPUSH_")}
        with open(f"{self.folder}/richpush.env") as file:
            for line in file:
                name, sign, value = line.strip().partition("=")
                if sign and not name.startswith("#"):
                    value = value.strip()
                    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
                    found[name.strip()] = value[1:-1] if quoted else value
        return found

    def write_balancer(self):
        """HAProxy's configuration of docs/SCALING.md, for these nodes; whether it is another one now."""
        with open(f"{HERE}/haproxy.cfg") as file:
            text = file.read()
        bind = f"bind {self.settings['listen']}"
        if self.settings["certificate"]:
            bind += f" ssl crt {self.settings['certificate']} alpn h2,http/1.1"
        servers = "".join(
            f"  server node{number} 127.0.0.1:{self.settings['ports'][f'node{number}']}\n" for number in self.nodes)
        text = re.sub(r"(?m)^  bind .*$", lambda _: "  " + bind, text)
        text = re.sub(r"(?m)(^  server .*\n)+", lambda _: servers, text)
        text = (f"global\n  stats socket {self.balancer_socket} mode 600 level admin expose-fd listeners\n"
                f"  hard-stop-after 60s\n\n{text}")
        path = f"{self.folder}/haproxy.cfg"
        if os.path.exists(path) and open(path).read() == text:
            return False
        write(path, text)
        return True

    @property
    def balancer_socket(self):
        return f"{self.folder}/run/haproxy.sock"

    @property
    def database_url(self):
        if self.settings["database"]:
            return self.settings["database"]
        return f"postgres://richpush@/richpush?host={urllib.parse.quote(self.database_folder, safe='/')}"

    @property
    def database_folder(self):
        return f"{self.folder}/postgresql"

    # --- Starting

    def start_database(self):
        """PostgreSQL on a socket in the folder, which only its owner reaches."""
        if self.settings["database"]:
            return
        data = f"{self.database_folder}/data"
        programs = postgres_programs(data)
        if not os.path.exists(data):
            say("making a PostgreSQL database")
            os.makedirs(self.database_folder, mode=0o700, exist_ok=True)
            shutil.rmtree(data + ".new", ignore_errors=True)
            output([f"{programs}/initdb", "-D", data + ".new", "-A", "trust", "-U", "richpush", "-E", "UTF8", "--locale=C"])
            os.rename(data + ".new", data)
        process = self.process("postgresql")
        if not process.pid:
            self.clear_lock(data)
            most = max(100, 11 * self.settings["nodes"] + 20)
            process.start([f"{programs}/postgres", "-D", data, "-k", self.database_folder, "-c", "listen_addresses=",
                           "-c", f"max_connections={most}"])
        ready = [f"{programs}/pg_isready", "-q", "-h", self.database_folder]
        self.await_start(process, lambda: subprocess.run(ready).returncode == 0)

        def sql(text):
            return output([f"{programs}/psql", "-XAtq", "-h", self.database_folder, "-U", "richpush", "-d", "postgres",
                           "-c", text])

        if not sql("SELECT 1 FROM pg_database WHERE datname = 'richpush'"):
            sql("CREATE DATABASE richpush OWNER richpush ENCODING 'UTF8' TEMPLATE template0")
            sql("REVOKE CONNECT ON DATABASE richpush FROM PUBLIC")

    def clear_lock(self, data):
        """PostgreSQL refuses to start while a process has the ID in its lock files, be it one that nobody has waited for.
        Its own processes have the data as current folder, and end soon after the first one."""
        def is_used():
            for folder in glob.glob("/proc/[0-9]*/cwd"):
                with contextlib.suppress(OSError):
                    if os.readlink(folder) == data:
                        return True
            return False

        locks = [f"{data}/postmaster.pid", f"{self.database_folder}/.s.PGSQL.5432.lock"]
        if any(map(os.path.exists, locks)) and until(lambda: not is_used(), 20):
            for path in filter(os.path.exists, locks):
                os.unlink(path)

    def start_store(self):
        if self.settings["bucket"]:
            return
        folder, ports = f"{self.folder}/store", self.settings["ports"]
        processes = {name: self.process(f"swift-{name}") for name in swift_store.SERVERS}
        if not all(process.pid for process in processes.values()):
            os.makedirs(folder, mode=0o700, exist_ok=True)
            if not any(process.pid for process in processes.values()):
                swift_store.configure(
                    folder, {name: ports[f"swift-{name}"] for name in swift_store.SERVERS}, self.settings["secret"])
            for name, process in processes.items():
                if not process.pid:
                    process.start(*swift_store.command(folder, name))

        def has_bucket():
            try:
                swift_store.make_bucket(ports["swift-proxy"], self.settings["secret"])
                return True
            except (OSError, http.client.HTTPException):
                return False

        self.await_start(list(processes.values()), has_bucket)

    def data(self, number):
        return f"{self.folder}/nodes/{number}/data"

    def start_node(self, number, program=None):
        os.makedirs(f"{self.folder}/nodes/{number}", mode=0o700, exist_ok=True)
        process = self.process(f"node{number}")
        if not process.pid:
            words = [program or self.settings["program"], "serve", "--data", self.data(number), "--listen",
                     f"127.0.0.1:{self.settings['ports'][f'node{number}']}"]
            process.start(words, self.environment, f"{self.folder}/nodes/{number}")
        return process

    def await_node(self, number):
        self.await_start(self.process(f"node{number}"), lambda: self.is_ready(number))

    def start_balancer(self):
        process = self.process("haproxy")
        if process.pid:
            if self.write_balancer():
                self.reload_balancer(process)
        else:
            self.write_balancer()
            self.require_address()
            process.start(["/usr/sbin/haproxy", "-W", "-f", f"{self.folder}/haproxy.cfg"])
        self.await_start(process, lambda: answer(self.address + "/readyz")[0] == 200)

    def reload_balancer(self, process):
        """Connections that are open stay at the worker that they are at."""
        before = set(descendants(process.pid))
        process.send(signal.SIGUSR2)
        if not until(lambda: set(descendants(process.pid)) - before, 10):
            raise Failure(f"HAProxy does not take its new configuration{process.last_words}")

    def await_start(self, processes, condition):
        processes = processes if isinstance(processes, list) else [processes]
        ended = []

        def is_over():
            ended[:] = [process for process in processes if not process.pid]
            return bool(ended) or condition()

        if not until(is_over, START_SECONDS):
            raise Failure(f"{processes[-1].name} is not ready after {START_SECONDS} s{processes[-1].last_words}")
        if ended:
            raise Failure(f"{ended[0].name} has ended{ended[0].last_words}")

    # --- HAProxy's own account

    def tell_balancer(self, command):
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(5)
                connection.connect(self.balancer_socket)
                connection.sendall(command.encode() + b"\n")
                return b"".join(iter(lambda: connection.recv(65536), b"")).decode()
        except OSError:
            return ""

    def route(self, number, state):
        for backend in "richpush", "anyway":
            self.tell_balancer(f"set server {backend}/node{number} state {state}")

    def routed(self):
        """What HAProxy says of each node: its status, such as UP, DRAIN and DOWN, and its requests and streams now."""
        found = {}
        for line in self.tell_balancer("show stat").splitlines():
            fields = line.split(",")
            if fields[0] == "richpush" and fields[1].startswith("node"):
                found[int(fields[1][4:])] = (fields[17], int(fields[4] or 0))
        return found


def answer(url):
    """The status of a response, or 0, and its first line."""
    parts = urllib.parse.urlsplit(url)
    if parts.scheme == "https":
        # A name of this machine is in few certificates; nothing secret is sent.
        connection = http.client.HTTPSConnection(parts.hostname, parts.port, timeout=5,
                                                 context=ssl._create_unverified_context())
    else:
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=5)
    try:
        connection.request("GET", parts.path or "/")
        response = connection.getresponse()
        text = response.read(2000).decode(errors="replace")
        with contextlib.suppress(ValueError, KeyError, TypeError):
            text = json.loads(text)["detail"]
        return response.status, (text.splitlines() or [""])[0]
    except (OSError, http.client.HTTPException) as error:
        return 0, str(error)
    finally:
        connection.close()


def output(words, **options):
    try:
        result = subprocess.run(words, capture_output=True, text=True, **options)
    except OSError as error:
        raise Failure(f"{words[0]} cannot be started: {error.strerror}")
    if result.returncode != 0:
        raise Failure(f"{os.path.basename(words[0])} failed: {(result.stderr or result.stdout).strip()[-2000:]}")
    return result.stdout.strip()


def version(program):
    text = output([program, "--version"])
    if not text.startswith("richpush "):
        raise Failure(f"{program} is not richpush")
    return text.splitlines()[0]


def postgres_programs(data=""):
    """The programs of the version that has made the data, or else of the newest."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/postgres"), key=lambda path: int(path.split("/")[4]))
    try:
        with open(f"{data}/PG_VERSION") as file:
            version = file.read().strip()
    except OSError:
        return os.path.dirname(found[-1]) if found else None
    programs = f"/usr/lib/postgresql/{version}/bin"
    if f"{programs}/postgres" not in found:
        raise Failure(f"the database is of PostgreSQL {version}: sudo apt-get install postgresql-{version}")
    return programs


# --- Commands


def require_packages(settings):
    missing = [] if os.access("/usr/sbin/haproxy", os.X_OK) else ["haproxy"]
    if not settings["database"] and not postgres_programs():
        missing.append("postgres")
    if not settings["bucket"] and not swift_store.is_installed():
        missing.append("swift")
    if not glob.glob("/usr/lib/*/libpq.so.5"):
        missing.append("libpq")
    if missing:
        raise Failure("Debian packages are missing: sudo apt-get install --no-install-recommends "
                      + " ".join(PACKAGES[name] for name in missing))


def chosen(cluster, arguments):
    """The settings with what the flags of `up` change."""
    settings = {"nodes": 3, "listen": "127.0.0.1:8080", "certificate": None, "public_url": None, "demo": False,
                "program": None, "from": None, "database": None, "bucket": None, "ports": {}, "keys": {},
                "secret": secrets.token_hex(16), **cluster.settings}
    given = {name: getattr(arguments, name) for name in
             ("nodes", "listen", "certificate", "public_url", "demo", "program", "database", "bucket")
             if getattr(arguments, name) is not None}
    given |= {"from": arguments.copied} if arguments.copied else {}
    for name in "program", "certificate", "from":
        if given.get(name):
            given[name] = os.path.abspath(given[name])
    changed = {name for name, value in given.items() if settings[name] != value}
    flags = {name: "--" + name.replace("_", "-") for name in given}
    if cluster.exists:
        for name in sorted(changed & {"database", "bucket", "from"}):
            raise Failure(f"{flags[name]} is for a new cluster, and {cluster.folder} has one already: give another --folder")
        fixed = sorted(changed - {"nodes"})
        if cluster.is_running and fixed:
            raise Failure(f"the cluster runs with another {flags[fixed[0]]}: take it down first, `{cluster.typed} down`")
        if cluster.is_running and given.get("nodes", settings["nodes"]) < settings["nodes"]:
            raise Failure(f"nodes are only taken away while the cluster is down: `{cluster.typed} down`")
    settings |= given
    if not 1 <= settings["nodes"] <= 20:
        raise Failure("--nodes must be from 1 to 20", USAGE)
    if not re.fullmatch(r"(\[[0-9a-fA-F:.]+\]|[^:\s]*):\d{1,5}", settings["listen"]) \
            or not 0 < int(settings["listen"].rpartition(":")[2]) < 65536:
        raise Failure("--listen must be HOST:PORT", USAGE)
    if not settings["program"]:
        built = os.path.join(HERE, "../../.build/release/richpush")
        settings["program"] = shutil.which("richpush") or (os.path.abspath(built) if os.path.exists(built) else None)
    if not settings["program"] or not os.access(settings["program"], os.X_OK):
        raise Failure("the program richpush is not there" + (f" ({settings['program']})" if settings["program"] else "")
                      + ": name it, --program FILE")
    version(settings["program"])
    if settings["certificate"] and not os.access(settings["certificate"], os.R_OK):
        raise Failure(f"--certificate: {settings['certificate']} cannot be read")
    if given.get("bucket"):
        settings["keys"] = {name: value for name, value in os.environ.items() if name.startswith("RICHPUSH_OBJECTS_")}
        if not settings["keys"]:
            raise Failure("--bucket needs RICHPUSH_OBJECTS_ACCESS_KEY and RICHPUSH_OBJECTS_SECRET_KEY")
    return settings


def up(cluster, arguments):
    settings = chosen(cluster, arguments)
    require_packages(settings)
    cluster.settings = settings
    if not cluster.process("haproxy").pid:
        cluster.require_address()
    for name in "run", "logs", "nodes":
        os.makedirs(f"{cluster.folder}/{name}", mode=0o700, exist_ok=True)
    cluster.choose_ports()
    for kind in "img", "sound", "url", "video":
        os.makedirs(f"{cluster.folder}/assets/{kind}", exist_ok=True)
    cluster.write_environment()
    cluster.start_database()
    say(f"PostgreSQL    {'yours' if settings['database'] else 'ready'}")
    cluster.start_store()
    say(f"object store  {'yours' if settings['bucket'] else 'ready'}")
    if settings["from"] and not settings.get("copied"):
        copy(cluster)
    for number in cluster.nodes:
        cluster.start_node(number)
    for number in cluster.nodes:
        cluster.await_node(number)
        say(f"node {number}        ready at {cluster.node_address(number)}")
    cluster.start_balancer()
    say(f"The cluster is ready at {cluster.address}, its console at {cluster.address}/console/")
    if not settings["demo"] and not settings["from"]:
        say(f"Add a user: {cluster.typed} run user add alice --role publisher")


def copy(cluster):
    """The content and records of a data folder, whose server may run; can be repeated wherever it was interrupted."""
    source, target, program = cluster.settings["from"], cluster.data(1), cluster.settings["program"]
    variables = {name: value for name, value in os.environ.items() if not name.startswith("RICHPUSH_")}
    if not os.path.exists(target):
        say(f"copying {source}")
        owner = os.stat(source).st_uid if os.path.isdir(source) else os.geteuid()
        if owner != os.geteuid():
            raise Failure(f"{source} is of the user {pwd.getpwuid(owner).pw_name}, and the cluster runs as "
                          f"{pwd.getpwuid(os.geteuid()).pw_name}: make the cluster as that user")
        for path in f"{cluster.folder}/copy", target + ".new":
            shutil.rmtree(path, ignore_errors=True)
        os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
        output([program, "store", "backup", f"{cluster.folder}/copy", "--data", source], env=variables)
        output([program, "store", "restore", f"{cluster.folder}/copy", "--data", target + ".new"], env=variables)
        os.rename(target + ".new", target)
    shutil.rmtree(f"{cluster.folder}/copy", ignore_errors=True)
    if not os.path.exists(f"{target}/database"):
        say("moving its records to PostgreSQL")
        output([program, "store", "migrate", "--from", target, "--to", cluster.database_url], env=variables)
    say("uploading its content")
    output([program, "store", "check", "--repair"], env=cluster.environment | {"RICHPUSH_DATA": target})
    cluster.settings["copied"] = True
    cluster.save()


def status(cluster, _):
    routed = cluster.routed()
    is_well = True
    for name in cluster.names:
        process = cluster.process(name)
        state = "runs" if process.pid else "does not run"
        port = cluster.settings["ports"].get(name)
        place = cluster.database_folder if name == "postgresql" else f"127.0.0.1:{port}"
        if name == "haproxy":
            place = cluster.settings["listen"]
            code, line = answer(cluster.address + "/readyz") if process.pid else (200, "")
            state += "" if code == 200 else f", no node answers ({line})"
            is_well &= code == 200
        elif name.startswith("node") and process.pid:
            code, line = answer(f"http://{place}/readyz")
            balancer, requests = routed.get(int(name[4:]), ("unknown", 0))
            state = "ready" if code == 200 else f"not ready ({line})"
            state += f", for HAProxy {balancer} with {requests} requests and streams"
            is_well &= code == 200
        is_well &= bool(process.pid)
        say(f"{name:<16} {str(process.pid or '-'):>8}  {place:<24} {state}")
    say(f"{cluster.address}  (folder {cluster.folder}, program {cluster.settings['program']})")
    return OK if is_well else FAILED


def upgrade(cluster, arguments):
    program = os.path.abspath(arguments.program) if arguments.program else cluster.settings["program"]
    say(f"upgrading to {version(program)}")
    for number in cluster.nodes:
        process, start = cluster.process(f"node{number}"), time.monotonic()
        others = [other for other in cluster.nodes if other != number and cluster.is_ready(other)]
        if not others and len(cluster.nodes) > 1:
            raise Failure(f"no node but {number} is ready, so it is not taken away: see `{cluster.typed} status`")
        if not others:
            say("there is one node: the service is away while it starts")
        cluster.route(number, "drain")
        # Streams stay: the node ends them so that their clients come back. Short requests are over by then.
        time.sleep(0.5)
        until(lambda: cluster.routed().get(number, ("", 0))[1] == 0, 2)
        process.end(seconds=30)
        cluster.start_node(number, program)
        try:
            cluster.await_node(number)
        except Failure as failure:
            raise Failure(f"node {number} does not become ready with {program}, and the others were left as they are; "
                          f"`{cluster.typed} stop {number}`, then `start {number}` starts it as before\n{failure}")
        if cluster.settings["program"] != program:
            cluster.settings["program"] = program
            cluster.save()
        cluster.route(number, "ready")
        if cluster.process("haproxy").pid and not until(
                lambda: cluster.routed().get(number, ("", 0))[0].startswith("UP"), 15):
            raise Failure(f"HAProxy does not reach node {number}: see `{cluster.typed} status`")
        say(f"node {number} is upgraded, after {time.monotonic() - start:.1f} s")


def down(cluster, arguments):
    if arguments.purge and sys.stdin.isatty():
        if input(f"End the cluster and remove all its data in {cluster.folder}? [y/N] ").strip().lower() not in ("y", "yes"):
            raise Failure("nothing was done")
    names = cluster.names
    nodes = [name for name in names if name.startswith("node")]
    for name in ["haproxy"]:
        cluster.process(name).end(seconds=5)
    for name in nodes:
        cluster.process(name).send(signal.SIGCONT, family=True)
        cluster.process(name).send(signal.SIGTERM)
    for name in nodes:
        cluster.process(name).end()
    for name in reversed(names):
        # PostgreSQL's fast shutdown.
        cluster.process(name).end(signal.SIGINT if name == "postgresql" else signal.SIGTERM)
    if arguments.purge:
        purge(cluster.folder)
    else:
        say(f"The cluster is down. Its data stays: `{cluster.typed} up` starts it again, `down --purge` removes it.")


def purge(folder):
    for name in ENTRIES:
        path = f"{folder}/{name}"
        if os.path.islink(path) or not os.path.isdir(path):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
        else:
            shutil.rmtree(path)
    left = os.listdir(folder)
    if left:
        say(f"The cluster is down and removed; {folder} stays, with {', '.join(sorted(left)[:5])}, which is not its own.")
        return
    try:
        os.rmdir(folder)
        say("The cluster is down and removed.")
    except OSError:
        say(f"The cluster is down and removed; {folder} is empty.")


def kill(cluster, arguments):
    for process in cluster.part(arguments.part):
        process.end(signal.SIGKILL)


def stop(cluster, arguments):
    for process in reversed(cluster.part(arguments.part)):
        process.end(signal.SIGINT if process.name == "postgresql" else signal.SIGTERM)


def start(cluster, arguments):
    cluster.part(arguments.part)
    if arguments.part in ("database", "store", "balancer"):
        {"database": cluster.start_database, "store": cluster.start_store, "balancer": cluster.start_balancer}[
            arguments.part]()
    else:
        number = int(arguments.part)
        cluster.start_node(number)
        cluster.await_node(number)
        cluster.route(number, "ready")


def pause(cluster, arguments):
    for process in cluster.part(arguments.part):
        process.send(signal.SIGSTOP, family=True)


def resume(cluster, arguments):
    for process in cluster.part(arguments.part):
        process.send(signal.SIGCONT, family=True)


def run(cluster, arguments):
    environment = cluster.environment | {"RICHPUSH_DATA": cluster.data(1)}
    os.execve(cluster.settings["program"], ["richpush", *arguments.words], environment)


def manual():
    """The manual page in mdoc(7), of the same text."""
    blocks = []
    for block in HELP.replace("\\", "\\e").strip().split("\n\n"):
        if block.startswith(" "):
            blocks.append(f".Bd -literal\n{block}\n.Ed")
        else:
            sentences = re.sub(r"([.:]) (?=[A-Z])", r"\1\n", " ".join(block.split("\n")))
            blocks.append(f".Pp\n{sentences}" if blocks else sentences)
    return "\n".join([
        ".Dd November 30, 2026", ".Dt RICHPUSH-CLUSTER 1", ".Os", ".Sh NAME", ".Nm richpush-cluster", f".Nd {SUMMARY}",
        ".Sh SYNOPSIS", ".Nm", ".Ar command", ".Op Fl -flags", ".Sh DESCRIPTION", *blocks, ".Sh EXIT STATUS",
        "0 on success, 64 if the command line is wrong, and another number if the command fails.",
        ".Sh SEE ALSO", ".Xr richpush 1 ,", ".Pa /usr/share/doc/richpush/SCALING.md"])


# --- The command line


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise Failure(f"{message}; `richpush-cluster --help` lists what there is", USAGE)


def parse(words):
    common = Parser(add_help=False, allow_abbrev=False)
    common.add_argument("--folder", default=argparse.SUPPRESS)
    parser = Parser(prog="richpush-cluster", add_help=False, allow_abbrev=False)
    parser.add_argument("--folder")
    commands = parser.add_subparsers(dest="command", required=True, parser_class=Parser, metavar="COMMAND")

    def add(name, function):
        found = commands.add_parser(name, parents=[common], add_help=False, allow_abbrev=False)
        found.set_defaults(function=function)
        return found

    first = add("up", up)
    first.add_argument("--nodes", type=int)
    for flag in "--listen", "--certificate", "--public-url", "--program", "--database", "--bucket", "--user":
        first.add_argument(flag)
    first.add_argument("--from", dest="copied")
    first.add_argument("--demo", action="store_true", default=None)
    add("status", status)
    add("upgrade", upgrade).add_argument("--program")
    add("down", down).add_argument("--purge", action="store_true")
    for name, function in (("kill", kill), ("stop", stop), ("start", start), ("pause", pause), ("resume", resume)):
        add(name, function).add_argument("part", metavar="PART")
    add("run", run).add_argument("words", nargs=argparse.REMAINDER)
    return parser.parse_args(words)


def default_folder():
    if os.geteuid() == 0:
        return "/var/lib/richpush-cluster"
    return os.path.join(os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share"), "richpush-cluster")


def user_for_root(name):
    """The user that everything runs as if root starts it."""
    for each in [name] if name else ["richpush", "postgres"]:
        with contextlib.suppress(KeyError):
            found = pwd.getpwnam(each)
            if found.pw_uid == 0:
                raise Failure("PostgreSQL refuses to run as root: choose another --user")
            return found
    raise Failure(f"there is no user {name}" if name else "there is neither a user richpush nor postgres: give --user NAME")


def enter(folder, arguments):
    """Makes the folder if it is absent, and becomes its owner if this is root."""
    is_new = not os.path.exists(f"{folder}/cluster.json")
    if is_new:
        if arguments.function is not up:
            raise Failure(f"there is no cluster in {folder}: `richpush-cluster up` makes one, --folder names another one")
        if os.path.isdir(folder):
            if set(os.listdir(folder)) - {"lock"}:
                raise Failure(f"{folder} has other files: a cluster needs a folder of its own, --folder FOLDER")
        else:
            try:
                os.makedirs(folder, mode=0o700)
            except OSError as error:
                raise Failure(f"{folder} cannot be made: {error.strerror}")
    facts = os.stat(folder)
    if os.geteuid() == 0:
        if is_new and facts.st_uid == 0:
            user = user_for_root(arguments.user)
            os.chown(folder, user.pw_uid, user.pw_gid, follow_symlinks=False)
        else:
            user = pwd.getpwuid(facts.st_uid)
        os.initgroups(user.pw_name, user.pw_gid)
        os.setgid(user.pw_gid)
        os.seteuid(user.pw_uid)
        try:
            os.chdir(folder)
        except OSError as error:
            os.seteuid(0)
            if is_new:
                os.rmdir(folder)
            raise Failure(f"the user {user.pw_name} cannot enter {folder}: {error.strerror}")
        os.seteuid(0)
        os.setuid(user.pw_uid)
        os.environ.update(HOME=user.pw_dir, USER=user.pw_name, LOGNAME=user.pw_name)
    elif facts.st_uid != os.geteuid():
        raise Failure(f"{folder} is of another user")
    if is_new:
        os.chmod(folder, 0o700)
    elif stat.S_IMODE(facts.st_mode) & 0o077:
        raise Failure(f"others can enter {folder}, where the database asks for no password: chmod 700 {folder}")


def main(words):
    if not words or words[0] in ("--help", "-h", "help") or "--help" in words[:words.index("run") if "run" in words else None]:
        say(f"richpush-cluster {SUMMARY}.\n\n{HELP}".rstrip())
        return OK
    if words == ["manual"]:
        say(manual())
        return OK
    arguments = parse(words)
    os.umask(0o077)
    folder = os.path.realpath(arguments.folder or default_folder())
    if len(f"{folder}/postgresql/.s.PGSQL.5432".encode()) > LONGEST_SOCKET_PATH:
        raise Failure(f"the path {folder} is too long for sockets in it: choose a shorter --folder")
    if re.search(r"[\s\"'\\#%$]", folder):
        raise Failure(f"the path {folder} has characters that HAProxy's configuration cannot have: choose another --folder")
    for name in "program", "certificate", "copied":
        # Relative to where it was typed.
        if getattr(arguments, name, None):
            setattr(arguments, name, os.path.abspath(getattr(arguments, name)))
    enter(folder, arguments)
    is_default = not arguments.folder
    if arguments.function in (status, run):
        return arguments.function(Cluster(folder, is_default), arguments)
    with open(f"{folder}/lock", "a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Failure(f"another richpush-cluster is at work in {folder}: try again when it is done")
        return arguments.function(Cluster(folder, is_default), arguments)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]) or OK)
    except Failure as failure:
        print(f"richpush-cluster: {failure}", file=sys.stderr)
        sys.exit(failure.code)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(FAILED)
    except OSError as error:
        print(f"richpush-cluster: {error}", file=sys.stderr)
        sys.exit(FAILED)
    except KeyboardInterrupt:
        print("\nrichpush-cluster: interrupted; `up` continues, `down` ends it", file=sys.stderr)
        sys.exit(130)
