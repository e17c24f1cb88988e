#!/usr/bin/env python3
"""Cold thumbnails over HTTP: the whole server with its img plugin beside nginx's image_filter and thumbor.

    Tests/Bench/pictures.py [RICHPUSH] [NAME]

NAME chooses pictures by a part of their names.

Each round every server makes thumbnails, in a box, of JPEGs it has not seen (a comment makes copies of one photograph
distinct), asked for by two clients over connections that stay open; who begins changes from round to round, the medians of their
rates count. All have two processes and answer with a baseline JPEG of quality 82, looked at before the clocks start.
richpush pays for what it does beside: users, sandbox, a stored rendition; what it makes ahead when a
notification is created has other sizes and is not asked for. HEIC, which the others do not take, is beside
heif-convert: its processor time for writing the rows without coding them, on all processors at once. Ends with 1 when a target is missed.
"""
import base64, contextlib, http.client, io, json, os, resource, shutil, signal, socket, statistics, subprocess, sys, tempfile
import threading, time

from PIL import Image

from photographs import FOLDER, HEICS, JPEGS, REAL, pictures

PROGRAM = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else ".build/release/richpush")
BOX, ROUNDS, CLIENTS = int(os.environ.get("BOX", 512)), int(os.environ.get("ROUNDS", 3)), 2
SETS = {"drops-2.jpg": 120, "dense-12.jpg": 24, "wood-5-422.jpg": 60, "free-6-444.jpg": 60,
        "friends-6-portrait-progressive.jpg": 40, "dense-12.heic": 6, "smooth-12.heic": 6}  # a round's pictures
SETS = {name: count for name, count in SETS.items() if "".join(sys.argv[2:]) in name}
TARGETS = {("drops-2.jpg", "image_filter"): 4, ("dense-12.jpg", "image_filter"): 4,
           ("drops-2.jpg", "thumbor"): 2, ("dense-12.jpg", "thumbor"): 1.3,
           ("dense-12.heic", "heif-convert"): 0.9, ("smooth-12.heic", "heif-convert"): 0.9}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Client:
    """A connection that stays open."""

    def __init__(self, port):
        self.port, self.stream = port, None

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        if self.stream:
            self.stream.close()

    def get(self, target, fields=""):
        request = f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1\r\n{fields}\r\n".encode()
        if not self.stream:
            with socket.create_connection(("127.0.0.1", self.port)) as link:
                link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self.stream = link.makefile("rwb")
        self.stream.write(request)
        self.stream.flush()
        status = self.stream.readline().decode()
        head = iter(self.stream.readline, b"\r\n")
        fields = dict(line.decode().lower().split(":", 1) for line in head)
        body = self.stream.read(int(fields["content-length"]))
        if fields.get("connection", "").strip() == "close":
            self.stream.close()
            self.stream = None
        if " 200 " not in status or not fields["content-type"].strip() == "image/jpeg":
            raise SystemExit(f"{target}: {status} {body[:300]}")
        return body


def rate(port, requests):
    """Answers in a second, with the requests shared among the clients."""
    waiting, failures = list(reversed(requests)), []
    def work():
        try:
            with Client(port) as client:
                while waiting:
                    client.get(*waiting.pop())
        except IndexError:
            return
        except (Exception, SystemExit) as error:
            failures.append(error)
            waiting.clear()
    threads = [threading.Thread(target=work) for _ in range(CLIENTS)]
    start = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return len(requests) / (time.monotonic() - start)


def look(name, port, request):
    """The bytes of a thumbnail, which must be what all are asked for."""
    with Client(port) as client:
        body = client.get(*request)
    with Image.open(io.BytesIO(body)) as image:
        if max(image.size) != BOX or image.info.get("progressive"):
            raise SystemExit(f"{name} made {image.size}, {image.info}")
    return len(body)


def copies(folder):
    """Distinct pictures: name -> file names, a round's after the other's; one more to warm up."""
    made = {}
    pictures(JPEGS)
    for path in pictures({name: (JPEGS | REAL | HEICS)[name] for name in SETS}):
        name = os.path.basename(path)
        with open(path, "rb") as file:
            photograph = file.read()
        made[name] = [f"{index}-{name}" for index in range(SETS[name] * ROUNDS + 4)]
        for index, copy in enumerate(made[name]):
            note = b"copy %6d" % index
            comment = b"\xff\xfe" + (len(note) + 2).to_bytes(2, "big") + note
            box = (len(note) + 8).to_bytes(4, "big") + b"free" + note
            with open(f"{folder}/{copy}", "wb") as file:
                file.write(photograph + box if name in HEICS else photograph[:2] + comment + photograph[2:])
    return made


def start(stack, port, arguments, **options):
    """Starts a server, to be stopped with the stack, and waits until it listens."""
    process = subprocess.Popen(arguments, start_new_session=True, **options)
    stack.callback(stop, process)
    deadline = time.monotonic() + 30
    while process.poll() is None and time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise SystemExit(f"{arguments[0]} did not come")


def stop(process):
    """Ends a server, and the processes it leaves behind, as thumbor does."""
    process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(20)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


