"""An S3-compatible object store in one folder of one machine: OpenStack Swift with its S3 interface, from Debian's
python3-swift, in a process for each of its servers. None of Debian's services is installed or started.

There is one copy of each object: it is for trials and tests.
"""

import os
import pwd
import urllib.request

SERVERS = ["account", "container", "object", "proxy"]
BUCKET = "content"
ACCESS_KEY = "richpush:media"
REGION = "us-east-1"

RUN = """
import sys
from swift.common import utils
utils.set_swift_dir(sys.argv[1])
from swift.common.wsgi import run_wsgi
sys.exit(run_wsgi(sys.argv[2], sys.argv[3]))
"""

# Filters of its servers: "cache" is what the proxy needs of memcached, in its own memory. The others have no
# authentication of their own, and every user of the machine can connect to them: "same_user" lets only its user in.
FILTERS = """
import os
import socket
import struct
import time

def user_of_client(environment):
    'The user whose socket a request comes from.'
    def end(name, port):
        address, = struct.unpack('=I', socket.inet_aton(environment[name]))
        return '%08X:%04X' % (address, int(environment[port]))

    ends = [end('REMOTE_ADDR', 'REMOTE_PORT'), end('SERVER_NAME', 'SERVER_PORT')]
    with open('/proc/net/tcp') as sockets:
        for line in sockets:
            words = line.split()
            # 01: it is open. One that was closed is nobody's, which has the number of root.
            if words[1:4] == ends + ['01']:
                return int(words[7])

def same_user(configuration, **local):
    def for_same_user(app):
        def respond(environment, start):
            if user_of_client(environment) == os.geteuid():
                return app(environment, start)
            start('403 Forbidden', [('Content-Length', '0')])
            return [b'']
        return respond
    return for_same_user

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

def cache(configuration, **local):
    entries = Cache()
    def with_cache(app):
        def respond(environment, start):
            environment['swift.cache'] = entries
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
paste.filter_factory = richpush_filters:cache
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
[filter:tempauth]
use = egg:swift#tempauth
user_richpush_media = {secret} .admin
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
pipeline = same_user {name}-server
[app:{name}-server]
use = egg:swift#{name}
[filter:same_user]
paste.filter_factory = richpush_filters:same_user
"""


def is_installed():
    return os.path.exists("/usr/lib/python3/dist-packages/swift/common/middleware/s3api")


def configure(folder, ports, secret):
    """Writes what its servers read, for these ports by server; the objects in the folder stay."""
    from swift.common.ring import RingBuilder

    os.makedirs(f"{folder}/node/d1", exist_ok=True)
    values = {"folder": folder, "user": pwd.getpwuid(os.geteuid()).pw_name, "secret": secret}
    texts = {
        "swift.conf": "[swift-hash]\nswift_hash_path_prefix = a\nswift_hash_path_suffix = b\n"
                      "[storage-policy:0]\nname = one\ndefault = yes\n",
        "richpush_filters.py": FILTERS,
    }
    for name in SERVERS:
        template = PROXY if name == "proxy" else STORAGE
        texts[f"{name}-server.conf"] = template.format(port=ports[name], name=name, **values)
        if name == "proxy":
            continue
        ring = RingBuilder(part_power=2, replicas=1, min_part_hours=0)
        ring.add_dev({
            "id": 0, "region": 1, "zone": 1, "ip": "127.0.0.1", "port": ports[name],
            "replication_ip": "127.0.0.1", "replication_port": ports[name],
            "device": "d1", "weight": 1.0, "meta": ""})
        ring.rebalance()
        ring.get_ring().save(f"{folder}/{name}.ring.gz")
    for name, text in texts.items():
        with open(f"{folder}/{name}", "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write(text)


def command(folder, name):
    """The words and the environment with which one of its servers is started."""
    words = ["/usr/bin/python3", "-c", RUN, folder, f"{folder}/{name}-server.conf", f"{name}-server"]
    return words, dict(os.environ, PYTHONPATH=folder, PYTHONDONTWRITEBYTECODE="1")


def make_bucket(port, secret):
    """By Swift's own interface, which needs no signature. Throws OSError while the store does not respond."""
    base = f"http://127.0.0.1:{port}"
    login = urllib.request.Request(
        f"{base}/auth/v1.0", headers={"X-Auth-User": ACCESS_KEY, "X-Auth-Key": secret})
    with urllib.request.urlopen(login, timeout=10) as answer:
        token = answer.headers["X-Auth-Token"]
    bucket = urllib.request.Request(
        f"{base}/v1/AUTH_richpush/{BUCKET}", method="PUT", headers={"X-Auth-Token": token})
    urllib.request.urlopen(bucket, timeout=10).close()


def url(port):
    """The value of `richpush serve --objects`."""
    return f"s3://{BUCKET}/richpush?endpoint=http://127.0.0.1:{port}&region={REGION}"
