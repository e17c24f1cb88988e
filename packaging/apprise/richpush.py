"""Apprise sends to richpush: `richpush://` and, over TLS, `richpushs://`; README.md beside this file has the URLs.

It is one file for Apprise's plugin path, for Apprise from 1.2 on.
"""

import base64
import json
import logging
import re
from urllib.parse import unquote

import requests
from apprise.conversion import convert_between
from apprise.decorators import notify

LOG = logging.getLogger("apprise")
# In bytes, as the server counts.
LONGEST_TEXT, LONGEST_TITLE = 16_384, 1_024
# Its renditions are made before a notification is stored, which takes a film some time.
SECONDS = (10, 120)
IMPORTANCE = {"warning": "high", "failure": "urgent"}
# What the URL may say beside the recipients, by the members of a notification.
OPTIONS = {"link": "link", "click": "link", "importance": "importance", "thread": "thread", "replaces": "replaces",
           "sound": "sound", "icon": "icon", "lockscreen": "lockScreen"}
# What Apprise itself understands in each URL.
OF_APPRISE = {"to", "verify", "format", "overflow", "rto", "cto", "redirect", "store", "tz", "emojis", "retry", "wait",
              "optional", "user", "pass", "password", "port"}


class Refused(Exception):
    """Why a notification was not sent, in words."""


class Credentials(requests.auth.AuthBase):
    """Those in the URL; an entry in .netrc never takes their place."""

    def __init__(self, user, password):
        pair = base64.b64encode(f"{user}:{password}".encode()).decode()
        self.field = f"Bearer {user}" if password is None else f"Basic {pair}"

    def __call__(self, request):
        request.headers["Authorization"] = self.field
        return request


class Server:
    """The server that a URL names."""

    def __init__(self, meta):
        user = meta.get("user")
        if not user or not meta.get("host"):
            raise Refused("the URL must be richpush://TOKEN@HOST or richpush://USER:PASSWORD@HOST")
        options = meta.get("qsd", {})
        password = meta.get("password")
        self.session = requests.Session()
        self.session.auth = Credentials(unquote(user), None if password is None else unquote(password))
        self.verify = str(options.get("verify", meta.get("verify", "yes"))).lower() not in ("no", "false", "0")
        port = f":{meta['port']}" if meta.get("port") else ""
        scheme = "https" if meta["schema"] == "richpushs" else "http"
        self.address = f"{scheme}://{meta['host']}{port}"

    def request(self, method, path, **more):
        """The JSON of the answer.

        Raises Refused with the server's sentence if it refuses.
        """
        try:
            # A redirect would turn a POST into a GET, and show the credentials to another server.
            response = self.session.request(
                method, self.address + path, timeout=SECONDS, verify=self.verify, allow_redirects=False, **more)
        except requests.RequestException as error:
            raise Refused(f"{self.address} does not answer: {error}") from error
        if response.is_redirect:
            raise Refused(f"{self.address} redirects to {response.headers['Location']}: name that server, with "
                          "richpushs:// if it is https")
        try:
            answer = response.json() if response.content else {}
        except ValueError:
            answer = None
        if not response.ok:
            reason = answer.get("detail") if isinstance(answer, dict) else None
            raise Refused(f"{self.address} answers {response.status_code}: {reason or response.reason}")
        if answer is None:
            raise Refused(f"{self.address} is no richpush server: its answer is not JSON")
        return answer


def recipients(meta):
    """The tags in the path and in `?to=`; None for those of the access token."""
    names = [unquote(name) for name in unquote(meta.get("fullpath") or "").split("/")]
    listed = meta.get("qsd", {}).get("to", "")
    if re.search(r"[&|!()]", listed):
        if any(names):
            raise Refused("an expression in ?to= excludes tags in the path")
        return listed
    names += re.split(r"[\s,]+", listed)
    names = ["username:" + name[1:] if name.startswith("@") else name for name in names if name]
    return list(dict.fromkeys(names)) or None


def escaped(text):
    """The text, in which nothing is a placeholder."""
    return text.replace("{{", "{{{{")


def cut(text, limit):
    """The beginning of a text within a number of bytes, and the rest."""
    data = text.encode()
    if len(data) <= limit:
        return text, ""
    head = data[:limit].decode(errors="ignore")
    # At the end of a line if one is near, and never within what is escaped.
    end = head.rfind("\n", len(head) // 2) + 1 or len(head.rstrip("{")) or len(head)
    return head[:end], text[end:]


def pieces(text):
    """The text in parts that a notification can have."""
    while True:
        part, text = cut(text, LONGEST_TEXT)
        yield part
        if not text:
            return


def members(title, notify_type, meta):
    """What all parts of a notification have, and what only the first has."""
    common = {"form": "alert"}
    if title:
        common["title"] = cut(escaped(" ".join(title.split())), LONGEST_TITLE)[0]
    if notify_type in IMPORTANCE:
        common["importance"] = IMPORTANCE[notify_type]
    for name, value in meta.get("qsd", {}).items():
        if name in OPTIONS:
            common[OPTIONS[name]] = value
        elif name not in OF_APPRISE:
            raise Refused(f"?{name}= is unknown; there are {', '.join(sorted(OPTIONS))} and to")
    to = recipients(meta)
    if to:
        common["to"] = to
    # A later part would take the place of an earlier one.
    return common, {"replaces": common.pop("replaces")} if "replaces" in common else {}


def readable(attachment):
    """The name and the path of an attachment; what is elsewhere is fetched now."""
    if not attachment:
        raise Refused("an attachment cannot be read")
    return attachment.name or "attachment", attachment.path


def deliver(body, title, notify_type, meta, attach):
    """Sends all, or raises Refused."""
    server = Server(meta)
    common, first = members(title, notify_type, meta)
    # Before anything is sent.
    files = [readable(attachment) for attachment in attach or []]
    texts = list(pieces(escaped(body or "")))
    for index in range(max(len(texts), len(files))):
        part = dict(common, **(first if index == 0 else {}))
        if index < len(texts) and texts[index]:
            part["message"] = texts[index]
        if index >= len(files):
            server.request("POST", "/api/notifications", json=part)
            continue
        name, path = files[index]
        with open(path, "rb") as file:
            form = {"notification": (None, json.dumps(part), "application/json"), "file": (name, file)}
            server.request("POST", "/api/notifications", files=form)


@notify(on="richpushs", name="richpush over TLS")
@notify(on="richpush", name="richpush")
def send(body, title, notify_type, *args, meta, **kwargs):
    """What Apprise calls for each notification."""
    form = kwargs.get("body_format")
    # Apprise 1.2 has converted it already.
    if str(getattr(form, "value", form)) == "html":
        body = convert_between(form, "text", body)
    try:
        deliver(body, title, getattr(notify_type, "value", notify_type), meta, kwargs.get("attach"))
    except Refused as error:
        LOG.error("richpush: %s", error)
        return False
    return True
