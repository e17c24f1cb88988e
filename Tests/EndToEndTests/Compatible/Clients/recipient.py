"""What the checks of this folder share: the server that they are given, its recipient alice, and how they are run.

Each program here takes one JSON object: `server` and `ntfy`, the addresses; `publisher`, `password` and `token` of who
sends to the tag `news`; `recipient`, the name of who has the tag, with the same password; `root`, the folder of the
repository.
"""

import base64
import contextlib
import json
import os
import sys
import time
import traceback
import types
import urllib.parse
import urllib.request

SETUP = types.SimpleNamespace(**json.loads(sys.argv[1]))
PICTURE = os.path.join(SETUP.root, "assets/img/beach.jpg")


def split(address):
    """The scheme and the rest of an address."""
    parts = urllib.parse.urlsplit(address)
    return parts.scheme, parts.netloc


def authorization(name, password):
    return {"Authorization": "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()}


def call(path, method="GET", body=None, **fields):
    """A request to the server; its answer is closed by the caller."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(SETUP.server + path, data, fields, method=method)
    return urllib.request.urlopen(request, timeout=60)


def assets():
    """The names of the files in the server's drop folder."""
    with call("/api/assets", **authorization(SETUP.publisher, SETUP.password)) as answer:
        return [asset["name"] for asset in json.load(answer)["assets"]]


class Recipient:
    """Somebody with one device, who has read what came before."""

    def __init__(self):
        self.newest = -1
        self.fields = authorization(SETUP.recipient, SETUP.password)
        with self.open("/api/register/phone", "PUT", {"Platform": "gcm", "Handle": "0A", "Tags": ["news"]}):
            self.gets()

    def open(self, path, method="GET", body=None, **fields):
        return call(path, method, body, **self.fields, **fields)

    def gets(self, count=None):
        """The notifications that came since the last call, oldest first."""
        with self.open("/api/notifications?limit=100") as answer:
            inbox = json.load(answer)["notifications"]
        new = [each for each in inbox if each["id"] > self.newest][::-1]
        self.newest = max([self.newest] + [each["id"] for each in new])
        if count is not None:
            assert len(new) == count, f"{len(new)} notifications, not {count}: {new}"
        return new

    def gets_one(self, text=None, **members):
        """The only notification that came, which has these members."""
        (new,) = self.gets(1)
        if text is not None:
            assert new.get("message") == text, new
        for name, value in members.items():
            assert new.get(name) == value, f"{name} is {new.get(name)!r}, not {value!r}: {new}"
        return new

    def expect_picture(self, new):
        """The notification has a picture, which a device can show."""
        assert new.get("richType") == "img", new
        with self.open(f"/api/notifications/{new['id']}?width=320") as answer:
            data = answer.read()
            assert answer.headers["Content-Type"] == "image/jpeg" and data[:3] == b"\xff\xd8\xff", answer.headers
            assert len(data) > 1000, len(data)

    @contextlib.contextmanager
    def waiting(self):
        """Waits, at its end, until a notification has come."""
        with self.open("/api/push/stream", Accept="text/event-stream") as stream:
            yield
            end = time.monotonic() + 60
            # A line comes at least from time to time, if only to keep the connection open.
            for line in stream:
                if line.startswith(b"data:"):
                    return
                assert time.monotonic() < end, "nothing has come in a minute"
        raise AssertionError("the stream has ended")


def run(names):
    """Runs the functions among these whose names begin with `check`, with the recipient; all, whatever fails."""
    failures, alice = [], Recipient()
    for name, check in list(names.items()):
        if not name.startswith("check_" + os.environ.get("ONLY", "")):
            continue
        start, title = time.monotonic(), name.replace("_", " ")
        try:
            check(alice)
            alice.gets(0)
        except Exception:
            failures.append(f"{title}\n{traceback.format_exc(limit=-4)}")
            alice.gets()
        print(f"{time.monotonic() - start:5.1f} s  {title}", flush=True)
    sys.exit("\n".join(failures) if failures else 0)
