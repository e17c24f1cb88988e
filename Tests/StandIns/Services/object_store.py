#!/usr/bin/python3
"""A real object store for one test: OpenStack Swift with its S3 interface, from Debian's python3-swift.

`object_store.py FOLDER` prints the port of the S3 interface, and reads a command from each line of its input: `stop` and
`start` end and start the whole store, `pause` and `resume` hold its connections, `reset` empties it. The access key
is `richpush:media`, the secret `s3secret`, the region `us-east-1`, the bucket `content`.
"""

import ctypes
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

# Swift itself, in a process for each of its servers: none of Debian's services is installed or started.
RUN = """
import sys
from swift.common import utils
utils.set_swift_dir(sys.argv[1])
from swift.common.wsgi import run_wsgi
sys.exit(run_wsgi(sys.argv[2], sys.argv[3]))
"""

# What the proxy needs of memcached, in its own memory.
CACHE = """
import time

class Cache:
    def __init__(self):
        self.entries = {}

    def get(self, key, **options):
        value, end = self.entries.get(key, (None, 0))
        return value if not end or end > time.time() else None

    def set(self, key, value, time=0, **options):
        self.entries[key] = (value, time and __import__('time').time() + time)

    def incr(self, key, delta=1, **options):
        self.entries[key] = ((self.get(key) or 0) + delta, 0)
        return self.entries[key][0]

    def decr(self, key, delta=1, **options):
        return self.incr(key, -delta)

    def delete(self, key, **options):
        self.entries.pop(key, None)

    def get_multi(self, keys, *arguments, **options):
        return [self.get(key) for key in keys]

    def set_multi(self, mapping, *arguments, time=0, **options):
        for key, value in mapping.items():
            self.set(key, value, time)

def factory(configuration, **local):
    cache = Cache()
    def with_cache(app):
        def respond(environment, start):
            environment['swift.cache'] = cache
            return app(environment, start)
        return respond
    return with_cache
"""

PROXY = """[DEFAULT]
bind_ip = 127.0.0.1
bind_port = {port}
user = {user}
workers = 0
swift_dir = {folder}
log_address = {folder}/none
[pipeline:main]
pipeline = catch_errors cache s3api tempauth copy slo dlo proxy-server
[app:proxy-server]
use = egg:swift#proxy
allow_account_management = true
account_autocreate = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:cache]
paste.filter_factory = richpush_cache:factory
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
[filter:tempauth]
use = egg:swift#tempauth
user_richpush_media = s3secret .admin
[filter:copy]
use = egg:swift#copy
[filter:slo]
use = egg:swift#slo
[filter:dlo]
use = egg:swift#dlo
"""

STORAGE = """[DEFAULT]
bind_ip = 127.0.0.1
bind_port = {port}
user = {user}
devices = {folder}/node
mount_check = false
workers = 0
swift_dir = {folder}
log_address = {folder}/none
db_preallocation = off
fallocate_reserve = 0
[pipeline:main]
pipeline = {name}-server
[app:{name}-server]
use = egg:swift#{name}
"""

SERVERS = ["account", "container", "object", "proxy"]


def reserved_ports(count):
    """Sockets whose ports nobody else is given as long as they are open; Swift's servers may use them."""
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        one.bind(("127.0.0.1", 0))
    return sockets


def end_with_parent():
    os.setsid()
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


class Swift:
    def __init__(self, folder):
        self.folder = folder
        self.processes = []
        self.reserved = reserved_ports(len(SERVERS))
        self.ports = {name: one.getsockname()[1] for name, one in zip(SERVERS, self.reserved)}
        self.configure()

    def write(self, name, text):
        with open(f"{self.folder}/{name}", "w") as file:
            file.write(text)

    def configure(self):
        from swift.common.ring import RingBuilder

        user = subprocess.run(["id", "-un"], capture_output=True, text=True).stdout.strip()
        self.write(
            "swift.conf",
            "[swift-hash]\nswift_hash_path_prefix = a\nswift_hash_path_suffix = b\n"
            "[storage-policy:0]\nname = one\ndefault = yes\n")
        self.write("richpush_cache.py", CACHE)
        for name in SERVERS:
            text = PROXY if name == "proxy" else STORAGE
            self.write(
                f"{name}-server.conf",
                text.format(port=self.ports[name], user=user, folder=self.folder, name=name))
            if name == "proxy":
                continue
            ring = RingBuilder(part_power=2, replicas=1, min_part_hours=0)
            ring.add_dev({
                "id": 0, "region": 1, "zone": 1, "ip": "127.0.0.1", "port": self.ports[name],
                "replication_ip": "127.0.0.1", "replication_port": self.ports[name],
                "device": "d1", "weight": 1.0, "meta": ""})
            ring.rebalance()
            ring.get_ring().save(f"{self.folder}/{name}.ring.gz")

    def start(self):
        os.makedirs(f"{self.folder}/node/d1", exist_ok=True)
        environment = dict(os.environ, PYTHONPATH=self.folder, PYTHONDONTWRITEBYTECODE="1")
        for name in SERVERS:
            with open(f"{self.folder}/{name}.log", "ab") as log:
                self.processes.append(subprocess.Popen(
                    ["/usr/bin/python3", "-c", RUN, self.folder, f"{self.folder}/{name}-server.conf",
                     f"{name}-server"],
                    stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment,
                    preexec_fn=end_with_parent))
        for _ in range(600):
            if self.responds():
                return
            if any(process.poll() is not None for process in self.processes):
                break
            time.sleep(0.05)
        sys.exit("".join(open(f"{self.folder}/{name}.log").read() for name in SERVERS))

    def responds(self):
        try:
            for port in self.ports.values():
                socket.create_connection(("127.0.0.1", port)).close()
            self.make_bucket()
            return True
        except OSError:
            return False

    def make_bucket(self):
        """By Swift's own interface, which needs no signature."""
        base = f"http://127.0.0.1:{self.ports['proxy']}"
        login = urllib.request.Request(
            f"{base}/auth/v1.0", headers={"X-Auth-User": "richpush:media", "X-Auth-Key": "s3secret"})
        token = urllib.request.urlopen(login, timeout=10).headers["X-Auth-Token"]
        bucket = urllib.request.Request(
            f"{base}/v1/AUTH_richpush/content", method="PUT", headers={"X-Auth-Token": token})
        urllib.request.urlopen(bucket, timeout=10).close()

    def signal(self, number):
        for process in self.processes:
            os.kill(process.pid, number)

    def stop(self):
        self.signal(signal.SIGKILL)
        for process in self.processes:
            process.wait()
        self.processes = []

    def reset(self):
        self.stop()
        shutil.rmtree(f"{self.folder}/node", ignore_errors=True)
        self.start()


def main():
    # On a disk: Swift needs extended attributes, which tmpfs has only since Linux 6.6.
    with tempfile.TemporaryDirectory(prefix="richpush-swift-", dir="/var/tmp") as folder:
        swift = Swift(folder)
        swift.start()
        print(json.dumps({"port": swift.ports["proxy"]}), flush=True)
        actions = {
            "reset": swift.reset, "start": swift.start, "stop": swift.stop,
            "pause": lambda: swift.signal(signal.SIGSTOP),
            "resume": lambda: swift.signal(signal.SIGCONT),
        }
        for line in sys.stdin:
            actions[json.loads(line)["do"]]()
            print("{}", flush=True)
        swift.stop()


main()
