"""Sends pushes to the APNs stand-in with aioapns, a client of others that Apple's service knows.

usage: public_client.py FOLDER PORT
FOLDER is the stand-in's, with key.p8 and ca.pem. Prints one line a push: status and reason.
"""

import asyncio
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
