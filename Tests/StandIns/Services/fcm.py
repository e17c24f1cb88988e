"""A stand-in for Firebase Cloud Messaging (HTTP v1) and Google's token service, which refuses what they refuse.

usage: fcm.py FOLDER
FOLDER receives service-account.json. The same lines on standard input and output as hub.py; rules go by device
token, "/token" for the token service, or "*" for all devices; a step is {"error": "UNREGISTERED", "status": 404,
"headers": {…}, "raw": "…", "times": n, "act": "answer|drop|silence|garbage|endless|heads"}: an error of ERRORS
brings its status and its body.
{"do": "revoke"} ends all access tokens; {"do": "life", "seconds": n} is how long new ones are valid.
{"do": "requests"} gives each message with the number of collapse keys of its device, and "exchanges", how
often an access token was asked for since the last time. "chaos" and "delivered" are as in hub.py.
"""

import base64
import json
import os
import re
import sys
import time
import urllib.parse

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

import service
from service import Refusal

PROJECT, EMAIL, KEY_ID = "richpush-test", "sender@richpush-test.iam.gserviceaccount.com", "0123abcd"
SCOPES = {"https://www.googleapis.com/auth/" + name for name in ("firebase.messaging", "cloud-platform")}
FCM_ERROR = "type.googleapis.com/google.firebase.fcm.v1.FcmError"

# firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode: HTTP status, google.rpc.Code.
ERRORS = {
    "UNREGISTERED": (404, "NOT_FOUND"), "INVALID_ARGUMENT": (400, "INVALID_ARGUMENT"),
    "SENDER_ID_MISMATCH": (403, "PERMISSION_DENIED"), "QUOTA_EXCEEDED": (429, "RESOURCE_EXHAUSTED"),
    "UNAVAILABLE": (503, "UNAVAILABLE"), "INTERNAL": (500, "INTERNAL"),
    "THIRD_PARTY_AUTH_ERROR": (401, "UNAUTHENTICATED"), "UNSPECIFIED_ERROR": (500, "UNKNOWN"),
}

HTML = "<!DOCTYPE html><title>Error 502 (Server Error)!!1</title><p>That’s an error."
# A Retry-After holds up the whole lane, and silence one of few connections: they come less often than the rest.
FAULTS = 18 * [{"error": "INTERNAL"}, {"act": "drop"}, {"status": 502, "raw": HTML}] + [
    {"act": "silence"}, {"error": "UNAVAILABLE", "headers": {"Retry-After": "1"}},
]

# The schemas of the API's discovery document (fcm/v1): names and types of all members.
DURATION, STRINGS, ANY = "duration", "strings", "any"
NOTIFICATION = {"title": str, "body": str, "image": str}
ANDROID_NOTIFICATION = {
    **NOTIFICATION, **dict.fromkeys(
        "icon color sound tag clickAction bodyLocKey titleLocKey channelId ticker eventTime".split(), str),
    "visibility": {"PRIVATE", "PUBLIC", "SECRET"},
    "notificationPriority": {"PRIORITY_" + name for name in ("MIN", "LOW", "DEFAULT", "HIGH", "MAX")},
    **dict.fromkeys(
        "sticky localOnly defaultSound defaultVibrateTimings defaultLightSettings".split(), bool),
    "bodyLocArgs": list, "titleLocArgs": list, "vibrateTimings": list, "notificationCount": int,
    "lightSettings": ANY}
SCHEMA = {
    "validateOnly": bool,
    "message": {
        "name": str, "data": STRINGS, "notification": NOTIFICATION, "token": str, "fid": str, "topic": str,
        "condition": str, "webpush": ANY, "apns": ANY, "fcmOptions": {"analyticsLabel": str},
        "android": {
            "collapseKey": str, "priority": {"NORMAL", "HIGH"}, "ttl": DURATION,
            "restrictedPackageName": str, "data": STRINGS, "notification": ANDROID_NOTIFICATION,
            "fcmOptions": {"analyticsLabel": str}, "directBootOk": bool}}}


class Invalid(Exception):
    def __init__(self, field, text):
        super().__init__(text)
        self.field = field


