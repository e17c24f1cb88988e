#!/usr/bin/env python3
"""The memory that an open stream takes: of this server's own form, and of ntfy's API as JSON lines and over WebSocket.

    Tests/Bench/streams.py [STREAMS]     10,000 of each without a number

Each user has one stream, and the server is new for each form. Anonymous memory of the server with all of them open, less that
before. Exits with 1 if a stream of ntfy's API takes more than 1.3 times as much as one of ours.
"""
import base64, os, resource, shutil, socket, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.environ.get("RICHPUSH", ROOT + "/.build/release/richpush")
COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
FACTOR = 1.3
UPGRADE = ("Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
           "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n")
FORMS = {"server-sent events": ("/api/push/stream", "", b"id: 0\n\n"),
         "ntfy, JSON": ("/inbox/json", "", b'"event":"open"'), "ntfy, WebSocket": ("/inbox/ws", UPGRADE, b'"event":"open"')}


def anonymous(process):
    """Its anonymous memory in bytes."""
    with open(f"/proc/{process.pid}/status") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith("RssAnon"))


def open_stream(port, user, path, fields, beginning):
    key = base64.b64encode(f"{user}:{user}".encode()).decode()
    stream = socket.create_connection(("127.0.0.1", port))
    stream.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Basic {key}\r\n{fields}\r\n".encode())
    received = b""
    while beginning not in received:
        piece = stream.recv(4096)
        assert piece, received
        received += piece
    return stream


def measure(path, fields, beginning):
    """The bytes of one stream."""
    folder = tempfile.mkdtemp()
    with socket.create_server(("127.0.0.1", 0), reuse_port=True) as reserved:
        place = f"127.0.0.1:{reserved.getsockname()[1]}"
    process = subprocess.Popen(
        [PROGRAM, "serve", "--demo", "--listen", "127.0.0.1:0", "--data", folder + "/var", "--assets", folder + "/assets",
         "--plugins", folder + "/plugins", "--compat", "ntfy", "--ntfy-listen", place, "--connections-per-address", "20000"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        port = int(process.stdout.readline().rsplit(":", 1)[1])
        port = port if path.startswith("/api/") else int(place.rsplit(":", 1)[1])
        # What the first ones make is for all.
        streams = [open_stream(port, f"early{number}", path, fields, beginning) for number in range(200)]
        before = anonymous(process)
        streams += [open_stream(port, f"u{number}", path, fields, beginning) for number in range(COUNT)]
        return (anonymous(process) - before) / COUNT
    finally:
        process.terminate()
        process.wait()
        shutil.rmtree(folder)


limit = COUNT + 300
resource.setrlimit(resource.RLIMIT_NOFILE, (limit, max(limit, resource.getrlimit(resource.RLIMIT_NOFILE)[1])))
sizes = {name: measure(*form) for name, form in FORMS.items()}
own = sizes["server-sent events"]
for name, size in sizes.items():
    print(f"{name}: {size / 1024:.2f} KiB for a stream, {size / own:.2f} times ours", flush=True)
sys.exit(max(sizes.values()) > FACTOR * own)
