"""A stand-in for Apple's push service: real HTTP/2 over TLS, Apple's rules, and faults on demand.

usage: apns.py FOLDER
FOLDER receives the team's new key as key.p8 and the certificate authority as ca.pem.
Every header field and every key of `aps` must be one that Apple's documentation has for the push type.
Standard output: one JSON object per line, first {"port": …}, then an answer per command.
Standard input: one command per line:
  {"do": "reset"}                      forgets all that was said and seen
  {"do": "rules", "rules": {"<device token or *>": [step, …]}}   the last step stays
  {"do": "settings", "streams": N}     SETTINGS_MAX_CONCURRENT_STREAMS on every connection
  {"do": "key", "pem": "…"}            replaces the team's key
  {"do": "chaos", "rate": 0.1, "seed": 1, "without": [act or reason, …]}
                                       makes that share of all calls fail, in every way but those
  {"do": "delivered"}                  answers with [id, device token, text, time] of every push taken
  {"do": "requests"}                   answers with everything that came since the last time
  {"do": "release"}                    answers what is held, and holds nothing any more
  {"do": "mute", "isMute": true}       answers nothing at all on any connection, or does so again
A step: {"status": 410, "reason": "Unregistered", "timestamp": ms, "delay": seconds, "isHeld": true,
"headers": {…}, "act": "answer|reset|goaway|drop|silence|garbage|endless", "raw": text, "times": n}:
raw is sent so many times instead of the reason; garbage is no HTTP, and endless a body without an end.
"""

import asyncio
import base64
import json
import random
import re
import shutil
import sys
import time

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.settings
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils

from certificates import server_context

KEY_ID, TEAM_ID, TOPIC = "ABC123DEFG", "DEF123GHIJ", "com.example.richpush"
UUID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

# What ends a whole connection, or holds a push up for long, comes less often than the rest.
FAULTS = 6 * [
    {"status": 500, "reason": "InternalServerError"},
    {"status": 503, "reason": "ServiceUnavailable"},
    {"status": 200, "delay": 0.3},
    {"act": "reset"},
] + 2 * [
    {"status": 429, "reason": "TooManyRequests"}, {"act": "goaway"}, {"act": "drop"},
] + [{"act": "silence"}]


class Refusal(Exception):
    def __init__(self, status, reason):
        super().__init__(reason)
        self.status, self.reason = status, reason


def text(value):
    return isinstance(value, str)


def number(low, high=float("inf"), kind=(int, float)):
    return lambda value: isinstance(value, kind) and not isinstance(value, bool) and low <= value <= high


def one_of(*values):
    return lambda value: any(type(value) is type(known) and value == known for known in values)


def texts(value):
    return isinstance(value, list) and all(map(text, value))


def members(**known):
    return {name.replace("_", "-"): check for name, check in known.items()}


# developer.apple.com, "Generating a remote notification": the keys of `aps` and what they hold. Apple drops in silence
# what is none of them; this stand-in refuses it, so that no sender believes that it was shown.
ALERT = members(
    title=text, subtitle=text, body=text, launch_image=text, title_loc_key=text, title_loc_args=texts,
    subtitle_loc_key=text, subtitle_loc_args=texts, loc_key=text, loc_args=texts)
SOUND = {"critical": one_of(0, 1), "name": text, "volume": number(0, 1)}
KEYS = members(
    alert=(text, ALERT), badge=number(0, kind=int), sound=(text, SOUND), thread_id=text, category=text,
    content_available=one_of(1), mutable_content=one_of(1), target_content_id=text,
    interruption_level=one_of("passive", "active", "time-sensitive", "critical"), relevance_score=number(0, 1),
    filter_criteria=text)
# What wakes an app shows and sounds nothing; the empty sound is that of Azure's tutorial.
PUSH_TYPES = {
    "alert": (KEYS, ["10", "5", "1"]),
    "background": ({"content-available": one_of(1), "sound": one_of("")}, ["5"]),
}
# "Sending notification requests to APNs": its own header fields for these push types.
FIELDS = {"apns-id", "apns-push-type", "apns-priority", "apns-topic", "apns-expiration", "apns-collapse-id"}


def fits(value, check):
    """Whether a value is as its check, one of several, or the members of an object are as theirs."""
    if isinstance(check, tuple):
        return any(fits(value, one) for one in check)
    if isinstance(check, dict):
        return isinstance(value, dict) and all(
            name in check and fits(member, check[name]) for name, member in value.items())
    return check(value)


def once(pairs):
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError("a name twice")
    return dict(pairs)


def check_payload(body, kind):
    """Refuses what Apple's documentation does not have, by the name of the first key that is wrong."""
    try:
        payload = json.loads(body.decode(), object_pairs_hook=once)
        aps = payload["aps"]
    except (ValueError, KeyError, TypeError):
        raise Refusal(400, "NoPayload")
    keys, _ = PUSH_TYPES[kind]
    if not isinstance(aps, dict):
        raise Refusal(400, "WrongKey aps")
    for name, value in aps.items():
        if name not in keys or not fits(value, keys[name]):
            raise Refusal(400, "WrongKey " + name)
    shown = {"alert", "badge", "sound"} if kind == "alert" else {"content-available"}
    if not shown & aps.keys():
        raise Refusal(400, "InvalidPushType")


