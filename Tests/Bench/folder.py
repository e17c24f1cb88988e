#!/usr/bin/env python3
"""How fast the drop folder takes files in, beside sha256sum and the plugin alone; and what rest costs.

    Tests/Bench/folder.py [FILES] [ROUNDS] [ASSETS]

The peer reads the same files with two processes: sha256sum, then two workers of the plugin img that are asked to
validate each, over FastCGI, as the server asks them. The server gets the files by mv of their folder. The two take
turns; a ratio above 1 means that the server took more files a second than the peer. The files are FILES small pictures,
half as many of the web and a fiftieth of a camera, each kind by itself: 8 GB in all, for a while. Then fifty files come
one by one, every other one no picture: the time from their renaming until they are in the catalogue, usable or refused.
Then ASSETS files lie in the folder: the processor time of an idle server over ten seconds, and of one look at all of
them. Ends with 1 when a median ratio is below 0.8, a file waits for a second, or an idle server takes more than 1/200 of
a processor.
"""
import base64, json, os, pathlib, resource, shutil, signal, socket, struct, subprocess, sys, tempfile, threading, time
import http.client
import photographs

FILES = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 5
ASSETS = int(sys.argv[3]) if len(sys.argv) > 3 else 100_000
ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("BUILD", ".build/release")
CREDENTIALS = "Basic " + base64.b64encode(b"a:a").decode()
SMALL = ROOT / "assets/img/beach.jpg"
TICKS = os.sysconf("SC_CLK_TCK")


