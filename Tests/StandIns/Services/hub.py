"""A stand-in for Azure Notification Hubs, which checks signatures for itself, and for webhooks.

usage: hub.py FOLDER
The same lines on standard input and output as apns.py; rules go by device handle, tag expression
or "*", after the format and a space for formats other than apple; a step is {"status": 403, "headers": {…}, "detail": "…", "raw": "…", "times": n, "act":
"answer|drop|silence|garbage|endless|heads"}: raw is sent so many times as the body, garbage is no HTTP, and
a body or a head without an end is what the last two send.
"chaos" and "delivered" are as there; the id is that of a webhook, and empty for the hub.
{"do": "devices", "devices": {"<handle>": [tag, …]}, "format": "fcmv1"} registers devices of a format (apple without
one) with the hub itself, and each request tells in "reached" to which of them the hub brings it.
"""

import base64
import hashlib
import hmac
import json
import re
import time
import urllib.parse

import service
from service import Refusal

HUB, KEY_NAME = "phones", "DefaultFullSharedAccessSignature"
KEY = "c2VjcmV0IHRleHQgdGhhdCBsb29rcyBsaWtlIGJhc2U2NA=="
WEBHOOK_SECRET = base64.b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")


# A Retry-After holds up the whole lane, and silence a push: they come less often than the rest.
FAULTS = 18 * [{"status": 500}, {"act": "drop"}] + 2 * [{"act": "silence"}] + [
    {"status": 503, "headers": {"Retry-After": "1"}},
    {"status": 429, "reason": "TooManyRequests", "headers": {"Retry-After": "2"}},
]


def check_signature(authorization, host, path):
    scheme, _, rest = authorization.partition(" ")
    fields = dict(field.split("=", 1) for field in rest.split("&") if "=" in field)
    if scheme != "SharedAccessSignature" or fields.keys() != {"sr", "sig", "se", "skn"}:
        raise Refusal(401, "MalformedToken")
    code = hmac.new(KEY.encode(), f"{fields['sr']}\n{fields['se']}".encode(), hashlib.sha256)
    given = base64.b64decode(urllib.parse.unquote(fields["sig"]))
    if not hmac.compare_digest(code.digest(), given):
        raise Refusal(401, "InvalidSignature")
    if urllib.parse.unquote(fields["skn"]) != KEY_NAME:
        raise Refusal(401, "UnknownKeyName")
    if not time.time() < int(fields["se"]) < time.time() + 3700:
        raise Refusal(401, "ExpiredToken")
    resource = urllib.parse.unquote(fields["sr"])
    if resource != resource.lower() or not f"https://{host}{path}".lower().startswith(resource):
        raise Refusal(401, "The token is for " + resource)


def check_webhook(headers, body):
    message = f"{headers['Webhook-Id']}.{headers['Webhook-Timestamp']}.".encode() + body
    code = hmac.new(WEBHOOK_SECRET, message, hashlib.sha256).digest()
    if headers["Webhook-Signature"] != "v1," + base64.b64encode(code).decode():
        raise Refusal(401, "Bad signature.")
    if abs(int(headers["Webhook-Timestamp"]) - time.time()) > 300:
        raise Refusal(401, "Too old.")
    return json.loads(body).get("target", {}).get("handle", "*")


def reached(expression, devices):
    """The devices whose tags satisfy an expression of Azure's grammar, or a refusal."""
    words = re.findall(r"&&|\|\||[!()]|[-\w@#.:]+|\S", expression)
    tags = [word for word in words if re.fullmatch(r"[-\w@#.:]{1,120}", word)]
    if len(tags) > (6 if {"&&", "!"} & set(words) else 20):
        raise Refusal(400, "Too many tags.")
    spelled = {"&&": " and ", "||": " or ", "!": " not ", "(": "(", ")": ")"}
    try:
        code = "".join(spelled.get(word) or f"({tags.index(word)} in has)" for word in words)
        return [device for device, own in devices.items()
                if eval(code, {"has": {tags.index(tag) for tag in own if tag in tags}})]
    except (ValueError, SyntaxError):
        raise Refusal(400, "The tag expression cannot be read.")