def decoded(part):
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


class Service:
    def __init__(self, public_key):
        self.team_key = public_key
        self.connections = set()
        self.reset()

    def reset(self):
        self.public_key = self.team_key
        self.rules, self.requests, self.delivered = {}, [], []
        self.opened, self.most_streams = 0, 0
        self.streams, self.chaos, self.faults = 100, 0, FAULTS
        self.is_mute = False
        self.released = asyncio.Event()

    def check_token(self, authorization, connection):
        if not authorization.startswith("bearer "):
            raise Refusal(403, "MissingProviderToken")
        token = authorization[7:]
        try:
            header, claims, signature = token.split(".")
            fields, claim = json.loads(decoded(header)), json.loads(decoded(claims))
            raw = decoded(signature)
            assert len(raw) == 64 and "=" not in token
            self.public_key.verify(
                utils.encode_dss_signature(
                    int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big")),
                f"{header}.{claims}".encode(), ec.ECDSA(hashes.SHA256()))
            assert fields["alg"] == "ES256" and fields["kid"] == KEY_ID
            assert claim["iss"] == TEAM_ID and isinstance(claim["iat"], int)
        except (ValueError, KeyError, AssertionError, InvalidSignature):
            raise Refusal(403, "InvalidProviderToken")
        if abs(time.time() - claim["iat"]) > 3600:
            raise Refusal(403, "ExpiredProviderToken")
        if connection.issued is not None and 0 < claim["iat"] - connection.issued < 1200:
            raise Refusal(429, "TooManyProviderTokenUpdates")
        connection.issued = claim["iat"]

    def check(self, headers, body, connection):
        """Apple's own rules, in the order in which Apple seems to apply them."""
        if headers[":method"] != "POST":
            raise Refusal(405, "MethodNotAllowed")
        match = re.fullmatch("/3/device/([^/]*)", headers[":path"])
        if not match:
            raise Refusal(404, "BadPath")
        self.check_token(headers.get("authorization", ""), connection)
        if headers.get("apns-topic") != TOPIC:
            raise Refusal(400, "BadTopic" if "apns-topic" in headers else "MissingTopic")
        if not UUID.fullmatch(headers.get("apns-id", "")):
            raise Refusal(400, "BadMessageId")
        for name in headers:
            if name.startswith("apns-") and name not in FIELDS:
                raise Refusal(400, "WrongField " + name)
        kind, priority = headers.get("apns-push-type"), headers.get("apns-priority", "10")
        if kind not in PUSH_TYPES:
            raise Refusal(400, "InvalidPushType")
        if priority not in PUSH_TYPES[kind][1]:
            raise Refusal(400, "BadPriority")
        if len(headers.get("apns-collapse-id", "").encode()) > 64:
            raise Refusal(400, "BadCollapseId")
        if not re.fullmatch("[0-9]+", headers.get("apns-expiration", "0")):
            raise Refusal(400, "BadExpirationDate")
        if not body:
            raise Refusal(400, "PayloadEmpty")
        if len(body) > 4096:
            raise Refusal(413, "PayloadTooLarge")
        check_payload(body, kind)
        if not re.fullmatch("([0-9a-fA-F]{2})+", match[1]):
            raise Refusal(400, "BadDeviceToken")
        return match[1]

    def step(self, token):
        if random.random() < self.chaos:
            return dict(random.choice(self.faults))
        steps = self.rules.get(token) or self.rules.get("*") or [{"status": 200}]
        return steps.pop(0) if len(steps) > 1 else steps[0]


class Connection(asyncio.Protocol):
    def __init__(self, service):
        self.service, self.issued, self.streams = service, None, {}
        self.underway = 0

    def connection_made(self, transport):
        self.transport = transport
        self.h2 = h2.connection.H2Connection(
            h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        self.h2.initiate_connection()
        # As Apple does: one stream until the first good token.
        self.allow_streams(1)
        self.service.connections.add(self)
        self.service.opened += 1

    def connection_lost(self, error):
        self.service.connections.discard(self)

    def allow_streams(self, count):
        self.h2.update_settings(
            {h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS: count})
        self.flush()

    def flush(self):
        self.transport.write(self.h2.data_to_send())

    def data_received(self, data):
        try:
            events = self.h2.receive_data(data)
        except h2.exceptions.ProtocolError:
            self.flush()
            return self.transport.close()
        for event in events:
            if isinstance(event, h2.events.RequestReceived):
                self.streams[event.stream_id] = (dict(event.headers), bytearray())
            elif isinstance(event, h2.events.DataReceived):
                self.streams[event.stream_id][1].extend(event.data)
                self.h2.acknowledge_received_data(
                    event.flow_controlled_length, event.stream_id)
            elif isinstance(event, h2.events.StreamEnded):
                self.underway += 1
                self.service.most_streams = max(self.service.most_streams, self.underway)
                asyncio.ensure_future(self.handle(event.stream_id))
        self.flush()

    async def handle(self, stream):
        headers, body = self.streams.pop(stream)
        request = {"headers": headers, "body": body.decode("utf-8", "replace")}
        self.service.requests.append(request)
        if self.service.is_mute:
            return
        first = self.issued is None
        try:
            step = self.service.step(self.service.check(headers, body, self))
            if first:
                self.allow_streams(self.service.streams)
        except Refusal as refusal:
            step = {"status": refusal.status, "reason": refusal.reason}
        request["step"] = step
        if "delay" in step:
            await asyncio.sleep(step["delay"])
        if step.get("isHeld"):
            await self.service.released.wait()
        self.underway -= 1
        if self.transport.is_closing():
            return
        getattr(self, step.get("act", "answer"))(stream, request, step)
        self.flush()

    def answer(self, stream, request, step):
        headers = request["headers"]
        fields = [(":status", str(step["status"])), ("apns-id", headers.get("apns-id", ""))]
        fields += list(step.get("headers", {}).items())
        if "raw" in step:
            self.h2.send_headers(stream, fields)
            return asyncio.ensure_future(self.pour(stream, step["raw"].encode(), step.get("times", 1)))
        if step["status"] == 200:
            self.service.delivered.append(
                [headers["apns-id"], headers[":path"].rsplit("/", 1)[1], request["body"], str(time.time())])
            return self.h2.send_headers(stream, fields, end_stream=True)
        body = {"reason": step["reason"]}
        if "timestamp" in step:
            body["timestamp"] = step["timestamp"]
        self.h2.send_headers(stream, fields)
        self.h2.send_data(stream, json.dumps(body).encode(), end_stream=True)

    def endless(self, stream, request, step):
        self.answer(stream, request, {"raw": 4096 * "{", "times": sys.maxsize, **step})

    async def pour(self, stream, piece, times):
        """Sends a body in pieces, as fast as the client takes them, until it has had enough."""
        data, left = piece * min(times, 1 + 16_000 // len(piece)), len(piece) * times
        while left and not self.transport.is_closing():
            try:
                room = min(left, len(data), self.h2.local_flow_control_window(stream), 16_384)
                left -= room
                self.h2.send_data(stream, data[:room], end_stream=left == 0)
            except h2.exceptions.ProtocolError:
                return
            self.flush()
            await asyncio.sleep(0)

    def garbage(self, stream, request, step):
        self.transport.write(b"\x00\xffThis is no HTTP.\r\n\r\n" * 10)

    def reset(self, stream, request, step):
        self.h2.reset_stream(stream, h2.errors.ErrorCodes.REFUSED_STREAM)

    def goaway(self, stream, request, step):
        """Nothing from this stream on was looked at; the client may send it elsewhere."""
        self.h2.close_connection(
            additional_data=json.dumps({"reason": step.get("reason", "Shutdown")}).encode(),
            last_stream_id=max(0, stream - 2))
        self.flush()
        self.transport.close()

    def drop(self, stream, request, step):
        self.transport.abort()

    def silence(self, stream, request, step):
        pass


def obey(service, command):
    if command["do"] == "reset":
        service.reset()
    elif command["do"] == "rules":
        service.rules = command["rules"]
    elif command["do"] == "settings":
        service.streams = command["streams"]
        for connection in service.connections:
            connection.allow_streams(command["streams"])
    elif command["do"] == "key":
        service.public_key = serialization.load_pem_private_key(
            command["pem"].encode(), None).public_key()
    elif command["do"] == "chaos":
        random.seed(command["seed"])
        service.chaos = command["rate"]
        service.faults = [
            fault for fault in FAULTS
            if not {fault.get("act"), fault.get("reason")} & set(command.get("without", []))]
    elif command["do"] == "mute":
        service.is_mute = command["isMute"]
    elif command["do"] == "release":
        service.released.set()
    elif command["do"] == "delivered":
        return {"pushes": service.delivered, "opened": service.opened}
    elif command["do"] == "requests":
        seen, service.requests = service.requests, []
        most, service.most_streams = service.most_streams, 0
        return {"requests": seen, "opened": service.opened, "mostStreams": most}
    return {}


async def main(folder):
    key = ec.generate_private_key(ec.SECP256R1())
    with open(folder + "/key.p8", "wb") as file:
        file.write(key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption()))
    service = Service(key.public_key())
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: Connection(service), "127.0.0.1", 0, ssl=server_context(folder, ["h2"]))
    print(json.dumps({"port": server.sockets[0].getsockname()[1]}), flush=True)
    while True:
        line = await loop.run_in_executor(None, sys.stdin.readline)
        if not line:
            break
        print(json.dumps(obey(service, json.loads(line))), flush=True)


try:
    asyncio.run(main(sys.argv[1]))
finally:
    shutil.rmtree(sys.argv[1])
