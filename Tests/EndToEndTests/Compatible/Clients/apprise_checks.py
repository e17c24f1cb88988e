"""Apprise, of the version that this Python has, by each API that it can send to here."""

import contextlib
import io
import logging
import os
import pathlib
import shutil
import subprocess
import sys

import apprise
from recipient import PICTURE, SETUP, assets, run, split

SCHEME, SERVER = split(SETUP.server)
NTFY = split(SETUP.ntfy)[1]
# What Apprise calls a scheme over TLS.
S = "s" if SCHEME == "https" else ""
VERSION = tuple(int(part) for part in apprise.__version__.split(".")[:2])
PLUGIN = os.path.join(SETUP.root, "packaging/apprise/richpush.py")
ASSET = apprise.AppriseAsset(plugin_paths=[PLUGIN])
CHIME = os.path.join(SETUP.root, "assets/sound/chime.wav")


def notify(url, body, title="", attach=None, **options):
    """Whether Apprise says that it was sent."""
    notifier = apprise.Apprise(asset=ASSET)
    assert notifier.add(url), f"Apprise refuses {url}"
    return bool(notifier.notify(body=body, title=title, attach=attach, **options))


@contextlib.contextmanager
def logged():
    """What Apprise logs meanwhile, as a list of texts."""
    stream, lines = io.StringIO(), []
    handler = logging.StreamHandler(stream)
    logging.getLogger("apprise").addHandler(handler)
    try:
        yield lines
    finally:
        logging.getLogger("apprise").removeHandler(handler)
        lines += stream.getvalue().splitlines()
        assert not any(secret in line for line in lines for secret in (SETUP.token, SETUP.password)), lines


def check_ntfy(alice):
    url = f"ntfy{S}://{SETUP.publisher}:{SETUP.password}@{NTFY}/news?priority=high&tags=warning&click=https://a.example"
    assert notify(url, "text 🦊", "Title")
    new = alice.gets_one("text 🦊", title="⚠️ Title", importance="high", link="https://a.example", richType=None)
    assert VERSION < (1, 6) or new["icon"].startswith("https://")


def check_ntfy_with_a_token(alice):
    if VERSION >= (1, 6):
        assert notify(f"ntfy{S}://{SETUP.token}@{NTFY}/news?mode=private&auth=token", "by token", "Title")
        alice.gets_one("by token", title="Title")
    assert notify(f"ntfy{S}://{SETUP.publisher}:{SETUP.token}@{NTFY}/news?mode=private", "as password", "Title")
    alice.gets_one("as password", title="Title")


def check_ntfy_with_a_picture(alice):
    url = f"ntfy{S}://{SETUP.publisher}:{SETUP.token}@{NTFY}/news"
    # Apprise 1.2 wraps the file in a form, which ntfy's own server would take for the file.
    assert notify(url, "see", "Picture", PICTURE)
    alice.expect_picture(alice.gets_one("see", title="Picture", payload="beach.jpg"))


def check_ntfy_with_a_long_text(alice):
    text = "a long text, " * 800
    assert notify(f"ntfy{S}://{SETUP.publisher}:{SETUP.token}@{NTFY}/news", text, "Long")
    # Apprise 1.2 cuts what is too long for ntfy, 2.3 sends it as a file.
    assert all(new["message"].strip()[-13:].strip() in text for new in alice.gets())


def check_ntfy_with_a_wrong_password(alice):
    assert not notify(f"ntfy{S}://{SETUP.publisher}:wrong-secret@{NTFY}/news", "no")


def check_gotify(alice):
    assert notify(f"gotify{S}://{SERVER}/{SETUP.token}?priority=high", "text 🦊", "Title")
    alice.gets_one("text 🦊", title="Title", importance="high", richType=None)
    assert notify(f"gotify{S}://{SERVER}/{SETUP.token}?format=markdown", "**text**", "Title")
    alice.gets_one("**text**", title="Title")
    assert not notify(f"gotify{S}://{SERVER}/rpt_wrong", "no")


def check_bark(alice):
    url = f"bark{S}://{SERVER}/{SETUP.token}?level=timeSensitive&group=builds&click=https://a.example&sound=minuet"
    assert notify(url, "text 🦊", "Title")
    new = alice.gets_one("text 🦊", title="Title", importance="high", thread="builds", link="https://a.example")
    assert new["sound"] == "minuet.caf" and new["icon"].startswith("https://"), new
    assert not notify(f"bark{S}://{SERVER}/rpt_wrong", "no")


def check_json(alice):
    url = (f"json{S}://{SETUP.publisher}:{SETUP.token}@{SERVER}/api/notifications"
           "?:version=&:attachments=&:type=&:to=news&:importance=high")
    if VERSION < (1, 4):
        # It cannot leave out the members that are unknown here.
        assert not notify(url, "no", "Title")
        return
    assert notify(url, "text 🦊", "Title")
    alice.gets_one("text 🦊", title="Title", importance="high")
    with_media = url + "&:richType=img&:payload=logo.png&:form=alert"
    assert notify(with_media, "look", "Title")
    alice.gets_one("look", richType="img", payload="logo.png")


