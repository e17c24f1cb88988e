"""Debian's Chromium, headless and offline.

usage: chromium.py FOLDER
Standard output: one JSON object per line, first {"port": …}, then an answer per command. Standard input: "reset", "open", "go" and
"evaluate" as those of firefox.py.
"""

import asyncio
import json
import os
import re
import secrets
import shutil
import sys

import aiohttp


class Browser:
    """Chromium, steered by the Chrome DevTools Protocol."""

    def __init__(self, process):
        self.process, self.number = process, 0

    @classmethod
    async def start(cls, folder):
        process = await asyncio.create_subprocess_exec(
            "/usr/bin/setpriv", "--pdeathsig", "KILL", "/usr/bin/chromium", "--headless=new", "--no-sandbox",
            "--disable-dev-shm-usage", "--disable-gpu", "--no-first-run", "--lang=en-GB", "--window-size=1440,900",
            "--user-data-dir=" + os.path.join(folder, "profile-" + secrets.token_hex(4)), "--remote-debugging-port=0",
            "about:blank", env=dict(os.environ, HOME=folder, LANGUAGE="en_GB"),
            stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE)
        browser = cls(process)
        async for line in process.stderr:
            if found := re.search(rb"DevTools listening on ws://([^/]+)/", line):
                break
        else:
            raise RuntimeError("Chromium has ended")
        browser.drain = asyncio.create_task(process.stderr.read())
        browser.session = aiohttp.ClientSession()
        async with browser.session.get(f"http://{found[1].decode()}/json/list") as answer:
            pages = [one for one in await answer.json() if one["type"] == "page"]
        browser.socket = await browser.session.ws_connect(pages[0]["webSocketDebuggerUrl"], max_msg_size=0)
        await browser.call("Page.enable")
        return browser

    async def call(self, method, **parameters):
        self.number += 1
        await self.socket.send_json({"id": self.number, "method": method, "params": parameters})
        async for message in self.socket:
            answer = json.loads(message.data)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(answer["error"]["message"])
                return answer["result"]
        raise RuntimeError("Chromium has ended")

    async def evaluate(self, script):
        answer = await self.call(
            "Runtime.evaluate", expression=f"(async () => JSON.stringify(await ({script})) ?? 'null')()",
            awaitPromise=True, userGesture=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            return {"error": details.get("exception", {}).get("description", details["text"])}
        return {"value": json.loads(answer["result"]["value"])}

    async def go(self, url):
        await self.call("Page.navigate", url=url)
        while (await self.call("Runtime.evaluate", expression="document.readyState"))["result"].get("value") != "complete":
            await asyncio.sleep(0.05)

    async def stop(self):
        self.process.kill()
        await self.process.wait()
        await self.session.close()


async def main(folder):
    browser = None
    print(json.dumps({"port": 0}), flush=True)
    loop = asyncio.get_running_loop()

    async def obey(command):
        nonlocal browser
        if command["do"] == "open":
            browser = await Browser.start(folder)
        if command["do"] in ("open", "go"):
            await browser.go(command["url"])
        elif command["do"] == "evaluate":
            return await browser.evaluate(command["script"])
        elif command["do"] == "reset" and browser:
            await browser.stop()
            browser = None
        return {}

    while line := await loop.run_in_executor(None, sys.stdin.readline):
        try:
            answer = await asyncio.wait_for(obey(json.loads(line)), 200)
        except (RuntimeError, OSError, aiohttp.ClientError, asyncio.TimeoutError) as error:
            answer = {"error": f"{type(error).__name__} {error}"}
        print(json.dumps(answer), flush=True)
    await obey({"do": "reset"})


try:
    asyncio.run(main(sys.argv[1]))
finally:
    shutil.rmtree(sys.argv[1], ignore_errors=True)
