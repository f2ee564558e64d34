"""What a driver says: one line of JSON on stdout for each call of its client."""

import hashlib
import json
import sys


def say(call, outcome, detail=None, ms=None):
    """`outcome`: 'ok' or the client's own word. `detail`: what it got, comparable. `ms`: how long the call took."""
    print(json.dumps({"call": call, "outcome": outcome, "detail": detail, "ms": ms}), flush=True)


def digest(value):
    """A long answer in short, with how much of it there is."""
    text = value if isinstance(value, bytes) else json.dumps(value, sort_keys=True).encode()
    return f"{len(value)} {hashlib.sha256(text).hexdigest()[:12]}"


def fail(error):
    print(error, file=sys.stderr, flush=True)
    sys.exit(1)
