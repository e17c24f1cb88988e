#!/usr/bin/env python3
"""Signs in and out as people do, in Chromium, at a provider of OpenID Connect by others (oidc-provider-mock).

usage: single_sign_on.py PROGRAM FOLDER PLUGINS

PROGRAM is richpush, FOLDER an empty one, PLUGINS the folder of the plugins.
"""

import contextlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from base64 import b64encode

# The provider is on this machine, without TLS.
os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"

from oidc_provider_mock import run_server_in_thread  # noqa: E402
from playwright.sync_api import expect, sync_playwright  # noqa: E402

PROGRAM, FOLDER, PLUGINS = sys.argv[1:4]
PATIENCE = 20_000


@contextlib.contextmanager
def reserved_port():
    """A port that nobody else gets, and that the server can have (SO_REUSEADDR)."""
    with socket.socket() as reserved:
        reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        reserved.bind(("127.0.0.1", 0))
        yield reserved.getsockname()[1]


@contextlib.contextmanager
def richpush(port, issuer):
    """The server, with an admin for emergencies."""
    data = f"{FOLDER}/data"
    subprocess.run([PROGRAM, "user", "add", "rescue", "--role", "admin", "--data", data], check=True,
                   input="open sesame\n", text=True, stdout=subprocess.DEVNULL)
    pathlib.Path(f"{FOLDER}/assets").mkdir()
    server = subprocess.Popen(
        [PROGRAM, "serve", "--listen", f"127.0.0.1:{port}", "--public-url", f"http://127.0.0.1:{port}", "--data", data,
         "--assets", f"{FOLDER}/assets", "--plugins", PLUGINS, "--oidc-issuer", issuer, "--oidc-name", "Example",
         "--oidc-roles", "editors=publisher", "--oidc-roles", "it=admin", "--password-sign-in", "rescue"],
        # This provider takes any secret, but wants one.
        env={**os.environ, "RICHPUSH_OIDC_CLIENT_SECRET": "a secret: 100%"},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    lines = []
    drain = threading.Thread(target=lambda: lines.extend(server.stderr))
    drain.start()
    try:
        assert "listening on" in server.stdout.readline(), lines
        yield f"http://127.0.0.1:{port}"
    finally:
        server.send_signal(signal.SIGTERM)
        code = server.wait()
        drain.join()
        print("".join(lines))
        assert code == 0, code


def put_user(issuer, subject, **claims):
    request = urllib.request.Request(f"{issuer}/users/{subject}", json.dumps(claims).encode(),
                                     {"Content-Type": "application/json"}, method="PUT")
    urllib.request.urlopen(request).close()


def status(url, user, password):
    basic = b64encode(f"{user}:{password}".encode()).decode()
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers={"Authorization": f"Basic {basic}"})) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def authorize(page, subject):
    """What somebody does at the provider."""
    expect(page.get_by_role("heading", name="Authorize Client")).to_be_visible()
    page.locator("form:has(input[name=sub]) input[name=sub]").fill(subject)
    page.get_by_role("button", name="Authorize").click()


def leave(page):
    """What somebody does at the provider who signs out there."""
    page.wait_for_url("**/oauth2/end_session?**")
    page.locator("button[type=submit], input[type=submit]").first.click()


def check_console(browser, server):
    page = browser.new_context(locale="en").new_page()
    page.goto(f"{server}/console/#sent")
    expect(page.get_by_label("Password")).to_be_hidden()
    page.get_by_role("button", name="Sign in with Example").click()
    authorize(page, "s-1")
    expect(page.locator("header .who strong")).to_have_text("dora")
    # Where she wanted to go.
    assert page.url == f"{server}/console/#sent", page.url
    page.reload()
    expect(page.locator("header .who small")).to_have_text("Publisher")
    # Nobody can change a password that is not there, and what is chosen has a name that everybody sees.
    page.locator("a.who").click()
    expect(page.get_by_role("button", name="Add a device")).to_be_visible()
    expect(page.get_by_role("button", name="Change the password")).to_have_count(0)
    for name in ("Language", "Time to undo"):
        expect(page.locator("label").filter(has_text=name)).to_be_visible()
        expect(page.get_by_role("combobox", name=name)).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    leave(page)
    expect(page.get_by_role("button", name="Sign in with Example")).to_be_visible()
    # The emergency admin has a password, behind a link.
    page.get_by_text("Use a password").click()
    page.get_by_label("Name").fill("rescue")
    page.get_by_label("Password").fill("open sesame")
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.locator("header .who strong")).to_have_text("rescue")
    page.locator("a.who").click()
    expect(page.get_by_role("button", name="Change the password")).to_be_visible()
    # Who is linked with whom.
    page.get_by_role("link", name="People").click()
    row = page.get_by_role("row").filter(has_text="dora")
    expect(row).to_contain_text("Single sign-on")
    expect(page.get_by_role("row").filter(has_text="rescue")).not_to_contain_text("Single sign-on")
    row.get_by_role("button", name="Change").click()
    expect(page.get_by_role("dialog")).to_contain_text("as s-1.")
    page.context.close()