def check_richpush(alice):
    url = f"richpush{S}://{SETUP.token}@{SERVER}"
    assert notify(url, "text 🦊 {{not a name}}", "Title {{x}}")
    alice.gets_one("text 🦊 {{not a name}}", title="Title {{x}}", importance=None, to=["news"], link=None)
    assert notify(f"{url}/news?link=https://a.example&thread=t&replaces=one", "text", "Title", notify_type="warning")
    alice.gets_one("text", importance="high", link="https://a.example", thread="t", to=["news"])
    assert notify(f"{url}/news?importance=low&replaces=one", "without a title", notify_type="failure")
    alice.gets_one("without a title", importance="low", title=None)
    assert notify(f"{url}/?replaces=two", "at last", "<b>", notify_type="failure")
    alice.gets_one("at last", importance="urgent", title="<b>")


def check_richpush_with_a_password(alice):
    for names in ["news", "@alice", "news/@alice", "?to=news,@alice", "?to=news%20%26%26%20!muted"]:
        assert notify(f"richpush{S}://{SETUP.publisher}:{SETUP.password}@{SERVER}/{names}", names)
        alice.gets_one(names)


def check_richpush_of_an_unknown_authority(alice):
    if not S:
        return
    bundle = os.environ.pop("REQUESTS_CA_BUNDLE")
    try:
        with logged() as lines:
            assert not notify(f"richpushs://{SETUP.token}@{SERVER}", "no")
        assert any("CERTIFICATE_VERIFY_FAILED" in line for line in lines), lines
        assert notify(f"richpushs://{SETUP.token}@{SERVER}/?verify=no", "whoever it is")
    finally:
        os.environ["REQUESTS_CA_BUNDLE"] = bundle
    alice.gets_one("whoever it is")


def check_richpush_with_html(alice):
    assert notify(f"richpush{S}://{SETUP.token}@{SERVER}", "<p>one <b>two</b></p>", "Title", body_format="html")
    alice.gets_one("one two")
    assert notify(f"richpush{S}://{SETUP.token}@{SERVER}", "**one**\n- two", "Title", body_format="markdown")
    assert alice.gets_one()["message"].endswith("two")


def check_richpush_with_attachments(alice):
    before = assets()
    url = f"richpush{S}://{SETUP.token}@{SERVER}/news"
    assert notify(url, "see", "Picture", PICTURE)
    new = alice.gets_one("see", title="Picture")
    alice.expect_picture(new)
    assert new["payload"] == "beach.jpg", new
    attachments = apprise.AppriseAttachment()
    attachments.add(f"file://{PICTURE}?name=été+1.jpg")
    attachments.add(CHIME)
    assert notify(url + "?replaces=file", "both", "Title", attachments)
    first, second = alice.gets(2)
    assert first["message"] == "both" and first["richType"] == "img" and second["richType"] == "sound", (first, second)
    assert assets() == before


def check_richpush_by_the_command_line(alice):
    plugins = pathlib.Path(os.environ["HOME"], ".apprise/plugins")
    plugins.mkdir(parents=True)
    shutil.copy(PLUGIN, plugins)
    program = pathlib.Path(sys.executable).parent / "apprise"
    done = subprocess.run(
        [program, "-t", "Backup", "-b", "It is done.", "-a", PICTURE, f"richpush{S}://{SETUP.token}@{SERVER}/news"],
        capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done
    alice.expect_picture(alice.gets_one("It is done.", title="Backup"))
    done = subprocess.run(
        [program, "-b", "no", f"richpush{S}://rpt_wrong@{SERVER}/news"], capture_output=True, text=True, timeout=120)
    assert done.returncode != 0 and "answers 401: " in done.stdout + done.stderr, done


def check_richpush_with_a_file_that_is_refused(alice):
    url = f"richpush{S}://{SETUP.token}@{SERVER}/news"
    with logged() as lines:
        assert not notify(url, "no", "Title", os.path.join(SETUP.root, "LICENSE"))
    assert any("answers 415: " in line for line in lines), lines
    with logged() as lines:
        assert not notify(url, "no", "Title", "/no/such/file")


def check_richpush_with_a_long_text(alice):
    text = "".join(f"line {number} äöü\n" for number in range(2000))
    assert notify(f"richpush{S}://{SETUP.token}@{SERVER}", text, "Long")
    parts = alice.gets()
    assert len(parts) > 1 and "".join(new["message"] for new in parts).split() == text.split()
    assert all(new["title"] == "Long" for new in parts)


def check_richpush_refuses_in_words(alice):
    for url, words in [
        (f"rpt_wrong@{SERVER}", "answers 401: "),
        (f"{SETUP.publisher}:wrong-secret@{SERVER}/news", "answers 401: "),
        (f"{SERVER}/news", "richpush://TOKEN@HOST"),
        (f"{SETUP.token}@{SERVER}/@bob", "username:bob"),
        (f"{SETUP.token}@{SERVER}/?linc=https://a.example", "?linc= is unknown"),
        (f"{SETUP.token}@{SERVER}/news?to=a%26%26b", "excludes"),
        (f"{SETUP.token}@{SERVER}/?importance=huge", "importance"),
        (f"{SETUP.token}@127.0.0.1:1", "does not answer"),
    ]:
        with logged() as lines:
            assert not notify(f"richpush{S}://{url}", "no")
        assert any(words in line for line in lines), (url, lines)


run(globals())