def check_strings(value, path):
    for name, text in value.items():
        if not isinstance(text, str):
            raise Invalid(f"{path}.{name}", "not a text")
        if name in ("from", "message_type") or name.startswith(("google", "gcm")):
            raise Invalid(f"{path}.{name}", "a reserved name")


def check_type(schema, value, path):
    """The value, with names as in the schema: JSON of Protocol Buffers allows both spellings."""
    if isinstance(schema, dict):
        if not isinstance(value, dict):
            raise Invalid(path, "not an object")
        result = {}
        for name, member in value.items():
            known = re.sub("_([a-z])", lambda match: match[1].upper(), name)
            if known not in schema or known in result:
                raise Invalid(f"{path}.{name}", "unknown name")
            result[known] = check_type(schema[known], member, f"{path}.{known}".lstrip("."))
        return result
    if schema == STRINGS:
        check_strings(value, path)
    elif schema == DURATION:
        if not re.fullmatch(r"\d+(\.\d{1,9})?s", value) or float(value[:-1]) > 2_419_200:
            raise Invalid(path, "no duration of at most four weeks")
    elif isinstance(schema, set):
        if value.upper() not in schema:
            raise Invalid(path, "unknown value")
    elif schema != ANY and type(value) is not schema:
        raise Invalid(path, "wrong type")
    return value


def check_message(fcm, request):
    """Everything that the API says of a message to a device; its token."""
    message = request["message"]
    if len({"fid", "token", "topic", "condition"} & message.keys()) != 1:
        raise Invalid("message", "exactly one of fid, token, topic and condition is required")
    token = message.get("fid") or message.get("token", "")
    if not re.fullmatch(r"[-\w:]+", token) or token.startswith("richpush-check"):
        raise Invalid("message.token", "The registration token is not a valid FCM registration token")
    android = message.get("android", {})
    notification = {**message.get("notification", {}), **android.get("notification", {})}
    texts = {**message.get("data", {}), **android.get("data", {})}
    if sum(len(text.encode()) for pair in texts.items() for text in pair) > 4096:
        raise Invalid("message", "Message is too big")
    if len(json.dumps(message, ensure_ascii=False).encode()) > 4096 + 1024:
        raise Invalid("message", "Message is too big")
    if not notification.get("image", "https://").startswith(("https://", "http://")):
        raise Invalid("message.notification.image", "no address")
    return token


def decoded(part):
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def check_assertion(fcm, body):
    """RFC 7523, as Google's token service applies it."""
    form = urllib.parse.parse_qs(body.decode(), strict_parsing=True)
    if form["grant_type"] != ["urn:ietf:params:oauth:grant-type:jwt-bearer"]:
        raise Refusal(400, "unsupported_grant_type")
    head, claims, signature = form["assertion"][0].split(".")
    header, claim = json.loads(decoded(head)), json.loads(decoded(claims))
    try:
        fcm.key.public_key().verify(
            decoded(signature), f"{head}.{claims}".encode(), padding.PKCS1v15(), hashes.SHA256())
    except InvalidSignature:
        raise Refusal(400, "Invalid JWT Signature.")
    if (header["alg"], header["kid"]) != ("RS256", KEY_ID) or "=" in form["assertion"][0]:
        raise Refusal(400, "Invalid JWT.")
    # Google's own libraries name this audience, whatever the address of the token service.
    if claim["iss"] != EMAIL or claim["aud"] not in (fcm.url + "/token", "https://oauth2.googleapis.com/token"):
        raise Refusal(400, "Invalid account or audience.")
    if not set(claim["scope"].split()) & SCOPES:
        raise Refusal(400, "Invalid scope.")
    if abs(claim["iat"] - time.time()) > 300 or not 0 < claim["exp"] - claim["iat"] <= 3600:
        raise Refusal(400, "Invalid JWT: Token must be a short-lived token (60 minutes).")


def error_body(status, code, message, *details):
    return json.dumps(
        {"error": {"code": status, "message": message, "status": code, "details": list(details)}})