class Richpush:
    key = base64.b64encode(b"bench:bench").decode()
    fields = f"Authorization: Basic {key}\r\n"

    def __init__(self, stack, folder, files):
        os.makedirs(f"{folder}/plugins/img")
        shutil.copy("plugins/img/plugin.json", f"{folder}/plugins/img/")
        self.port = free_port()
        with open(f"{folder}/richpush.log", "w") as log:
            start(stack, self.port,
                  [PROGRAM, "serve", "--demo", "--listen", f"127.0.0.1:{self.port}", "--data", f"{folder}/var",
                   "--assets", f"{folder}/assets", "--plugins", f"{folder}/plugins"],
                  stdout=subprocess.DEVNULL, stderr=log)
        self.ids = {name: self.publish(name) for names in files.values() for name in names}

    def publish(self, name):
        body = json.dumps({"message": "m", "richType": "img", "payload": name, "to": ["username:bench"]})
        for _ in range(600):
            link = http.client.HTTPConnection("127.0.0.1", self.port)
            link.request("POST", "/api/notifications", body,
                         {"Authorization": f"Basic {self.key}", "Content-Type": "application/json"})
            answer = link.getresponse()
            text = answer.read()
            if answer.status == 201:
                return json.loads(text)["id"]
            time.sleep(0.1)  # the drop folder has not seen it yet
        raise SystemExit(f"{name}: {answer.status} {text}")

    def request(self, name):
        return f"/api/notifications/{self.ids[name]}?width={BOX}&height={BOX}", self.fields


class Filter:
    def __init__(self, stack, folder, _files):
        self.port = free_port()
        with open(f"{folder}/nginx.conf", "w") as file:
            file.write(f"""daemon off; worker_processes 2; pid {folder}/nginx.pid; error_log {folder}/nginx.log;
              load_module /usr/lib/nginx/modules/ngx_http_image_filter_module.so;
              events {{ worker_connections 64; }}
              http {{
                access_log off; types {{ image/jpeg jpg; }}
                server {{
                  listen 127.0.0.1:{self.port} reuseport; root {folder}/assets/img;
                  location / {{ image_filter resize {BOX} {BOX}; image_filter_jpeg_quality 82; image_filter_buffer 64M; }}
                }}
              }}""")
        start(stack, self.port, ["nginx", "-c", f"{folder}/nginx.conf", "-p", folder])

    def request(self, name):
        return f"/{name}", ""


class Thumbor:
    def __init__(self, stack, folder, _files):
        self.port = free_port()
        with open(f"{folder}/thumbor.conf", "w") as file:
            file.write(f"LOADER = 'thumbor.loaders.file_loader'\nFILE_LOADER_ROOT_PATH = '{folder}/assets/img'\n"
                       "STORAGE = 'thumbor.storages.no_storage'\nQUALITY = 82\nPROGRESSIVE_JPEG = False\nMAX_AGE = 0\n")
        start(stack, self.port,
              ["thumbor", "-p", str(self.port), "-i", "127.0.0.1", "-c", f"{folder}/thumbor.conf",
               "--processes", "2", "-l", "error"])

    def request(self, name):
        return f"/unsafe/fit-in/{BOX}x{BOX}/{name}", ""


def heif_convert(name, folder):
    """How many a second heif-convert decodes on all processors, by its processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(["heif-convert", f"{FOLDER}/{name}", f"{folder}/rows.y4m"], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    os.remove(f"{folder}/rows.y4m")
    return os.cpu_count() / (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def main(folder):
    os.makedirs(f"{folder}/assets/img")
    files = copies(f"{folder}/assets/img")
    missed = False
    with contextlib.ExitStack() as stack:
        kinds = {"image_filter": Filter, "thumbor": Thumbor, "richpush": Richpush}
        servers = {name: kind(stack, folder, files) for name, kind in kinds.items()}
        print(f"{'picture':36}{'richpush':>10}  {'beside':14}{'a second':>10}{'ratio':>7}{'kB, ours':>10}{'theirs':>8}  target",
              flush=True)
        for picture, names in files.items():
            shown = {"richpush": servers["richpush"]} if picture in HEICS else servers
            rates, sizes = {name: [] for name in shown}, {"heif-convert": 0}
            for name, server in shown.items():
                rate(server.port, [server.request(copy) for copy in names[-4:]])
                sizes[name] = look(name, server.port, server.request(names[-1])) / 1000
            for turn in range(ROUNDS):
                part = names[turn * SETS[picture]:(turn + 1) * SETS[picture]]
                order = list(shown.items())
                for name, server in order[turn % 3:] + order[:turn % 3]:
                    rates[name].append(rate(server.port, [server.request(copy) for copy in part]))
                if picture in HEICS:
                    rates.setdefault("heif-convert", []).append(heif_convert(picture, folder))
            ours = statistics.median(rates.pop("richpush"))
            for name in rates:
                theirs, target = statistics.median(rates[name]), TARGETS.get((picture, name))
                ratio = ours / theirs
                verdict = "" if target is None else f">= {target:3.1f}  {'ok' if ratio >= target else 'MISSED'}"
                missed |= target is not None and ratio < target
                print(f"{picture:36}{ours:10.1f}  {name:14}{theirs:10.1f}{ratio:7.2f}{sizes['richpush']:10.1f}"
                      f"{sizes[name]:8.1f}  {verdict}", flush=True)
    return missed


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        sys.exit(1 if main(folder) else 0)