def check_commands(browser, server):
    """An admin who has no password anywhere makes a token by which commands read how the server is."""
    page = browser.new_context(locale="en").new_page()
    page.goto(f"{server}/console/#account")
    page.get_by_role("button", name="Sign in with Example").click()
    authorize(page, "s-4")
    page.get_by_role("button", name="Add an access token").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("watch")
    expect(dialog.get_by_label("Only to these tags")).to_be_visible()
    dialog.get_by_label("May read how the server is").check()
    expect(dialog.get_by_label("Only to these tags")).to_be_hidden()
    dialog.get_by_role("button", name="Add an access token").click()
    token = page.get_by_role("dialog").get_by_label("Token").input_value()
    page.get_by_role("dialog").get_by_role("button", name="Close").click()
    expect(page.get_by_role("row").filter(has_text="watch")).to_contain_text("read how the server is")
    page.context.close()

    def run(*words):
        return subprocess.run([PROGRAM, *words], env={**os.environ, "RICHPUSH_PASSWORD": token}, capture_output=True, text=True)

    shown = run("status", "--server", server)
    assert shown.returncode in (0, 1) and shown.stdout.startswith("richpush 0."), shown
    refused = run("audit", "--server", server)
    assert refused.returncode == 77 and "may not read the audit log" in refused.stderr, refused
    users = run("user", "list", "--data", f"{FOLDER}/data").stdout
    assert "\ts-4 at http://localhost:" in users, users


def check_app(browser, server):
    page = browser.new_context(locale="de").new_page()
    page.goto(f"{server}/app/")
    page.get_by_role("button", name="Anmelden mit Example").click()
    authorize(page, "s-2")
    # The code of the redirection is used without another click.
    page.wait_for_function("async () => (await Device.load())?.user === 'emil'")
    page.wait_for_url(f"{server}/app/")
    page.goto(f"{server}/app/#settings")
    page.get_by_role("button", name="Abmelden").click()
    page.locator("dialog").get_by_role("button", name="Abmelden").click()
    leave(page)
    expect(page.get_by_role("button", name="Anmelden mit Example")).to_be_visible()
    page.context.close()


# Whether nothing is wider than the window, a part has a background of its own, and the symbol is there.
LOOK = """(part) => [
  document.documentElement.scrollWidth <= innerWidth,
  getComputedStyle(document.querySelector(part)).backgroundColor !== getComputedStyle(document.documentElement).backgroundColor,
  document.querySelector("img").naturalWidth > 0]"""


def check_refusal(browser, server):
    page = browser.new_context(locale="en").new_page()
    page.goto(f"{server}/console/")
    page.get_by_role("button", name="Sign in with Example").click()
    page.get_by_role("button", name="Deny").click()
    expect(page.get_by_role("heading", name="Not signed in")).to_be_visible()
    # The provider has left out the state (RFC 6749, 4.1.2.1).
    expect(page.get_by_role("alert")).to_contain_text("Try again.")
    for width in (390, 1440):
        page.set_viewport_size({"width": width, "height": 800})
        # As the page where one signs in: on a card, with the symbol.
        assert page.evaluate(LOOK, ".sign-in > *") == [True, True, True], (width, page.evaluate(LOOK, ".sign-in > *"))
    page.get_by_role("link", name="Back to signing in").click()
    # A user of this server is nobody's because of a name.
    page.get_by_role("button", name="Sign in with Example").click()
    authorize(page, "s-3")
    expect(page.get_by_text("There is already a user Rescue here.")).to_be_visible()
    page.context.close()
    page = browser.new_context(locale="de", viewport={"width": 390, "height": 800}).new_page()
    page.goto(f"{server}/app/")
    page.get_by_role("button", name="Anmelden mit Example").click()
    authorize(page, "s-3")
    expect(page.get_by_role("heading", name="Nicht angemeldet")).to_be_visible()
    expect(page.get_by_role("alert")).to_contain_text("Falls Sie das sind")
    assert page.evaluate(LOOK, "body")[0] and page.evaluate(LOOK, "main")[2]
    page.get_by_role("link", name="Zur Anmeldung").click()
    expect(page.get_by_role("button", name="Anmelden mit Example")).to_be_visible()
    page.context.close()


def main():
    with run_server_in_thread() as provider, reserved_port() as port:
        issuer = f"http://localhost:{provider.server_port}"
        put_user(issuer, "s-1", preferred_username="dora", groups=["editors"])
        put_user(issuer, "s-2", preferred_username="emil", groups=[])
        put_user(issuer, "s-3", preferred_username="Rescue", groups=["editors"])
        put_user(issuer, "s-4", preferred_username="ada", groups=["it"])
        with richpush(port, issuer) as server, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
            expect.set_options(timeout=PATIENCE)
            for check in (check_console, check_app, check_refusal, check_commands):
                check(browser, server)
                print(f"{check.__name__}: ok", flush=True)
            browser.close()
            inbox = f"{server}/api/notifications"
            assert (status(inbox, "rescue", "open sesame"), status(inbox, "dora", "dora")) == (200, 401)


main()
