"""A stand-in for a Web Push service (RFC 8030) and its receivers, which refuses what the real ones refuse.

usage: webpush.py FOLDER
The same lines on standard input and output as hub.py; rules go by subscription or "*"; a step is
{"status": 410, "headers": {…}, "raw": "…", "times": n, "act": "answer|drop|silence|garbage|endless|heads"}.
{"do": "subscribe", "name": "a"} makes a subscription and answers {"endpoint", "p256dh", "auth"}; its pushes are
decrypted. {"do": "key", "key": "…"} binds all subscriptions to a VAPID key, as browsers do.
{"do": "requests"} gives each push with its header fields, the length of its body, and its text.
"""

import base64
import http.server
import json
import os
import re
import shutil
import struct
import sys
import threading
import time

from certificates import server_context
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF


class Refusal(Exception):
    def __init__(self, status, text):
        super().__init__(text)
        self.status, self.text = status, text


def decoded(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def encoded(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def point(data):
    return ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), data)


def derive(length, key, salt, info):
    return HKDF(hashes.SHA256(), length, salt, info).derive(key)


class Subscription:
    """A receiver with its keys."""

    def __init__(self):
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.public = self.key.public_key().public_bytes(
            serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
        self.secret = os.urandom(16)

    def decrypt(self, body):
        """RFC 8291, section 4: one record, which ends with a 2 and zeros."""
        salt, (size, length) = body[:16], struct.unpack("!IB", body[16:21])
        assert length == 65 and len(body) - 86 <= size, (size, length)
        sender = body[21:86]
        shared = self.key.exchange(ec.ECDH(), point(sender))
        info = b"WebPush: info\0" + self.public + sender
        key = derive(32, shared, self.secret, info)
        content = derive(16, key, salt, b"Content-Encoding: aes128gcm\0")
        nonce = derive(12, key, salt, b"Content-Encoding: nonce\0")
        text = AESGCM(content).decrypt(nonce, body[86:], None).rstrip(b"\0")
        assert text.endswith(b"\2"), text
        return text[:-1].decode()


def check_vapid(service, authorization, host):
    """RFC 8292."""
    if not authorization.startswith("vapid "):
        raise Refusal(401, "no vapid")
    parts = dict(part.strip().split("=", 1) for part in authorization[6:].split(","))
    header, claims, signature = parts["t"].split(".")
    raw = decoded(signature)
    try:
        point(decoded(parts["k"])).verify(
            utils.encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big")),
            f"{header}.{claims}".encode(), ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        raise Refusal(403, "bad signature")
    if service.key not in (None, parts["k"]):
        raise Refusal(403, "the subscription belongs to another key")
    claims = json.loads(decoded(claims))
    if claims["aud"] != f"https://{host}":
        raise Refusal(403, "wrong audience")
    if not time.time() < claims["exp"] <= time.time() + 86_400:
        raise Refusal(403, "expired, or too long")
    if not claims.get("sub", "").startswith(("mailto:", "https:")):
        raise Refusal(403, "no contact")


def check(service, headers, path, body):
    """The name of the subscription, and the text of the push."""
    name = path.removeprefix("/push/")
    if name not in service.subscriptions:
        raise Refusal(404, "no such subscription")
    if not headers.get("TTL", "").isdigit():
        raise Refusal(400, "TTL is missing")
    if headers.get("Content-Encoding") != "aes128gcm":
        raise Refusal(400, "wrong content coding")
    if headers.get("Urgency") not in ("very-low", "low", "normal", "high"):
        raise Refusal(400, "wrong urgency")
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,32}", headers.get("Topic", "t")):
        raise Refusal(400, "wrong topic")
    if len(body) > 4096:
        raise Refusal(413, "too large")
    check_vapid(service, headers.get("Authorization", ""), headers["Host"])
    return name, service.subscriptions[name].decrypt(body)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def do_POST(self):
        service = self.server
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            name, text = check(service, self.headers, self.path, body)
            with service.lock:
                service.requests.append(
                    {"name": name, "headers": dict(self.headers), "length": len(body), "text": text})
                steps = service.rules.get(name) or service.rules.get("*") or [{"status": 201}]
                step = steps.pop(0) if len(steps) > 1 else steps[0]
        except Refusal as refusal:
            step = {"status": refusal.status, "raw": refusal.text}
        act = step.get("act", "answer")
        if act == "silence":
            return service.closing.wait()
        if act == "drop":
            self.close_connection = True
            return self.connection.close()
        if act == "garbage":
            self.close_connection = True
            return self.wfile.write(b"\x00\xffThis is no HTTP.\r\n\r\n" * 10)
        if act in ("endless", "heads"):
            return self.pour(step, b"{" * 4096 if act == "endless" else b"X-More: and more\r\n")
        content = step.get("raw", "").encode() * step.get("times", 1)
        self.send_response(step["status"])
        for field, value in step.get("headers", {}).items():
            self.send_header(field, value)
        if step["status"] == 201:
            self.send_header("Location", f"https://{self.headers['Host']}/m/{encoded(os.urandom(6))}")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        try:
            self.wfile.write(content)
        except OSError:  # the client has had enough
            self.close_connection = True

    def pour(self, step, piece):
        """Sends a head or a body that has no end, until the client has had enough."""
        self.close_connection = True
        self.send_response(step["status"])
        if step["act"] == "endless":
            self.end_headers()
        else:
            self.flush_headers()
        try:
            while not self.server.closing.is_set():
                self.wfile.write(piece)
        except OSError:
            pass


def forget(service):
    service.rules, service.requests, service.subscriptions, service.key = {}, [], {}, None


def obey(service, command):
    with service.lock:
        if command["do"] == "reset":
            forget(service)
        elif command["do"] == "rules":
            service.rules = command["rules"]
        elif command["do"] == "key":
            service.key = command["key"]
        elif command["do"] == "subscribe":
            subscription = service.subscriptions[command["name"]] = Subscription()
            return {"endpoint": f"https://localhost:{service.server_address[1]}/push/{command['name']}",
                    "p256dh": encoded(subscription.public), "auth": encoded(subscription.secret)}
        elif command["do"] == "requests":
            seen, service.requests = service.requests, []
            return {"requests": seen}
        return {}


def main(folder):
    service = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    service.daemon_threads = True
    forget(service)
    service.lock, service.closing = threading.Lock(), threading.Event()
    # Each connection shakes hands in its own thread, so that none waits for another.
    service.socket = server_context(folder, ["http/1.1"]).wrap_socket(
        service.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=service.serve_forever, daemon=True).start()
    print(json.dumps({"port": service.server_address[1]}), flush=True)
    for line in sys.stdin:
        print(json.dumps(obey(service, json.loads(line))), flush=True)


try:
    main(sys.argv[1])
finally:
    shutil.rmtree(sys.argv[1])
