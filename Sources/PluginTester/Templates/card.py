#!/usr/bin/python3
"""The rich type NAME: a card with the payload as its text."""
import json
import os

text = os.fsencode(os.environ.get("RICH_PAYLOAD", "")).decode("utf-8", "replace")
if text:
    print("Content-Type: application/json\n")
    print(json.dumps({"type": "NAME", "text": text}, separators=(",", ":")))
else:
    print("Status: 422\nContent-Type: text/plain\n")
    print("The payload is the text of the card.")
