"""What the stand-ins of services over HTTP/1.1 share: answers by rules, faults, and the lines that control them."""

import http.server
import json
import random
import shutil
import sys
import threading

from certificates import server_context


class Refusal(Exception):
    def __init__(self, status, text):
        super().__init__(text)
        self.status, self.text = status, text


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers each POST as the next step for it says; a subclass judges it, and says where a push is."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def judge(self, body):
        """The step for a request, and what to call when it is answered; raises a refusal."""
        raise NotImplementedError

    def location(self):
        raise NotImplementedError

    def content(self, step):
        return step.get("raw", "").encode() * step.get("times", 1)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            step, delivered = self.judge(body)
        except Refusal as refusal:
            step, delivered = self.refused(refusal), None
        act = step.get("act", "answer")
        if act == "silence":
            self.close_connection = True
            return self.server.forgotten.wait()
        if act == "drop":
            self.close_connection = True
            return self.connection.close()
        if act == "garbage":
            self.close_connection = True
            return self.wfile.write(b"\x00\xffThis is no HTTP.\r\n\r\n" * 10)
        if act in ("endless", "heads"):
            return self.pour(step, b"{" * 4096 if act == "endless" else b"X-More: and more\r\n")
        if delivered and step["status"] < 300:
            delivered()
        self.answer(step)

    def refused(self, refusal):
        return {"status": refusal.status, "raw": refusal.text}

    def answer(self, step):
        content = self.content(step)
        self.send_response(step["status"])
        for name, value in step.get("headers", {}).items():
            self.send_header(name, value)
        if step["status"] == 201:
            self.send_header("Location", self.location())
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        try:
            self.wfile.write(content)
        except OSError:  # the client has had enough
            self.close_connection = True

    def pour(self, step, piece):
        """Sends a head or a body that has no end, until the client has had enough."""
        self.close_connection, forgotten = True, self.server.forgotten
        self.send_response(step["status"])
        if step["act"] == "endless":
            self.end_headers()
        else:
            self.flush_headers()
        try:
            while not forgotten.is_set():
                self.wfile.write(piece)
        except OSError:
            pass


def next_step(service, name):
    """The next of the steps for a name, of which the last is for all that follow; the service's lock is held."""
    steps = service.rules.get(name) or service.rules.get("*") or [{"status": 201}]
    return steps.pop(0) if len(steps) > 1 else steps[0]


def set_chaos(service, command, faults):
    """From now on a share of all calls fails, in each of the ways but those that the command leaves out."""
    random.seed(command["seed"])
    service.chaos = command["rate"]
    service.faults = [
        fault for fault in faults
        if not {fault.get("act"), fault.get("reason")} & set(command.get("without", []))]


def chaotic(service, step):
    """The step, or a fault in its place; the service's lock is held."""
    return random.choice(service.faults) if random.random() < service.chaos else step


class Service(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, address):
        """Says what went wrong here; a client that hangs up, even in the middle of a handshake, may do so."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, address)


def run(handler, forget, obey):
    """Serves on a port of its own, which it prints, and obeys each line of standard input."""
    folder = sys.argv[1]
    try:
        service = Service(("127.0.0.1", 0), handler)
        forget(service)
        service.lock, service.forgotten = threading.Lock(), threading.Event()
        # Each connection shakes hands in its own thread, so that none waits for another.
        service.socket = server_context(folder, ["http/1.1"]).wrap_socket(
            service.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=service.serve_forever, daemon=True).start()
        print(json.dumps({"port": service.server_address[1]}), flush=True)
        for line in sys.stdin:
            command = json.loads(line)
            if command["do"] == "reset":
                # What is silent or endless ends.
                service.forgotten.set()
                service.forgotten = threading.Event()
            print(json.dumps(obey(service, command)), flush=True)
    finally:
        shutil.rmtree(folder)
