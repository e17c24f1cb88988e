"""Debian's Firefox, headless and offline, and the part of Mozilla's push service that it and a server speak to.

usage: firefox.py FOLDER
Standard output: one JSON object per line, first {"port": …, "certificates": "…"}, then an answer per command. The endpoints are
https://127.0.0.1:PORT/push/…, with a certificate that the file of certificates vouches for.
Standard input: one command per line:
  {"do": "reset"}                       ends Firefox and forgets what was seen
  {"do": "open", "url": "…"}            starts Firefox with a new profile, on a page; with "insecure": true it trusts every
                                        certificate
  {"do": "go", "url": "…"}              leads the page of that Firefox elsewhere
  {"do": "evaluate", "script": "…"}     answers with {"value": …}, the JSON of what the script's promise gives, or
                                        with {"error": "…"}; the script runs in the page
  {"do": "refuse", "count": n}          answers 503 to the next pushes
  {"do": "seen"}                        answers with the header fields of all "pushes", and with all "acks": 100 is
                                        decrypted and given to the page's worker, 101 is not decrypted
"""

import asyncio
import base64
import json
import os
import secrets
import shutil
import sys
import uuid

from aiohttp import web

import browser
import certificates

PREFERENCES = {
    "dom.push.testing.allowInsecureServerURL": True, "dom.push.enabled": True,
    "dom.push.connection.enabled": True, "permissions.default.desktop-notification": 1,
    "dom.webnotifications.requireuserinteraction": False, "alerts.useSystemBackend": False,
    "browser.shell.checkDefaultBrowser": False, "app.normandy.enabled": False,
    "datareporting.policy.dataSubmissionEnabled": False, "toolkit.telemetry.server": "",
    "browser.startup.homepage_override.mstone": "ignore", "browser.aboutwelcome.enabled": False,
    "termsofuse.bypassNotification": True,
}


class Firefox(browser.Browser):
    """Firefox, steered by WebDriver BiDi (w3.org/TR/webdriver-bidi)."""

    @classmethod
    async def start(cls, folder, push_service, is_insecure):
        profile = os.path.join(folder, "profile-" + secrets.token_hex(4))
        os.makedirs(profile)
        with open(os.path.join(profile, "user.js"), "w") as out:
            for name, value in (PREFERENCES | {"dom.push.serverURL": push_service}).items():
                out.write(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n")
        words = ["/usr/bin/firefox-esr", "--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0",
                 "about:blank"]
        firefox, url = await cls.launch(
            words, rb"WebDriver BiDi listening on (ws://\S+)", MOZ_HEADLESS="1", MOZ_HEADLESS_WIDTH="1440",
            MOZ_HEADLESS_HEIGHT="900", HOME=folder)
        await firefox.connect(url + "/session")
        await firefox.call("session.new", capabilities={"alwaysMatch": {"acceptInsecureCerts": True}} if is_insecure else {})
        contexts = await firefox.call("browsingContext.getTree")
        firefox.context = contexts["contexts"][0]["context"]
        return firefox

    async def evaluate(self, script):
        answer = await self.call(
            "script.evaluate", expression=browser.json_of(script),
            target={"context": self.context}, awaitPromise=True, userActivation=True)
        if answer["type"] != "success":
            return {"error": answer["exceptionDetails"]["text"]}
        return {"value": json.loads(answer["result"]["value"])}

    async def go(self, url):
        await self.call("browsingContext.navigate", context=self.context, url=url, wait="complete")


class PushService:
    """A WebSocket for the browser, and endpoints to which servers post (RFC 8030)."""

    def __init__(self, folder):
        self.folder, self.browser = folder, None
        self.forget()

    def forget(self):
        self.sockets, self.pushes, self.acks, self.refusals = [], [], [], 0

    async def listen(self, request):
        socket = web.WebSocketResponse(protocols=("push-notification",))
        await socket.prepare(request)
        self.sockets.append(socket)
        async for message in socket:
            if message.type != web.WSMsgType.TEXT:
                continue
            data = json.loads(message.data) if message.data.strip() else {}
            kind = data.get("messageType")
            if kind == "hello":
                await socket.send_json({
                    "messageType": "hello", "uaid": data.get("uaid") or uuid.uuid4().hex, "status": 200,
                    "use_webpush": True, "broadcasts": {}})
            elif kind == "register":
                await socket.send_json({
                    "messageType": "register", "channelID": data["channelID"], "status": 200,
                    "pushEndpoint": f"https://127.0.0.1:{self.port}/push/{data['channelID']}"})
            elif kind == "unregister":
                await socket.send_json(
                    {"messageType": "unregister", "channelID": data["channelID"], "status": 200})
            elif kind == "ack":
                self.acks += [update.get("code") for update in data["updates"]]
            elif not data:
                await socket.send_str("{}")
        return socket

    async def take(self, request):
        body, fields = await request.read(), request.headers
        self.pushes.append(dict(fields))
        if "TTL" not in fields or not fields.get("Authorization", "").startswith("vapid "):
            return web.Response(status=400)
        if self.refusals > 0:
            self.refusals -= 1
            return web.Response(status=503)
        version = secrets.token_hex(8)
        await self.sockets[-1].send_json({
            "messageType": "notification", "channelID": request.path.split("/")[-1],
            "version": version, "ttl": int(fields["TTL"]),
            "data": base64.urlsafe_b64encode(body).rstrip(b"=").decode(),
            "headers": {"encoding": fields["Content-Encoding"]}})
        return web.Response(
            status=201, headers={"Location": f"https://127.0.0.1:{self.port}/m/{version}", "TTL": fields["TTL"]})

    async def obey(self, command):
        if command["do"] == "open":
            self.browser = await Firefox.start(self.folder, f"ws://127.0.0.1:{self.socket_port}/", command.get("insecure", False))
            await self.browser.go(command["url"])
        elif command["do"] == "go":
            await self.browser.go(command["url"])
        elif command["do"] == "evaluate":
            return await self.browser.evaluate(command["script"])
        elif command["do"] == "refuse":
            self.refusals = command["count"]
        elif command["do"] == "seen":
            return {"pushes": self.pushes, "acks": self.acks}
        elif command["do"] == "reset":
            if self.browser:
                await self.browser.stop()
            self.browser = None
            self.forget()
        return {}


async def main(folder):
    service = PushService(folder)
    app = web.Application()
    app.router.add_get("/", service.listen)
    app.router.add_post("/push/{channel}", service.take)
    runner = web.AppRunner(app)
    await runner.setup()
    tls = certificates.server_context(folder, ["http/1.1"])
    # Firefox does not trust that certificate, so its own connection is a plain one.
    ports = []
    for context in [tls, None]:
        site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
        await site.start()
        ports.append(site._server.sockets[0].getsockname()[1])
    service.port, service.socket_port = ports
    print(json.dumps({"port": service.port, "certificates": os.path.join(folder, "ca.pem")}), flush=True)
    await browser.follow_commands(service.obey)


try:
    asyncio.run(main(sys.argv[1]))
finally:
    shutil.rmtree(sys.argv[1], ignore_errors=True)
