"""Clients of ntfy's API, as they are on PyPI, against a server: ntfy_clients.py HOST:PORT NAME PASSWORD PICTURE."""

import json
import sys

import apprise
import ntfpy
import ntfy_api
import python_ntfy

place, name, password, picture = sys.argv[1:]
url = f"http://{place}"


def report(client, result):
    print(json.dumps({"client": client, "result": result}), flush=True)


# Apprise.
notifier = apprise.Apprise()
assert notifier.add(f"ntfy://{name}:{password}@{place}/news?priority=high&tags=warning&click=https://example.org/a")
report("apprise", bool(notifier.notify(title="From Apprise", body="text of Apprise 🦊")))
report("apprise with a picture", bool(notifier.notify(title="Picture", body="see", attach=picture)))
long = "a long text, " * 800
report("apprise with a long text", bool(notifier.notify(title="Long", body=long)))
wrong = apprise.Apprise()
wrong.add(f"ntfy://{name}:wrong-secret@{place}/news")
report("apprise with a wrong password", bool(wrong.notify(body="no")))

# ntfy-api, by header fields and by JSON.
publisher = ntfy_api.NtfyPublisher(url, basic=(name, password))
answer = publisher << ntfy_api.Message(
    topic="news", title="From ntfy-api", message="text of ntfy-api", priority=5, tags=["tada", "backup"],
    actions=[ntfy_api.ViewAction("Open, now", "https://example.org/b")])
report("ntfy-api", [answer.status_code, answer.json()])
with open(picture, "rb") as file:
    answer = publisher << ntfy_api.Message(topic="news", filename="beach.jpg", data=file.read())
report("ntfy-api with a picture", [answer.status_code, answer.json()])
answer = publisher.publish_json({"topic": "news", "message": "JSON of ntfy-api", "priority": 1})
report("ntfy-api by JSON", [answer.status_code, answer.json()])
answer = publisher << ntfy_api.Message(topic="news", message="no", email="a@example.org")
report("ntfy-api with an e-mail", [answer.status_code, answer.json()])

# ntfpy.
answer = ntfpy.raw_send(
    url, "news", "text of ntfpy", auth=f"{name}:{password}", title="From ntfpy", tags=["skull"])
report("ntfpy", [answer.status_code, answer.json()])

# python-ntfy.
client = python_ntfy.NtfyClient(topic="news", server=url, auth=(name, password))
report("python-ntfy", client.send("text of python-ntfy", title="From python-ntfy",
       actions=[client.ViewAction("Open", "https://example.org/c")]))
report("python-ntfy with a picture", client.send_file(picture, title="File"))
