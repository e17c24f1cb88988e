"""What Babel chooses: of each line of JSON on standard input, a list of preferred languages and one of those there are."""
import json
import sys

from babel.core import negotiate_locale

for line in sys.stdin:
    preferred, available = json.loads(line)
    print(json.dumps(negotiate_locale(preferred, available, sep="-", aliases={})))
