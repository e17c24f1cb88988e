"""Prints each member of Firebase's message by Google's discovery document, in the PyPI package google-api-python-client:
its path, an object with a value of its type, and one with a value of another type, as an array a line."""

import json

from googleapiclient.discovery_cache import get_static_doc

SCHEMAS = json.loads(get_static_doc("fcm", "v1"))["schemas"]
WRONG = {"string": 7, "boolean": "yes", "integer": 0.5, "number": "1", "array": {}, "object": []}


def examples(schema):
    """A value of the type, and one of another type."""
    kind = schema["type"]
    if "enum" in schema:
        return schema["enum"][-1], "NONE_OF_THESE"
    if schema.get("format") == "google-duration":
        return "3.5s", "3.5"
    if schema.get("format") == "google-datetime":
        return "2026-12-31T23:59:59Z", "tomorrow"
    if kind == "array":
        right, wrong = examples(schema["items"])
        return [right], [wrong]
    if kind == "object":
        items = schema["additionalProperties"]
        return {"own": "x"}, [] if items["type"] == "any" else {"own": 7}
    right = {"boolean": True, "integer": 3, "number": 0.5}.get(kind, "x")
    return right, WRONG[kind]


def members(schema, path):
    for name, member in schema.get("properties", {}).items():
        if "$ref" in member:
            yield from members(SCHEMAS[member["$ref"]], path + [name])
        else:
            yield path + [name], member


def nested(path, value):
    for name in reversed(path):
        value = {name: value}
    return value


for path, schema in members(SCHEMAS["Message"], []):
    right, wrong = examples(schema)
    # These are strings with a form that the document describes in words.
    right = {"color": "#00aa77", "link": "https://a.example"}.get(path[-1], right)
    print(json.dumps([".".join(path), nested(path, right), nested(path, wrong)]))
