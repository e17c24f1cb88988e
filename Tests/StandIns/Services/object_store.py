#!/usr/bin/python3
"""A real object store for one test: OpenStack Swift with its S3 interface, as `richpush-cluster` runs it.

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

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(__file__), "../../../packaging/cluster"))
import swift_store

SECRET = "s3secret"


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
        self.reserved = reserved_ports(len(swift_store.SERVERS))
        self.ports = {name: one.getsockname()[1] for name, one in zip(swift_store.SERVERS, self.reserved)}

    def start(self):
        swift_store.configure(self.folder, self.ports, SECRET)
        for name in swift_store.SERVERS:
            words, environment = swift_store.command(self.folder, name)
            with open(f"{self.folder}/{name}.log", "ab") as log:
                self.processes.append(subprocess.Popen(
                    words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment,
                    preexec_fn=end_with_parent))
        for _ in range(600):
            if self.responds():
                return
            if any(process.poll() is not None for process in self.processes):
                break
            time.sleep(0.05)
        sys.exit("".join(open(f"{self.folder}/{name}.log").read() for name in swift_store.SERVERS))

    def responds(self):
        try:
            for port in self.ports.values():
                socket.create_connection(("127.0.0.1", port)).close()
            swift_store.make_bucket(self.ports["proxy"], SECRET)
            return True
        except OSError:
            return False

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
