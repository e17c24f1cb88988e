"""The requests of ntfy's Android app, as a reader: ntfy_reader.py HOST:PORT NAME PASSWORD ACTION ARGUMENT…

Each line of the output is what the server has sent, as JSON."""

import json
import sys

import python_ntfy
import requests
from websockets.sync.client import connect

place, name, password, action, *arguments = sys.argv[1:]
url = f"http://{place}"
client = requests.Session()
# The app's requests; its stream may be silent for 77 seconds.
client.auth, client.headers["User-Agent"] = (name, password), "ntfy/1.25.0 (fdroid; Android 16; SDK 36)"


def report(value):
    print(json.dumps(value), flush=True)


def checked(response):
    response.raise_for_status()
    return response


def stream(topics, since, count):
    """What the foreground service reads, until it has so many messages."""
    response = checked(client.get(f"{url}/{topics}/json", params={"since": since}, stream=True, timeout=77))
    assert response.headers["Content-Type"].startswith("application/x-ndjson"), response.headers
    left = int(count)
    for line in response.iter_lines(chunk_size=None):
        message = json.loads(line)
        report(message)
        left -= message["event"] == "message"
        if left == 0:
            return


def socket(topics, since, count):
    """The same by the app's other protocol."""
    credentials = client.auth[0] + ":" + client.auth[1]
    with connect(f"ws://{credentials}@{place}/{topics}/ws?since={since}", compression=None) as socket:
        left = int(count)
        while left > 0:
            # What keeps it alive are pings.
            message = json.loads(socket.recv(timeout=900))
            report(message)
            left -= message["event"] == "message"
            if message["event"] == "open":
                assert socket.ping().wait(timeout=20), "no pong"


match action:
    case "auth":
        response = client.get(f"{url}/{arguments[0]}/auth")
        report({"status": response.status_code, "body": response.json()})
    case "woken":
        # What the app for iOS asks for, by the topic and the number in the push; else it shows "New message".
        client.headers["User-Agent"] = "ntfy/1.8.0 CFNetwork/3826.500.131 Darwin/24.5.0"
        response = checked(client.get(f"{url}/{arguments[0]}/json", params={"poll": 1, "id": arguments[1]}, timeout=30))
        report(json.loads(response.text))
    case "poll":
        response = checked(client.get(f"{url}/{arguments[0]}/json", params={"poll": 1, "since": arguments[1]}))
        for line in response.text.splitlines():
            report(json.loads(line))
    case "python-ntfy":
        reader = python_ntfy.NtfyClient(topic=arguments[0], server=url, auth=(name, password))
        report(reader.get_cached_messages())
    case "fetch":
        # With Basic, as the host is that of a subscription.
        response = checked(client.get(arguments[0]))
        report({"type": response.headers["Content-Type"], "size": len(response.content)})
    case "stream":
        stream(*arguments)
    case "ws":
        socket(*arguments)
