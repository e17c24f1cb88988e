"""A stand-in for ntfy's server as other servers use it to wake ntfy's app for iOS.

usage: ntfy.py FOLDER
The same lines on standard input and output as hub.py; rules go by topic or "*", and {"do": "requests"} gives each message's topic,
number and Authorization.
"""

import re

import service
from service import Refusal


class TopicHandler(service.Handler):
    def judge(self, body):
        ntfy, topic, number = self.server, self.path[1:], self.headers.get("X-Poll-ID")
        # As the app names topics of other servers.
        if not re.fullmatch(r"[0-9a-f]{64}", topic) or not number or body:
            raise Refusal(400, "no message of another server")
        with ntfy.lock:
            ntfy.requests.append({"topic": topic, "number": number, "authorization": self.headers.get("Authorization", "")})
            return service.next_step(ntfy, topic), None


def forget(ntfy):
    ntfy.rules, ntfy.requests = {"*": [{"status": 200, "raw": '{"event":"poll_request"}'}]}, []


def obey(ntfy, command):
    with ntfy.lock:
        if command["do"] == "reset":
            forget(ntfy)
        elif command["do"] == "rules":
            ntfy.rules = command["rules"]
        elif command["do"] == "requests":
            seen, ntfy.requests = ntfy.requests, []
            return {"requests": seen}
        return {}


service.run(TopicHandler, forget, obey)