class Server:
    def __init__(self, folder):
        self.folder = folder
        (folder / "assets").mkdir()
        shutil.copytree(ROOT / "plugins", folder / "plugins", ignore=lambda d, n: [x for x in n if x.endswith(".swift")])
        self.process = subprocess.Popen(
            [BUILD / "richpush", "serve", "--demo", "--listen", "127.0.0.1:0", "--data", folder / "var",
             "--assets", folder / "assets", "--plugins", folder / "plugins"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        address = self.process.stdout.readline().split("/")[2]
        self.connection = http.client.HTTPConnection(address)
        self.times = {}

    def counts(self):
        self.connection.request("GET", "/api/assets?limit=1", headers={"Authorization": CREDENTIALS})
        return json.load(self.connection.getresponse())["counts"]

    def wait(self, count, pause=0.01, states=None):
        """Waits for so many assets (in these states), and asks seldom while many are missing: each answer costs."""
        start = time.monotonic()
        while (there := sum(n for state, n in self.counts().items() if not states or state in states)) < count:
            rest = (time.monotonic() - start) * (count - there) / max(there, 1)
            nap = min(max(pause, rest / 2), 0.2)
            if nap >= 0.1:
                self.note_processor_times()
            time.sleep(nap)

    def settle(self, pause=0.2):
        """Waits until nothing goes on in it."""
        last = -1
        while (now := self.processor_time()) - last >= 0.02:
            last = now
            time.sleep(pause)

    def processor_time(self, pid=None):
        fields = open(f"/proc/{pid or self.process.pid}/stat").read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def whole_processor_time(self):
        """Its own and its plugins', with those that were seen before they ended: nobody adds these up."""
        self.note_processor_times()
        return sum(self.times.values())

    def note_processor_times(self):
        pids = [self.process.pid]
        for pid in pids:
            try:
                self.times[pid] = self.processor_time(pid)
                for task in os.listdir(f"/proc/{pid}/task"):
                    pids += open(f"/proc/{pid}/task/{task}/children").read().split()
            except OSError:  # it has just ended
                pass

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


def pictures(folder, photo, count):
    """Copies of a photograph that differ by their comments."""
    folder.mkdir()
    photo = pathlib.Path(photo).read_bytes()
    for number in range(count):
        mark = f"picture {number}".encode()
        comment = b"\xff\xfe" + struct.pack(">H", len(mark) + 2) + mark
        (folder / f"{number}.jpg").write_bytes(photo[:2] + comment + photo[2:])
    os.sync()  # else the server's first look at the disk waits for these


def record(kind, content):
    return struct.pack(">BBHHBx", 1, kind, 1, len(content), 0) + content


def ask(path, worker):
    """Asks a resident worker to validate a file (FastCGI 1.0)."""
    pairs = {
        "RICH_VERB": "validate", "REQUEST_METHOD": "POST", "RICH_TYPE": "img", "RICH_PAYLOAD": path.name,
        "RICH_ASSET_PATH": str(path), "RICH_ASSET_TYPE": "image/jpeg", "RICH_ASSET_SIZE": str(path.stat().st_size),
        "RICH_ASSET_SHA256": "0" * 64, "RICH_DEADLINE_MS": "10000", "CONTENT_LENGTH": str(len(path.name)),
        "GATEWAY_INTERFACE": "CGI/1.1", "SERVER_PROTOCOL": "HTTP/1.1", "QUERY_STRING": "", "SCRIPT_NAME": "/img",
    }
    params = b"".join(struct.pack(">BI", len(k), len(v) | 1 << 31) + k.encode() + v.encode() for k, v in pairs.items())
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(worker)
        connection.sendall(record(1, struct.pack(">HB5x", 1, 0)) + record(4, params) + record(4, b"")
                           + record(5, path.name.encode()) + record(5, b""))
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
    assert b'"width"' in answer, answer


def peer(folder):
    """Seconds that sha256sum and two workers take for all files, and the processor time of these."""
    spent = children_time()
    files = sorted(folder.iterdir())
    halves = [files[:len(files) // 2], files[len(files) // 2:]]
    workers = []
    for number in range(2):
        listener = socket.socket(socket.AF_UNIX)
        path = tempfile.mktemp()
        listener.bind(path)
        listener.listen()
        workers.append((path, subprocess.Popen([BUILD / "img"], stdin=listener)))
    start = time.monotonic()
    sums = [subprocess.Popen(["sha256sum", *half], stdout=subprocess.DEVNULL) for half in halves]
    for process in sums:
        process.wait()
    threads = [threading.Thread(target=lambda h=half, w=path: [ask(f, w) for f in h])
               for half, (path, _) in zip(halves, workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.monotonic() - start
    for path, process in workers:
        process.kill()
        process.wait()
        os.unlink(path)
    return seconds, children_time() - spent


def children_time():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def intake(scratch, photo, count):
    """Seconds until a server has taken all files in: stored, checked and in the catalogue; first the peer's."""
    folder = pathlib.Path(tempfile.mkdtemp(dir=scratch))
    pictures(folder / "img", photo, count)
    theirs = peer(folder / "img")
    server = Server(folder)
    # The picture that a demonstration brings.
    shutil.rmtree(folder / "assets/img")
    while sum(server.counts().values()):
        time.sleep(0.01)
    server.settle()
    before, start = server.whole_processor_time(), time.monotonic()
    os.rename(folder / "img", folder / "assets/img")
    server.wait(count)
    ours = time.monotonic() - start, server.whole_processor_time() - before
    server.stop()
    # The folder stays: ext4 passes over inodes that were freed a moment ago, one by one.
    return theirs, ours


def contest(scratch, photo, count):
    """Whether the server keeps up with the peer, with copies of a photograph."""
    ratios = []
    for _ in range(ROUNDS):
        (theirs, their_time), (ours, our_time) = intake(scratch, photo, count)
        ratios.append(theirs / ours)
        print(f"  server {count / ours:.0f} files/s, peer {count / theirs:.0f} files/s, ratio {theirs / ours:.2f}; "
              f"processor time of a file: server {our_time / count * 1e3:.2f} ms, peer {their_time / count * 1e3:.2f} ms",
              flush=True)
    ratio = sorted(ratios)[len(ratios) // 2]
    print(f"{count} photographs of {os.path.getsize(photo) / 1e3:.0f} kB: median ratio {ratio:.2f}, target 0.8", flush=True)
    return ratio >= 0.8


def cost_of_a_file(scratch):
    """Microseconds that the file system takes for a new file, in the worst of some folders."""
    def cost():
        folder = pathlib.Path(tempfile.mkdtemp(dir=scratch))
        start = time.monotonic()
        for number in range(200):
            (folder / str(number)).touch()
        return (time.monotonic() - start) / 200 * 1e6
    return max(cost() for _ in range(8))


def wait_for_free_inodes(scratch):
    """ext4 without a journal steps over inodes that were freed in the last minute, one by one: as after the tests."""
    os.sync()
    for _ in range(9):
        cost = cost_of_a_file(scratch)
        print(f"a new file costs {cost:.0f} us here", flush=True)
        if cost < 60:
            return
        time.sleep(10)


def patience(scratch):
    """Drops files one by one and measures how long each takes to be usable, or refused."""
    folder = pathlib.Path(tempfile.mkdtemp(dir=scratch))
    pictures(folder / "drafts", SMALL, 25)
    for number in range(25):
        (folder / f"drafts/{number}.txt").write_text(f"no picture {number}\n")
    server = Server(folder)
    shutil.rmtree(folder / "assets/img", ignore_errors=True)  # the picture that a demonstration brings
    (folder / "assets/img").mkdir()
    waits = []
    for count, draft in enumerate(sorted((folder / "drafts").iterdir())):
        start = time.monotonic()
        os.rename(draft, folder / "assets/img" / draft.name)
        server.wait(count + 1, pause=0.001)
        waits.append((time.monotonic() - start) * 1e3)
    server.stop()
    print(f"a file dropped alone is usable or refused after {sorted(waits)[len(waits) // 2]:.0f} ms, "
          f"the slowest of {len(waits)} after {max(waits):.0f} ms")
    return max(waits) < 1000


def rest(scratch):
    folder = pathlib.Path(tempfile.mkdtemp(dir=scratch))
    server = Server(folder)
    (folder / "url").mkdir()
    (folder / "link").write_text("https://www.swift.org/\n")
    for number in range(ASSETS):
        if number % 50_000 == 0:  # a file has at most 65,000 names
            shutil.copy(folder / "link", folder / "next")
        os.link(folder / "next", folder / f"url/{number}.url")
        if number % 50_000 == 49_999:
            os.unlink(folder / "next")
    start = time.monotonic()
    os.rename(folder / "url", folder / "assets/url")
    server.wait(ASSETS, states=["ready"])
    print(f"{ASSETS} assets of one content taken in and ready after {time.monotonic() - start:.1f} s")
    server.settle(pause=2)
    before = server.processor_time()
    time.sleep(10)
    idle = server.processor_time() - before
    print(f"idle for 10 s: {idle:.2f} s of processor time")
    before = server.processor_time()
    (folder / "assets/.look").mkdir()
    time.sleep(5)
    print(f"one look at all of them: {server.processor_time() - before:.2f} s of processor time")
    server.stop()
    return idle <= 0.05


with tempfile.TemporaryDirectory() as scratch:
    web, camera = photographs.pictures({name: photographs.JPEGS[name] for name in ("drops-2.jpg", "dense-12.jpg")})
    wait_for_free_inodes(scratch)
    holds = [contest(scratch, photo, count) for photo, count in ((SMALL, FILES), (web, FILES // 2), (camera, FILES // 50))]
    holds += [patience(scratch), not ASSETS or rest(scratch)]
sys.exit(0 if all(holds) else 1)
