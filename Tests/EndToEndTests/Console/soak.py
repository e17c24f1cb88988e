#!/usr/bin/env python3
"""What an open page of the console costs while phones fetch.

usage: soak.py SERVER PID HERD PHONES ID...

PHONES users, phone0 and so on, fetch each of the notifications, of the sender shop, once: the first for warming up,
then without a page and with one, in turn. Prints one JSON object: the seconds of processor time that the server (PID)
took for 1,000 fetches, `without` and `with` a page, and of the browser the share of a core (`cores`), the memory in MB that
is the page's process's own (`memory`), and that of all its processes (`all`), most of which it has without a page, too.
"""

import json
import os
import re
import subprocess
import sys
import time

from playwright.sync_api import expect, sync_playwright

SERVER, PID, HERD, PHONES = sys.argv[1:5]
IDS = [int(word) for word in sys.argv[5:]]
TICK = os.sysconf("SC_CLK_TCK")


def said_of(pid, name):
    """What the kernel says of a process or a thread in a file (proc(5)); nothing if it has ended, which it may at any time."""
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return file.read().decode(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return ""


def processor(pid):
    """Seconds, with those of the processes that it has waited for; none of a process that has ended."""
    fields = said_of(pid, "stat").rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / TICK


def family(pid):
    found = [pid]
    try:
        tasks = os.listdir(f"/proc/{pid}/task")
    except (FileNotFoundError, ProcessLookupError):
        return found
    for task in tasks:
        for child in said_of(pid, f"task/{task}/children").split():
            found += family(int(child))
    return found


def own_memory(pid):
    """MB; none of a process that has ended."""
    found = re.search(r"RssAnon:\s+(\d+) kB", said_of(pid, "status"))
    return int(found[1]) / 1000 if found else 0


def program(pid):
    """Its path; nothing if it has ended."""
    try:
        return os.readlink(f"/proc/{pid}/exe")
    except (FileNotFoundError, ProcessLookupError):
        return ""


class Browser:
    """All processes below the driver's, without the driver."""

    def __init__(self):
        self.processes = [pid for pid in family(os.getpid()) if "chromium" in program(pid)]
        self.spent = dict.fromkeys(self.processes, 0)

    def seconds(self):
        """Of all of them; what an ended one had when it was last looked at still counts."""
        for pid in self.processes:
            self.spent[pid] = max(self.spent[pid], processor(pid))
        return sum(self.spent.values())

    def memory(self):
        return sum(map(own_memory, self.processes))

    def page_memory(self):
        """The largest of the processes that have a page."""
        return max(own_memory(pid) for pid in self.processes if "--type=renderer" in said_of(pid, "cmdline"))


def fetch(number):
    lines = "".join(f"phone{phone}:phone{phone} /api/notifications/{number}?profile=thumb\n" for phone in range(int(PHONES)))
    port = SERVER.rsplit(":", 1)[1]
    before = processor(PID)
    subprocess.run([HERD, port, PID, "1000", "1"], input=lines, text=True, check=True, stdout=subprocess.DEVNULL)
    # Their receipts are written with the next commits.
    time.sleep(1)
    return processor(PID) - before


def main():
    seconds = {"without": [], "with": []}
    cores, memory, pages = [], [], []
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-dev-shm-usage"])
        page = chromium.new_context().new_page()
        page.goto(SERVER + "/console/")
        page.get_by_label("Name").fill("shop")
        page.get_by_label("Password").fill("shop")
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("navigation")).to_be_visible()
        page.goto("about:blank")
        fetch(IDS[0])
        for turn, number in enumerate(IDS[1:]):
            # Without and with, then with and without: what grows with time falls on both.
            kind = ["without", "with", "with", "without"][turn % 4]
            page.goto("about:blank")
            if kind == "with":
                page.goto(f"{SERVER}/console/#sent/{number}")
                expect(page.locator("paged-table tbody tr")).to_have_count(50)
                page.wait_for_timeout(2000)
            browser = Browser()
            start, used = time.monotonic(), browser.seconds()
            seconds[kind].append(fetch(number))
            print(f"{seconds[kind][-1]:.2f} s {kind} a page", file=sys.stderr, flush=True)
            if kind == "with":
                cores.append((browser.seconds() - used) / (time.monotonic() - start))
                memory.append(browser.memory())
                pages.append(browser.page_memory())
                expect(page.locator(".funnel [data-part=fetched] strong")).to_have_text(f"{int(PHONES):,}", timeout=20_000)
        chromium.close()
    figures = {kind: round(sum(all) / len(all) / int(PHONES) * 1000, 4) for kind, all in seconds.items()}
    print(json.dumps(figures | {"cores": round(max(cores), 3), "memory": round(max(pages), 1), "all": round(max(memory), 1)}))


if __name__ == "__main__":
    main()