class FCMHandler(service.Handler):
    def judge(self, body):
        if self.path == "/token":
            return self.exchange(body)
        fcm = self.server
        with fcm.lock:
            end = fcm.tokens.get((self.headers["Authorization"] or "").removeprefix("Bearer "), 0)
        if end < time.time():
            raise Refusal(401, error_body(401, "UNAUTHENTICATED", "Invalid authentication credentials."))
        if self.path != f"/v1/projects/{PROJECT}/messages:send":
            raise Refusal(403, error_body(403, "PERMISSION_DENIED", "Permission denied on resource project."))
        try:
            if not self.headers["Content-Type"].startswith("application/json"):
                raise Invalid("", "not JSON")
            request = check_type(SCHEMA, json.loads(body), "")
            token = check_message(fcm, request)
        except Invalid as invalid:
            violation = {"field": invalid.field, "description": str(invalid)}
            raise Refusal(400, error_body(
                400, "INVALID_ARGUMENT", str(invalid),
                {"@type": FCM_ERROR, "errorCode": "INVALID_ARGUMENT"},
                {"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [violation]}))
        return self.take(token, request)

    def take(self, token, request):
        fcm, message = self.server, request["message"]
        with fcm.lock:
            key = message.get("android", {}).get("collapseKey")
            keys = fcm.keys.setdefault(token, set())
            keys |= {key} if key else set()
            fcm.requests.append({"token": token, "message": message, "keys": len(keys)})
            step = service.chaotic(fcm, service.next_step(fcm, token))

        def delivered():
            with fcm.lock:
                fcm.delivered.append(
                    [message.get("data", {}).get("richId", ""), token, json.dumps(message), str(time.time())])

        return self.completed(step), None if request.get("validateOnly") else delivered

    def exchange(self, body):
        fcm = self.server
        with fcm.lock:
            fcm.exchanges += 1
            steps = fcm.rules.get("/token", [{}])
            step = self.completed(steps.pop(0) if len(steps) > 1 else steps[0])
            if step["status"] == 200 and "raw" not in step:
                check_assertion(fcm, body)
                token = "ya29." + os.urandom(16).hex()
                fcm.tokens[token] = time.time() + fcm.life
                step["raw"] = json.dumps(
                    {"access_token": token, "expires_in": fcm.life, "token_type": "Bearer"})
        return step, None

    def completed(self, step):
        """A step with its status and its body."""
        step = dict(step)
        if "error" in step:
            status, code = ERRORS[step["error"]]
            detail = {"@type": FCM_ERROR, "errorCode": step["error"]}
            step.setdefault("status", status)
            step.setdefault("raw", error_body(status, code, step["error"], detail, *step.get("details", [])))
        # The standard step of all stand-ins is 201.
        if step.get("status", 201) == 201:
            step["status"] = 200
        return step

    def content(self, step):
        if "raw" in step or step["status"] != 200:
            return super().content(step)
        return json.dumps({"name": f"projects/{PROJECT}/messages/{os.urandom(6).hex()}"}).encode()


def forget(fcm):
    fcm.rules, fcm.requests, fcm.delivered, fcm.exchanges = {}, [], [], 0
    fcm.tokens, fcm.keys, fcm.life = {}, {}, 3599
    fcm.chaos, fcm.faults = 0, FAULTS
    fcm.url = f"https://localhost:{fcm.server_address[1]}"
    if not hasattr(fcm, "key"):
        fcm.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        pem = fcm.key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        with open(sys.argv[1] + "/service-account.json", "w") as file:
            json.dump({
                "type": "service_account", "project_id": PROJECT, "private_key_id": KEY_ID,
                "private_key": pem.decode(), "client_email": EMAIL, "client_id": "1",
                "token_uri": fcm.url + "/token"}, file)


def obey(fcm, command):
    with fcm.lock:
        if command["do"] == "reset":
            forget(fcm)
        elif command["do"] == "rules":
            fcm.rules = command["rules"]
        elif command["do"] == "revoke":
            fcm.tokens = {}
        elif command["do"] == "life":
            fcm.life = command["seconds"]
        elif command["do"] == "chaos":
            service.set_chaos(fcm, command, FAULTS)
        elif command["do"] == "delivered":
            return {"pushes": fcm.delivered}
        elif command["do"] == "requests":
            seen, fcm.requests = fcm.requests, []
            count, fcm.exchanges = fcm.exchanges, 0
            return {"requests": seen, "exchanges": count}
        return {}


service.run(FCMHandler, forget, obey)
