"""Sends messages to the Firebase stand-in with firebase-admin, Google's own client.

usage: firebase_client.py FOLDER PORT
FOLDER is the stand-in's, with service-account.json and ca.pem. Prints one line a message: the name's beginning, or
the client's exception.
"""

import os
import sys

folder, port = sys.argv[1], sys.argv[2]
os.environ["REQUESTS_CA_BUNDLE"] = folder + "/ca.pem"

import datetime  # noqa: E402

import firebase_admin  # noqa: E402
from firebase_admin import credentials, exceptions, messaging  # noqa: E402

messaging._MessagingService.FCM_URL = f"https://localhost:{port}/v1/projects/{{0}}/messages:send"

firebase_admin.initialize_app(credentials.Certificate(folder + "/service-account.json"))
android = messaging.AndroidConfig(
    priority="high", ttl=datetime.timedelta(hours=1), collapse_key="rich-7",
    notification=messaging.AndroidNotification(tag="rich-7"))
messages = [
    messaging.Message(token="phone", data={"richId": "7"}, android=android),
    messaging.Message(
        token="phone", notification=messaging.Notification(body="Look", image="https://a.example/m")),
    messaging.Message(token="gone", data={"richId": "7"}),
    messaging.Message(token="foreign", data={"richId": "7"}),
    messaging.Message(token="busy", data={"richId": "7"}),
    messaging.Message(token="no token", data={"richId": "7"}),
    messaging.Message(token="phone", data={"gcm.x": "7"}),
    messaging.Message(token="phone", data={"text": "x" * 4097}),
]
for message in messages:
    try:
        print(messaging.send(message).rsplit("/", 1)[0])
    except exceptions.FirebaseError as error:
        print(type(error).__name__, error.code)
print(messaging.send(messages[0], dry_run=True).rsplit("/", 1)[0])
