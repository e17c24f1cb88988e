"""Debian's Chromium, headless and offline.

usage: chromium.py FOLDER
Standard output: one JSON object per line, first {"port": …}, then an answer per command. Standard input: "reset", "open", "go" and
"evaluate" as those of firefox.py.
"""

import asyncio
import json
import os
import secrets
import shutil
import sys

import browser


class Chromium(browser.Browser):
    """Chromium, steered by the Chrome DevTools Protocol."""

    @classmethod
    async def start(cls, folder):
        words = ["/usr/bin/chromium", "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu",
                 "--no-first-run", "--lang=en-GB", "--window-size=1440,900",
                 "--user-data-dir=" + os.path.join(folder, "profile-" + secrets.token_hex(4)), "--remote-debugging-port=0",
                 "about:blank"]
        chromium, place = await cls.launch(words, rb"DevTools listening on ws://([^/]+)/", HOME=folder, LANGUAGE="en_GB")
        async with chromium.session.get(f"http://{place}/json/list") as answer:
            pages = [one for one in await answer.json() if one["type"] == "page"]
        await chromium.connect(pages[0]["webSocketDebuggerUrl"])
        await chromium.call("Page.enable")
        return chromium

    async def evaluate(self, script):
        answer = await self.call(
            "Runtime.evaluate", expression=browser.json_of(script),
            awaitPromise=True, userGesture=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            return {"error": details.get("exception", {}).get("description", details["text"])}
        return {"value": json.loads(answer["result"]["value"])}

    async def go(self, url):
        await self.call("Page.navigate", url=url)
        while (await self.call("Runtime.evaluate", expression="document.readyState"))["result"].get("value") != "complete":
            await asyncio.sleep(0.05)


async def main(folder):
    chromium = None
    print(json.dumps({"port": 0}), flush=True)

    async def obey(command):
        nonlocal chromium
        if command["do"] == "open":
            chromium = await Chromium.start(folder)
        if command["do"] in ("open", "go"):
            await chromium.go(command["url"])
        elif command["do"] == "evaluate":
            return await chromium.evaluate(command["script"])
        elif command["do"] == "reset" and chromium:
            await chromium.stop()
            chromium = None
        return {}

    await browser.follow_commands(obey)


try:
    asyncio.run(main(sys.argv[1]))
finally:
    shutil.rmtree(sys.argv[1], ignore_errors=True)
