"""A stand-in for a Web Push service (RFC 8030) and its receivers, which refuses what the real ones refuse.

usage: webpush.py FOLDER
The same lines on standard input and output as hub.py; rules go by subscription or "*"; a step is
{"status": 410, "headers": {…}, "raw": "…", "times": n, "act": "answer|drop|silence|garbage|endless|heads"}.
{"do": "subscribe", "name": "a"} makes a subscription and answers {"endpoint", "p256dh", "auth"}; its pushes are
decrypted. {"do": "key", "key": "…"} binds all subscriptions to a VAPID key, as browsers do.
{"do": "requests"} gives each push with its header fields, the length of its body, and its text.
"chaos" and "delivered" are as in hub.py; instead of an id there is the topic.
"""

import base64
import json
import os
import re
import struct
import time

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

import service
from service import Refusal


# A Retry-After holds up the whole lane: it comes less often than the rest.
FAULTS = 30 * [{"status": 500}, {"act": "drop"}] + [
    {"act": "silence"}, {"status": 503, "headers": {"Retry-After": "1"}},
    {"status": 429, "reason": "TooManyRequests", "headers": {"Retry-After": "2"}},
]


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


def check_vapid(push, authorization, host):
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
    if push.key not in (None, parts["k"]):
        raise Refusal(403, "the subscription belongs to another key")
    claims = json.loads(decoded(claims))
    if claims["aud"] != f"https://{host}":
        raise Refusal(403, "wrong audience")
    if not time.time() < claims["exp"] <= time.time() + 86_400:
        raise Refusal(403, "expired, or too long")
    if not claims.get("sub", "").startswith(("mailto:", "https:")):
        raise Refusal(403, "no contact")


def check(push, headers, path, body):
    """The name of the subscription, and the text of the push."""
    name = path.removeprefix("/push/")
    if name not in push.subscriptions:
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
    check_vapid(push, headers.get("Authorization", ""), headers["Host"])
    return name, push.subscriptions[name].decrypt(body)


class PushHandler(service.Handler):
    def judge(self, body):
        push = self.server
        name, text = check(push, self.headers, self.path, body)
        with push.lock:
            push.requests.append(
                {"name": name, "headers": dict(self.headers), "length": len(body), "text": text})
            step = service.chaotic(push, service.next_step(push, name))

        def delivered():
            with push.lock:
                push.delivered.append([self.headers.get("Topic", ""), name, text, str(time.time())])

        return step, delivered

    def location(self):
        return f"https://{self.headers['Host']}/m/{encoded(os.urandom(6))}"


def forget(push):
    push.rules, push.requests, push.subscriptions, push.key = {}, [], {}, None
    push.delivered, push.chaos, push.faults = [], 0, FAULTS


def obey(push, command):
    with push.lock:
        if command["do"] == "reset":
            forget(push)
        elif command["do"] == "rules":
            push.rules = command["rules"]
        elif command["do"] == "key":
            push.key = command["key"]
        elif command["do"] == "chaos":
            service.set_chaos(push, command, FAULTS)
        elif command["do"] == "delivered":
            return {"pushes": push.delivered}
        elif command["do"] == "subscribe":
            subscription = push.subscriptions[command["name"]] = Subscription()
            return {"endpoint": f"https://localhost:{push.server_address[1]}/push/{command['name']}",
                    "p256dh": encoded(subscription.public), "auth": encoded(subscription.secret)}
        elif command["do"] == "requests":
            seen, push.requests = push.requests, []
            return {"requests": seen}
        return {}


service.run(PushHandler, forget, obey)
