#!/usr/bin/python3
"""The rich type NAME: a card of what was filled in, the fields of "form" in plugin.json."""
import json
import os

text = os.fsencode(os.environ.get("RICH_PAYLOAD", "")).decode("utf-8", "replace")
try:
    card = json.loads(text)
except (ValueError, RecursionError):
    card = None
# The server has checked each field; a title is what this plugin cannot do without.
if isinstance(card, dict) and card.get("title"):
    print("Content-Type: application/json\n")
    print(json.dumps({"type": "NAME"} | card, separators=(",", ":")))
else:
    print("Status: 422\nContent-Type: text/plain\n")
    print("A card has a title.")
