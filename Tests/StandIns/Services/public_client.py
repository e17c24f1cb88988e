"""Sends pushes to the APNs stand-in with aioapns, a client of others that Apple's service knows.

usage: public_client.py FOLDER PORT
FOLDER is the stand-in's, with key.p8 and ca.pem. Each line of standard input is a payload that it sends, too. Prints
one line a push: status and reason.
"""

import asyncio
import json
import ssl
import sys

from aioapns import APNs, NotificationRequest, PushType
from aioapns.connection import APNsProductionClientProtocol


async def main(folder, port):
    APNsProductionClientProtocol.APNS_SERVER = "localhost"
    APNsProductionClientProtocol.APNS_PORT = port
    with open(folder + "/key.p8") as file:
        key = file.read()

    def client(**changes):
        context = ssl.create_default_context(cafile=folder + "/ca.pem")
        context.set_alpn_protocols(["h2"])
        settings = {"key": key, "key_id": "ABC123DEFG", "team_id": "DEF123GHIJ",
                    "topic": "com.example.richpush", **changes}
        return APNs(ssl_context=context, max_connections=1, max_connection_attempts=1, **settings)

    apns = client()
    alert = {"aps": {"alert": "hi"}}
    requests = [
        NotificationRequest("ab12", alert, push_type=PushType.ALERT, priority=10),
        NotificationRequest(
            "ab12", {"aps": {"content-available": 1}}, push_type=PushType.BACKGROUND, priority=5,
            collapse_key="rich-1", time_to_live=60),
        NotificationRequest(
            "ab12", {"aps": {"content-available": 1}}, push_type=PushType.BACKGROUND, priority=10),
        NotificationRequest("ab12", {"aps": {"alert": "x" * 4096}}, push_type=PushType.ALERT),
        NotificationRequest("dead", alert, push_type=PushType.ALERT),
        NotificationRequest("ab12", alert, push_type=PushType.ALERT, collapse_key="c" * 65),
    ]
    # What it sends is as given; the stand-in knows each key.
    whole = {
        "alert": {"title": "Parcel", "subtitle": "4711", "body": "hi", "loc-key": "HI", "loc-args": ["4711"]},
        "badge": 3, "sound": {"critical": 1, "name": "default", "volume": 0.5}, "thread-id": "orders",
        "category": "ORDER", "mutable-content": 1, "content-available": 1, "target-content-id": "orders",
        "interruption-level": "time-sensitive", "relevance-score": 0.5, "filter-criteria": "work"}
    wrong = [
        {"alert": {"titel": "hi"}}, {"alert": 7}, {"badge": "3"}, {"badge": True}, {"badge": -1}, {"sound": 1},
        {"sound": {"volume": 2}}, {"interruption-level": "high"}, {"relevance-score": 1.5}, {"mutable-content": True},
        {"thread": "orders"}, {"thread-id": None}]
    bodies = [json.loads(line) for line in sys.stdin] + [{"aps": whole, "link": "https://shop.example"}]
    requests += [
        NotificationRequest("ab12", body, push_type=PushType.ALERT) for body in bodies
    ] + [
        NotificationRequest("ab12", {"aps": {"alert": "hi", **one}}, push_type=PushType.ALERT) for one in wrong
    ] + [
        NotificationRequest(
            "ab12", {"aps": {"content-available": 1, **one}}, push_type=PushType.BACKGROUND, priority=5)
        for one in [{"alert": "hi"}, {"badge": 1}, {"sound": "default"}, {"sound": ""}]]
    for request in requests:
        result = await apns.send_notification(request)
        print(result.status, result.description or "")
    many = await asyncio.gather(*(
        apns.send_notification(NotificationRequest("ab12", alert, push_type=PushType.ALERT))
        for _ in range(200)))
    print(sum(result.is_successful for result in many), "at once")
    stranger = client(key_id="ZZZ123DEFG")
    result = await stranger.send_notification(requests[0])
    print(result.status, result.description)


asyncio.run(main(sys.argv[1], int(sys.argv[2])))
