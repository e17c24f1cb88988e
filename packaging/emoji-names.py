#!/usr/bin/env python3
"""Makes Sources/Origin/Compatibility/Ntfy/emoji.txt: the short names of emoji, without skin tones.

    pip install emoji==2.16.0 && packaging/emoji-names.py

The names are Unicode's and GitHub's, as the package `emoji` (BSD licence) lists them.
"""

import pathlib
import re

import emoji

TARGET = pathlib.Path(__file__).parent.parent / "Sources/Origin/Compatibility/Ntfy/emoji.txt"
TONES = re.compile("[\U0001F3FB-\U0001F3FF]")
# GitHub's names are the aliases, but for two that another emoji had first.
UNICODE_FIRST = {"beetle", "egg"}

names = {}
for kind in ("alias", "en"):
    for character, entry in emoji.EMOJI_DATA.items():
        if entry["status"] > emoji.STATUS["fully_qualified"] or TONES.search(character):
            continue
        found = entry.get(kind, [])
        for name in [found] if isinstance(found, str) else found:
            name = name.strip(":")
            if not re.fullmatch(r"[a-z0-9_+-]{1,64}", name):
                continue
            if kind == "en" and name in UNICODE_FIRST:
                names[name] = character
            names.setdefault(name, character)
TARGET.write_text("".join(f"{name} {names[name]}\n" for name in sorted(names)))
print(f"{len(names)} names")
