"""Judges requests to Firebase by Google's own description of the API, and by what Google's own client would send.

Standard input: a JSON object a line, {"request": {…}} and, to be compared with firebase-admin, {"said": {…}}: the
message, in richpush's vocabulary, with what else the push has. Prints a line for each: "right", or what is wrong.
"""

import datetime
import json
import re
import sys
import warnings

import jsonschema_rs
from firebase_admin import _messaging_encoder, messaging
from googleapiclient.discovery_cache import get_static_doc

FORMATS = {
    "google-duration": {"pattern": r"^-?\d+(\.\d{1,9})?s$"},
    "google-datetime": {"pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$"},
    "int32": {"minimum": -2**31, "maximum": 2**31 - 1}, "int64": {"pattern": r"^-?\d+$"}, "float": {}}


def strict(schema):
    """A schema of a discovery document as a JSON schema, in which nothing is that it does not name."""
    if "$ref" in schema:
        return {"$ref": "#/$defs/" + schema["$ref"]}
    if schema["type"] == "any":
        return {}
    result = {"type": schema["type"]}
    if "enum" in schema:
        result["enum"] = schema["enum"]
    if "format" in schema:
        result |= FORMATS[schema["format"]]
    if "items" in schema:
        result["items"] = strict(schema["items"])
    if schema["type"] == "object":
        result["properties"] = {name: strict(one) for name, one in schema.get("properties", {}).items()}
        others = schema.get("additionalProperties")
        result["additionalProperties"] = strict(others) if others else False
    return result


# Registration tokens, which it calls deprecated, are what devices have.
warnings.simplefilter("ignore", DeprecationWarning)
schemas = json.loads(get_static_doc("fcm", "v1"))["schemas"]
judge = jsonschema_rs.validator_for(
    {"$defs": {name: strict(one) for name, one in schemas.items()}, "$ref": "#/$defs/SendMessageRequest"})


def text(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def built(said):
    """The message as firebase-admin builds it."""
    message, media, shows = said["message"], said.get("media"), said["kind"] == "notification"
    sound = message.get("sound")
    data = {name: message.get(name) for name in ["link", "category", "thread", "replaces", "icon"]}
    data |= {"richId": said.get("id"), "richType": said.get("richType")}
    data |= {name: text(message[name]) for name in ["actions", "data"] if name in message}
    notification, android = None, None
    if shows:
        lines = [message.get("subtitle"), message.get("message")]
        is_picture = media and media["type"].startswith("image/") and media["size"] <= 1_000_000
        notification = messaging.Notification(
            message.get("title"), "\n".join(filter(None, lines)), media["url"] if is_picture else None)
        importance = message.get("importance")
        shown = {
            "tag": said.get("collapseID"), "channel_id": message.get("channel"), "color": message.get("colour"),
            "visibility": message.get("lockScreen"),
            "priority": {"normal": "default", "urgent": "max"}.get(importance, importance),
            "default_sound": True if sound == "default" else None,
            "sound": sound if isinstance(sound, str) and sound not in ["default", "none"] else None}
        android = messaging.AndroidNotification(**shown) if any(shown.values()) else None
    else:
        names = {"richTitle": "title", "richSubtitle": "subtitle", "richMessage": "message"}
        data |= {name: message.get(member) for name, member in names.items()}
        data["richMessage"] = data["richMessage"] or ""
        data |= {name: message.get(name) for name in ["importance", "lockScreen", "colour", "channel"]}
        data["sound"] = "critical" if isinstance(sound, dict) else sound
        data["tag"] = said.get("collapseID") if "replaces" in message else None
        if media:
            data |= {"attUrl": media["url"], "attType": media["type"], "attSize": str(media["size"]),
                     "attAlt": message.get("alt")}
    is_calm = message.get("importance") in ["min", "low"]
    label = message.get("label")
    return json.loads(json.dumps(messaging.Message(
        data={name: value for name, value in data.items() if value is not None}, notification=notification,
        android=messaging.AndroidConfig(
            collapse_key=said.get("collapseID"), priority="normal" if is_calm else "high",
            ttl=datetime.timedelta(seconds=said["life"]), notification=android),
        fcm_options=messaging.FCMOptions(label) if label else None, **said["target"]),
        cls=_messaging_encoder.MessageEncoder))


def spelled(schema, value):
    """The value, spelled as the schema spells it: JSON of Protocol Buffers may have either spelling of a name."""
    if "$ref" in schema:
        return spelled(schemas[schema["$ref"]], value)
    if "enum" in schema:
        return value.upper()
    if "properties" not in schema:
        return value
    names = {name: re.sub("_(.)", lambda match: match[1].upper(), name) for name in value}
    return {names[name]: spelled(schema["properties"][names[name]], member) for name, member in value.items()}


for line in sys.stdin:
    case = json.loads(line)
    request = case["request"]
    faults = [f"{'/'.join(map(str, error.instance_path))}: {error.message}" for error in judge.iter_errors(request)]
    if not faults and "said" in case:
        expected = spelled(schemas["Message"], built(case["said"]))
        # An empty map is none.
        if text(expected) != text({name: value for name, value in request["message"].items() if value != {}}):
            faults = [f"firebase-admin sends {text(expected)}"]
    print("; ".join(faults).replace("\n", " ") or "right")
