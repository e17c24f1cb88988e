#!/usr/bin/python3
"""A certificate authority that speaks ACME (RFC 8555) for one test: it believes everybody, and checks neither signatures nor
names.

`acme.py FOLDER` prints the port of its HTTP server, whose directory is at /directory, and writes its certificate to
ca.pem in the folder.
"""

import base64
import datetime
import http.server
import itertools
import json
import sys
import threading

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

import certificates

FOLDER = sys.argv[1]
KEY = ec.generate_private_key(ec.SECP256R1())
NAME = "Stand-in ACME"
AUTHORITY = certificates.certificate(
    NAME, KEY, NAME, KEY, [(x509.BasicConstraints(ca=True, path_length=None), True)])
orders, numbers = {}, itertools.count(1)


def decoded(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def issue(request, names):
    now = datetime.datetime.utcnow()
    made = (
        x509.CertificateBuilder()
        .subject_name(certificates.name(names[0])).issuer_name(AUTHORITY.subject)
        .public_key(request.public_key()).serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1)).not_valid_after(now + datetime.timedelta(days=90))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name) for name in names]), False)
        .sign(KEY, hashes.SHA256()))
    return b"".join(each.public_bytes(serialization.Encoding.PEM) for each in (made, AUTHORITY)).decode()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=None, location=None, kind="application/json"):
        data = b"" if body is None else (body if isinstance(body, str) else json.dumps(body)).encode()
        self.send_response(status)
        self.send_header("Replay-Nonce", f"{next(numbers):08}")
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        if location:
            self.send_header("Location", location)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    @property
    def base(self):
        return f"http://{self.headers['Host']}"

    def do_HEAD(self):
        self.answer(200)

    def do_GET(self):
        names = "newNonce", "newAccount", "newOrder"
        self.answer(200, {name: f"{self.base}/{name}" for name in names})

    def order(self, number):
        names, chain = orders[number]
        found = {
            "status": "valid" if chain else "ready", "identifiers": [{"type": "dns", "value": name} for name in names],
            "authorizations": [f"{self.base}/authorization/{name}" for name in names],
            "finalize": f"{self.base}/finalize/{number}"}
        return found | ({"certificate": f"{self.base}/certificate/{number}"} if chain else {})

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        payload = json.loads(decoded(message["payload"]) or b"{}")
        what, _, which = self.path[1:].partition("/")
        place = f"{self.base}/order/{which}"
        if what == "newAccount":
            self.answer(201, {"status": "valid"}, f"{self.base}/account/1")
        elif what == "newOrder":
            which = str(next(numbers))
            orders[which] = ([each["value"] for each in payload["identifiers"]], None)
            self.answer(201, self.order(which), f"{self.base}/order/{which}")
        elif what == "authorization":
            # Proved already: nothing of this machine is asked.
            self.answer(200, {
                "status": "valid", "identifier": {"type": "dns", "value": which}, "expires": "2099-01-01T00:00:00Z",
                "challenges": [{"type": "http-01", "status": "valid", "url": f"{self.base}/challenge/1", "token": "a" * 43}]})
        elif what == "finalize":
            names = orders[which][0]
            orders[which] = (names, issue(x509.load_der_x509_csr(decoded(payload["csr"])), names))
            self.answer(200, self.order(which), place)
        elif what == "order":
            self.answer(200, self.order(which), place)
        elif what == "certificate":
            self.answer(200, orders[which][1], kind="application/pem-certificate-chain")
        else:
            self.answer(404, {"type": "urn:ietf:params:acme:error:malformed"})


def main():
    with open(f"{FOLDER}/ca.pem", "wb") as file:
        file.write(AUTHORITY.public_bytes(serialization.Encoding.PEM))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(json.dumps({"port": server.server_port}), flush=True)
    for _ in sys.stdin:
        print("{}", flush=True)


main()
