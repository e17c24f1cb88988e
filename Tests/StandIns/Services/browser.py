"""A real browser in a folder of its own, which a test steers: what the stand-ins of Firefox and Chromium have in common."""

import asyncio
import json
import os
import re
import sys

import aiohttp


class Browser:
    """A process, and its WebSocket for commands with numbers."""

    def __init__(self, process):
        self.process, self.number = process, 0

    @classmethod
    async def launch(cls, words, announcement, **environment):
        """Starts a program, which ends with this one; returns it with the first group of a pattern that its log matches."""
        process = await asyncio.create_subprocess_exec(
            "/usr/bin/setpriv", "--pdeathsig", "KILL", *words, env=dict(os.environ, **environment),
            stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE)
        browser = cls(process)
        async for line in process.stderr:
            if found := re.search(announcement, line):
                break
        else:
            raise RuntimeError(f"{words[0]} has ended")
        browser.drain = asyncio.create_task(process.stderr.read())
        browser.session = aiohttp.ClientSession()
        return browser, found[1].decode()

    async def connect(self, url):
        self.socket = await self.session.ws_connect(url, max_msg_size=0)

    async def call(self, method, **parameters):
        self.number += 1
        await self.socket.send_json({"id": self.number, "method": method, "params": parameters})
        async for message in self.socket:
            answer = json.loads(message.data)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{answer['error']}: {answer.get('message')}")
                return answer["result"]
        raise RuntimeError("the browser has ended")

    async def stop(self):
        self.process.kill()
        await self.process.wait()
        await self.session.close()


def json_of(script):
    """An expression for the JSON of what the promise of a script gives."""
    return f"(async () => JSON.stringify(await ({script})) ?? 'null')()"


async def follow_commands(obey):
    """Answers each command of standard input on standard output, until it ends."""
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        try:
            answer = await asyncio.wait_for(obey(json.loads(line)), 200)
        except (RuntimeError, OSError, aiohttp.ClientError, asyncio.TimeoutError) as error:
            answer = {"error": f"{type(error).__name__} {error}"}
        print(json.dumps(answer), flush=True)
    await obey({"do": "reset"})
