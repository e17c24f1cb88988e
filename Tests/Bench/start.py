#!/usr/bin/env python3
"""How long the server takes from its start until it accepts a connection, and what it holds when idle.

    Tests/Bench/start.py [ROUNDS]

The server, as installed, starts with an empty data folder, which it fills with its tables, and with all plugins, whose
files it reads. The peers are Debian's nginx, which serves a folder, and Python's http.server. They take turns. The memory
is what all processes of each have written (Anonymous in smaps), a second after the start: the pages of their programs are
not counted, since the kernel can drop them, and how many it maps depends on its cache of the file. Ends with 1 when the
median time or the memory is above that of http.server.
"""
import os, pathlib, re, shutil, socket, statistics, subprocess, sys, tempfile, time

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 15
ROOT = pathlib.Path(__file__).resolve().parents[2]
INSTALLED = tempfile.TemporaryDirectory()
NGINX = """daemon off; pid {folder}/pid; error_log {folder}/log; events {{}}
http {{ access_log off; client_body_temp_path {folder}/1; proxy_temp_path {folder}/2; fastcgi_temp_path {folder}/3;
uwsgi_temp_path {folder}/4; scgi_temp_path {folder}/5; server {{ listen 127.0.0.1:{port}; root {folder}; }} }}"""


def port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def words(name, folder, port):
    if name == "richpush":
        (folder / "assets").mkdir()
        return [INSTALLED.name + "/usr/bin/richpush", "serve", "--listen", f"127.0.0.1:{port}", "--data", folder / "data",
                "--assets", folder / "assets"]
    if name == "nginx":
        (folder / "nginx.conf").write_text(NGINX.format(folder=folder, port=port))
        return [shutil.which("nginx", path="/usr/sbin:/usr/bin"), "-e", folder / "log", "-c", folder / "nginx.conf"]
    return ["/usr/bin/python3", "-m", "http.server", "--bind", "127.0.0.1", str(port), "--directory", folder]


def family(pid):
    children = (child for task in os.listdir(f"/proc/{pid}/task")
                for child in open(f"/proc/{pid}/task/{task}/children").read().split())
    return [pid] + [each for child in children for each in family(int(child))]


def measure(name):
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        number = port()
        command = words(name, pathlib.Path(folder), number)
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while True:
            with socket.socket() as client:
                if client.connect_ex(("127.0.0.1", number)) == 0:
                    break
            assert process.poll() is None, f"{name} ended"
            time.sleep(0.0002)
        seconds = time.perf_counter() - start
        time.sleep(1)
        held = sum(int(re.search(r"^Anonymous: +(\d+)", open(f"/proc/{each}/smaps_rollup").read(), re.M)[1])
                   for each in family(process.pid))
        process.terminate()
        process.wait()
        return seconds * 1e3, held / 1024


subprocess.run(["make", "-s", "-C", ROOT, "copy", "DESTDIR=" + INSTALLED.name, "PREFIX=/usr"], check=True)
results = {name: [] for name in ("richpush", "nginx", "http.server")}
for _ in range(ROUNDS):
    for name, found in results.items():
        found.append(measure(name))
medians = {name: [statistics.median(values) for values in zip(*found)] for name, found in results.items()}
for name, (milliseconds, held) in medians.items():
    print(f"{name:12} {milliseconds:6.1f} ms until it listens, {held:5.1f} MiB when idle")
times, memory = (medians["richpush"][i] / medians["http.server"][i] for i in (0, 1))
print(f"beside http.server: {times:.2f} of the time, {memory:.2f} of the memory")
sys.exit(0 if times <= 1 and memory <= 1 else 1)
