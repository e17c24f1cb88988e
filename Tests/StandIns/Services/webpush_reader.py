"""Reads Web Push messages with http_ece and their tokens with py_vapid.

Standard input: a line with the receiver's private key and secret, then one for each message: the message, the
origin of its push service, and the value of Authorization. Prints each plaintext, and the token's origin.
"""

import base64
import sys
import time

import http_ece
from cryptography.hazmat.primitives.asymmetric import ec
from py_vapid import Vapid02
from py_vapid.jwt import decode


def decoded(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def encoded(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


private, secret = sys.stdin.readline().split()
key = ec.derive_private_key(int.from_bytes(decoded(private), "big"), ec.SECP256R1())
for line in sys.stdin:
    message, origin, authorization = line.rstrip("\n").split(" ", 2)
    assert Vapid02.verify(authorization), authorization
    token, public = authorization.removeprefix("vapid t=").split(",k=")
    claims = decode(token, public)
    assert claims["aud"] == origin, claims
    assert claims["sub"].startswith("mailto:"), claims
    assert time.time() < claims["exp"] <= time.time() + 86_400, claims
    plaintext = http_ece.decrypt(
        decoded(message), private_key=key, auth_secret=decoded(secret), version="aes128gcm")
    print(encoded(plaintext), claims["aud"])
