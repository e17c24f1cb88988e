#!/usr/bin/env python3
"""The app in one Chromium, against a server that is no demonstration.

usage: app_chromium.py PROGRAMS PART…

A part is one of the files check_PART.py. Every function in it whose name begins with "check" is one check, in this order; all
run, whatever fails. Each gets the browser and the server, and closes what it opens. With the variable ONLY only those checks run
whose names have it in them.
"""

import contextlib
import functools
import importlib
import pathlib
import sys
import tempfile

from playwright.sync_api import expect, sync_playwright

from app_phone import Phone
from app_server import PATIENCE, serving

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import judge

FLAGS = ["--push", "embedded,webpush", "--push-contact", "mailto:test@example.com", "--subjects", "news=News,offers=Offers"]
CHROMIUM = {"executable_path": "/usr/bin/chromium", "args": ["--no-sandbox", "--disable-dev-shm-usage"]}


class Bench:
    """What a check gets: a browser, a server, and phones that are closed after it, and must have had no error."""

    def __init__(self, kind, chromium, server):
        self.kind, self.chromium, self.server, self.phones, self.number = kind, chromium, server, [], 0

    def phone(self, user=None, **options):
        """A phone, of a user whom no other check has, unless it is named; "" is for nobody."""
        if user is None:
            user = self.reader()
        phone = Phone(self.chromium.new_context, self.server, user, **options)
        self.phones.append(phone)
        return phone

    @contextlib.contextmanager
    def window(self, server):
        """A phone in a window that is no incognito one, as a context of Chromium is else: only from there can an app be installed."""
        with tempfile.TemporaryDirectory() as folder:
            phone = Phone(functools.partial(self.kind.launch_persistent_context, folder, **CHROMIUM), server)
            try:
                yield phone
            finally:
                phone.close()
            assert not phone.errors, phone.errors

    def reader(self):
        self.number += 1
        return f"reader-{self.number}"

    def close(self):
        phones, self.phones = self.phones, []
        for phone in phones:
            phone.close()
        return [error for phone in phones for error in phone.errors]


def run(check, bench):
    try:
        check(bench)
    finally:
        errors = bench.close()
    # A request that is to fail is told on the console by the browser itself.
    errors = [error for error in errors if not error.startswith("Failed to load resource")]
    assert not errors, errors


def main():
    expect.set_options(timeout=PATIENCE * 1000)
    checks = [found for part in sys.argv[2:] for found in vars(importlib.import_module("check_" + part)).items()]
    with serving(sys.argv[1], *FLAGS) as server, sync_playwright() as playwright:
        with contextlib.closing(playwright.chromium.launch(**CHROMIUM)) as chromium:
            bench = Bench(playwright.chromium, chromium, server)
            result = judge(checks, lambda check: run(check, bench))
    sys.exit(result)


if __name__ == "__main__":
    main()
