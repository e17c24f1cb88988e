"""A stranger's first two minutes: `richpush serve --demo`, what it prints, and the browser of a phone."""

import re
import subprocess
import time

from playwright.sync_api import expect

from app_phone import Phone
from app_server import serving, until


def check_a_picture_sent_by_the_printed_line_appears_live(bench):
    start = time.monotonic()
    with serving(bench.server.program.parent, "--demo", has_users=False) as server:
        printed = until(lambda: (text := "".join(server.printed)).count("\n") > 4 and "curl" in text and text)
        addresses = re.findall(r"http://\S+/app/\S*", printed)
        assert addresses, printed
        phone = Phone(bench.chromium.new_context, server)
        phone.page.goto(addresses[0])
        expect(phone.page.get_by_text("This is a demonstration")).to_be_visible()
        phone.page.get_by_label("Name").fill("alice")
        phone.page.get_by_label("Password").fill("alice")
        phone.button("Sign in").click()
        phone.inbox_opens()
        # A line that ends with \ goes on in the next one.
        lines = printed.replace("\\\n", " ").splitlines()
        line = next(line for line in lines if re.search(r"\bcurl\b", line))
        done = subprocess.run(["sh", "-c", line[line.index("curl"):]], cwd=server.folder, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, (line, done.stderr)
        expect(phone.page.locator(".item .media img")).to_be_visible()
        assert phone.page.locator(".item .media img").evaluate("one => one.naturalWidth") > 100
        phone.close()
        assert not phone.errors, phone.errors
    assert time.monotonic() - start < 120
