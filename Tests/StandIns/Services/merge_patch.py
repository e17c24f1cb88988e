"""Prints random JSON values with a merge patch and what the PyPI package json-merge-patch makes of them, one array a line.

usage: merge_patch.py COUNT
"""

import copy
import json
import random
import sys

import json_merge_patch

chance = random.Random(7396)
NAMES = ["a", "b", "c", "", "ä", "a/b"]


def value(depth):
    kind = chance.randrange(7 if depth else 5)
    if kind < 2:
        return [None, True][kind]
    if kind == 2:
        return chance.randrange(-3, 4)
    if kind == 3:
        return chance.choice(["", "x", "ü\u0001\n"])
    if kind == 4:
        return {}
    if kind == 5:
        return [value(depth - 1) for _ in range(chance.randrange(3))]
    return {name: value(depth - 1) for name in chance.sample(NAMES, chance.randrange(5))}


for _ in range(int(sys.argv[1])):
    # The package takes objects only as a whole; RFC 7396, appendix A, has the other cases.
    old, patch = ({name: value(3) for name in chance.sample(NAMES, chance.randrange(6))} for _ in range(2))
    merged = json_merge_patch.merge(copy.deepcopy(old), copy.deepcopy(patch))
    print(json.dumps([old, patch, merged], ensure_ascii=False))