def check_hub(headers, path, body):
    check_signature(headers["Authorization"] or "", headers["Host"], path)
    url = urllib.parse.urlsplit(path)
    query = urllib.parse.parse_qs(url.query, keep_blank_values=True)
    if url.path != f"/{HUB}/messages/":
        raise Refusal(404, "No such hub.")
    if "api-version" not in query:
        raise Refusal(400, "The api-version query parameter is missing.")
    if headers["Content-Type"] != "application/json;charset=utf-8":
        raise Refusal(400, "Wrong content type.")
    if len(body) > 4096:
        raise Refusal(413, "Too large.")
    format, notification = headers["ServiceBusNotification-Format"], json.loads(body)
    if format not in FORMATS:
        raise Refusal(400, "Unknown format.")
    version, check_format = FORMATS[format]
    if query["api-version"][0] < version:
        raise Refusal(400, "This version has no such format.")
    if format != "apple" and any("apns" in name.lower() for name in headers):
        raise Refusal(400, "Another format's field.")
    check_format(headers, notification)
    if ("direct" in query) != ("ServiceBusNotification-DeviceHandle" in headers):
        raise Refusal(400, "A direct send needs a device handle.")
    if not ("direct" in query or headers["ServiceBusNotification-Tags"]):
        raise Refusal(400, "Without tags it would go to everybody.")
    name = headers["ServiceBusNotification-DeviceHandle"] or headers["ServiceBusNotification-Tags"]
    return name if format == "apple" else f"{format} {name}"


def check_apple(headers, notification):
    kind, priority = headers["apns-push-type"], headers["apns-priority"]
    if (kind, priority) not in [("background", "5"), ("alert", "10"), ("alert", "5")]:
        raise Refusal(400, "Wrong push type or priority.")
    notification["aps"]


def check_firebase(headers, notification):
    """The hub sets the target."""
    if notification.keys() != {"message"} or {"token", "fid", "topic", "condition"} & notification["message"].keys():
        raise Refusal(400, "No message without a target.")


def check_browser(headers, notification):
    if "ServiceBusNotification-DeviceHandle" in headers and not {"P256DH", "Auth"} <= set(headers):
        raise Refusal(400, "A subscription has keys.")


# The formats of Microsoft's libraries that are known here, with the oldest version of the API that has each.
FORMATS = {
    "apple": ("2015-01", check_apple), "fcmv1": ("2015-01", check_firebase), "browser": ("2020-06", check_browser)}


class HubHandler(service.Handler):
    def judge(self, body):
        hub = self.server
        with hub.lock:
            hub.requests.append(
                {"path": self.path, "headers": dict(self.headers), "body": body.decode()})
        if self.path in ("/hook", "/events"):
            name = check_webhook(self.headers, body)
        else:
            name = check_hub(self.headers, self.path, body)
            tags = self.headers["ServiceBusNotification-Tags"]
            with hub.lock:
                devices = hub.devices.get(self.headers["ServiceBusNotification-Format"], {})
                hub.requests[-1]["reached"] = reached(tags, devices) if tags else []
        with hub.lock:
            step = service.chaotic(hub, service.next_step(hub, name))

        def delivered():
            with hub.lock:
                hub.delivered.append(
                    [self.headers["Webhook-Id"] or "", name, body.decode(), str(time.time())])

        return step, delivered

    def refused(self, refusal):
        return {"status": refusal.status, "detail": refusal.text}

    def location(self):
        return f"https://{self.headers['Host']}/{HUB}/messages/m-1?api-version=2015-04"

    def content(self, step):
        if "raw" in step or step["status"] < 300:
            return super().content(step)
        return (f"<Error><Code>{step['status']}</Code><Detail>{step.get('detail', '')}</Detail>"
                "</Error>").encode()


def forget(server):
    server.rules, server.requests, server.delivered = {}, [], []
    server.devices = {}
    server.chaos, server.faults = 0, FAULTS


def obey(server, command):
    with server.lock:
        if command["do"] == "reset":
            forget(server)
            return {}
        if command["do"] == "rules":
            server.rules = command["rules"]
            return {}
        if command["do"] == "devices":
            server.devices[command.get("format", "apple")] = command["devices"]
            return {}
        if command["do"] == "chaos":
            service.set_chaos(server, command, FAULTS)
            return {}
        if command["do"] == "delivered":
            return {"pushes": server.delivered}
        seen, server.requests = server.requests, []
        return {"requests": seen}


service.run(HubHandler, forget, obey)
