#!/usr/bin/env python3
"""Runs every command of the program as root where it is most dangerous, and compares the whole root before and after.

usage: untouched.py PACKAGE.deb PROGRAMS      (as root; PROGRAMS is the folder of a build, such as .build/release)

The program is that of the package and that of a source tree. Nothing may differ but what a command names: the mode,
owner, size, times and target of each file are compared. That is done after all commands in a place, since it takes longer
than they do; if anything differs, all is done once more in a new root, and compared after each command, to name the one.
"""

import contextlib
import itertools
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

from root import SOURCE, Root, run

PACKAGE, PROGRAMS = map(os.path.abspath, sys.argv[1:])
TREE = "/home/x/src"
PASSWORD = "open sesame\n"
# Not compared: what the kernel shows, and where temporary files go (TMPDIR).
IGNORED = {"/proc", "/dev", "/sys", "/run/scratch"}
LONELY = ["--server", "http://127.0.0.1:9"]
# Each command of `richpush --help`, without a data folder and with arguments that do something, and what it may make
# below the current folder.
COMMANDS = {
    "serve": [("serve --listen 127.0.0.1:0", ["var"]),
              ("serve --listen 127.0.0.1:0 --demo", ["var", "assets", "plugins"]),
              ("serve --listen 127.0.0.1:0 --demo --user nobody", ["var", "assets", "plugins"])],
    "device": [("device --user a --count 1", ["received", "received/a"])],
    "notify": [("notify --user a --to a --payload logo.png Look", [])],
    "amend": [("amend 1 --user a Look", [])],
    "withdraw": [("withdraw 1 --user a", [])],
    "sent": [("sent list --user a", []), ("sent weeks --user a", [])],
    "audience": [("audience --user a --to a", [])],
    "asset": [("asset list --user a", []), ("asset check assets", []), ("asset check var", []),
              ("asset add --user a --type img /etc/hostname", []), ("asset remove --user a img/x.png", []),
              ("asset removed --user a", []), ("asset versions --user a img/x.png", []),
              ("asset restore --user a img/x.png", []), ("asset uses --user a img/x.png", []),
              ("asset labels --user a", []), ("asset rename --user a img/x.png y.png", [])],
    "webhook": [("webhook list --user a", []), ("webhook test --template github /etc/hostname", [])],
    "outbox": [("outbox list --user a", [])],
    "people": [("people list --user a", [])],
    "audit": [("audit --user a", [])],
    "session": [("session list --user a", [])],
    "user": [(f"user {words}", []) for words in (
        "list", "add alice", "password alice", "devices alice", "quota alice --max-devices 9", "pair alice", "pairings alice",
        "link alice 1 --oidc-issuer https://a.example", "unlink alice", "waiting", "approve alice", "remove alice",
        "export alice", "erase alice --yes")],
    "token": [(f"token {words}", []) for words in (
        "add ci --user alice --to news", "list", "remove ci --user alice")],
    "ntfy": [("ntfy subscribe --user alice --server http://127.0.0.1:1", [])],
    "push": [(f"push {words}", []) for words in (
        "list", "check", "replay", "cancel 1", "resume", "restore --lane apns --since 1d",
        "silent --days 9 --end")],
    "key": [(f"key {words}", []) for words in ("list", "rotate", "rotate --tls", "remove 1", "vapid")],
    "store": [(f"store {words}", []) for words in (
        "check", "check --repair", "restore /srv/backup", "restore var",
        "migrate --from var --to postgres://richpush@127.0.0.1:1/none")]
    + [("store backup copy", ["copy"]), ("store backup var", ["var"])],
    "plugin": [("plugin list", []), ("plugin new coupon", ["plugins", "plugins/coupon"]),
               ("plugin run img --asset {assets}/img/logo.png", []), ("plugin check img", []), ("plugin check plugins/old", []),
               ("plugin pack plugins/old", []), ("plugin install plugins/README", []), ("plugin install /etc/hostname", [])],
    "render": [("render {assets}/img/logo.png out.png --profile thumb", ["out.png"])],
    "status": [("status --user a", [])],
    "health": [("health", [])],
    "config": [("config check", []), ("config template", [])],
    "completion": [("completion bash", [])],
    "manual": [("manual serve", [])],
}
TAKES_STORE = {"user", "token", "ntfy", "key", "push", "store"}
TAKES_SERVER = {"device", "notify", "amend", "withdraw", "sent", "audience", "webhook", "outbox", "people", "audit", "session", "status", "health"}


def facts(root, folder=""):
    """Everything in the root or in a folder of it, by its path: inode, kind, mode, owner, links, size, times and target."""
    skipped = [word for path in IGNORED for word in ("-path", root.folder + path, "-prune", "-o")]
    found = subprocess.run(
        ["find", root.folder + folder, *skipped, "-printf", r"/%P\0%i %y%m %U:%G %n %s %T@ %C@ %l\0"],
        check=True, capture_output=True).stdout
    fields = os.fsdecode(found).split("\0")
    return dict(zip(fields[::2], fields[1::2]))


def differences(before, after, named):
    """The paths that differ, without those that are named, what is below them, and the folders that hold them."""
    holders = {os.path.dirname(path) for path in named if (path in before) != (path in after)}
    return {path: (before.get(path), after.get(path)) for path, _ in before.items() ^ after.items()
            if path not in holders and not any(path == name or path.startswith(name + "/") for name in named)}


class Changed(AssertionError):
    """Something differs that was not named."""


def run_as_root(root, program, words, place):
    """The command's exit code, and what it said; a server is ended once it listens."""
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "TMPDIR": "/run/scratch"}
    process = subprocess.Popen(
        root.words("/usr/bin/env", "-C", place, program, *words), env=environment, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if words[0] == "serve":
        process.stdin.close()
        said = process.stdout.readline()
        while "listening on" not in said and (line := process.stdout.readline()):
            said += line
        # The program is the first process of the namespace.
        children = open(f"/proc/{process.pid}/task/{process.pid}/children").read().split()
        if "listening on" in said:
            os.kill(int(children[0]), signal.SIGTERM)
        said += process.stdout.read()
    else:
        said = process.communicate(PASSWORD, timeout=120)[0]
    return process.wait(timeout=60), said


class Trial:
    """A program in a root, by its path, and the store that it finds everywhere."""

    def __init__(self, root, program, assets, store=None, each=False):
        self.root, self.program, self.assets, self.store, self.each = root, program, assets, store, each
        self.count, self.done, self.holders = 0, [], set()

    @contextlib.contextmanager
    def untouched(self, what, named=()):
        """Fails if the body changes anything that is not `named` or below that, but for what it has taken away again."""
        before, self.done, self.holders = facts(self.root), [], set()
        yield
        after = facts(self.root)
        for path in self.holders & before.keys() & after.keys():
            # When its entries changed is the one thing that cannot be set back.
            before[path], after[path] = (all[path].rsplit(" ", 2)[0] for all in (before, after))
        if wrong := differences(before, after, named):
            raise Changed(f"{what} changed {wrong}\n" + "\n".join(self.done))
        print(what, flush=True)

    def run(self, text, place, named=(), code=None):
        """Runs a command, which may change what is `named`; what it said."""
        words = text.format(assets=self.assets).split()
        if words[0] in TAKES_SERVER or "--user a" in text:
            words += LONELY
        named = [os.path.join(place, name) for name in named]
        if self.store and words[0] in TAKES_STORE and "--data" not in words:
            named.append(self.store)
        # The store, which others may change, is soon looked through.
        watched = "" if self.each else self.store if self.store not in named else None
        before = None if watched is None else facts(self.root, watched)
        result, said = run_as_root(self.root, self.program, words, place)
        if before is not None:
            wrong = differences(before, facts(self.root, watched), named)
            assert not wrong, f"{self.program} {text}, in {place}, ended with {result} and changed {wrong}\n{said}"
        self.done.append(f"{self.program} {text}")
        assert "Fatal error" not in said and result >= 0, f"{self.program} {text}, in {place}: {result}\n{said}"
        assert code is None or result == code, f"{self.program} {text}, in {place}: {result}\n{said}"
        self.count += 1
        return said

    def run_all(self, place):
        """Every command in a folder, which is as before afterwards."""
        for text, made in itertools.chain.from_iterable(COMMANDS.values()):
            paths = [os.path.join(place, name) for name in made]
            # What is there is not the command's to change, but for the drop folder of a demonstration.
            named = [path for path in paths if not os.path.lexists(self.root.folder + path)]
            holders = {path: os.lstat(self.root.folder + path) for path in {place, *map(os.path.dirname, named)}
                       if os.path.lexists(self.root.folder + path)}
            said = self.run(text, place, named)
            if text.startswith("serve"):
                is_refused = os.path.join(place, "var") not in named
                assert ("not empty" in said) == is_refused, f"{text}, in {place}: {said}"
                assert ("listening on" in said) != is_refused, f"{text}, in {place}: {said}"
            made_now = [self.root.folder + path for path in named if os.path.lexists(self.root.folder + path)]
            for path in made_now:
                if os.path.isdir(path):
                    shutil.rmtree(path)
                elif os.path.lexists(path):
                    os.unlink(path)
            for path, then in holders.items() if made_now else ():
                os.utime(self.root.folder + path, ns=(then.st_atime_ns, then.st_mtime_ns))
                self.holders.add(path)


def make_foreign(folder):
    """A folder with all kinds of files that somebody may have, also by the names that the program uses."""
    for name in ("var/lib", "var/log", "var/tmp", "var/cache", "assets/img", "assets/letters", "plugins/old/.git"):
        os.makedirs(f"{folder}/{name}")
    os.chmod(folder + "/var/tmp", 0o1777)
    os.chmod(folder + "/assets/letters", 0o777)
    for name, mode in (("var/lib/secret", 0o600), ("var/node", 0o755), ("var/lock", 0o666), ("var/objects", 0o644),
                       ("assets/img/logo.png", 0o664), ("assets/img/logo.png.notify.json", 0o640),
                       ("assets/letters/one", 0o604), ("plugins/old/tool", 0o4755), ("plugins/README", 0o644)):
        with open(f"{folder}/{name}", "w") as file:
            file.write("theirs\n")
        os.chmod(file.name, mode)
    os.chown(folder + "/var/lib/secret", 1234, 1234)
    os.chown(folder + "/plugins/old/tool", 0, 0)
    for name, target in (("var/blobs", "/etc"), ("var/renditions", "../../.."), ("var/database", "/nowhere"),
                         ("var/richpush.db", "/etc/passwd.db"), ("assets/sound", "/usr/share"), ("plugins/etc", "/etc")):
        os.symlink(target, f"{folder}/{name}")
    os.mkfifo(folder + "/var/control")
    os.mknod(folder + "/var/disk", 0o60600, os.makedev(7, 250))
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(folder + "/var/sock")
    os.link(folder + "/var/lib/secret", folder + "/var/tmp/3w5e11264sgsf")


def install_tree(root):
    """The programs as they are in a source tree after a build."""
    place = root.folder + TREE
    os.makedirs(place + "/.build/release")
    for name in ("img", "sound", "video", "url", "img-decode", "richpush", "richpush-exec"):
        shutil.copy(f"{PROGRAMS}/{name}", f"{place}/.build/release/{name}")
    for name in ("plugins", "assets"):
        shutil.copytree(f"{SOURCE}/{name}", f"{place}/{name}", symlinks=True)
    # A debug build looks for Swift's libraries beside the programs.
    listed = run("ldd", f"{PROGRAMS}/richpush", f"{PROGRAMS}/img")
    for path in set(re.findall(r"=> (/\S+) \(0x", listed)):
        if "swift" in path:
            shutil.copy(path, place + "/.build/release")


def walk(each):
    """Runs all in a new root; how many commands."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as scratch:
        os.mkdir(scratch + "/root")
        root = Root(scratch + "/root", PACKAGE)
        root.install(PACKAGE)
        os.makedirs(root.folder + "/run/scratch")
        os.makedirs(root.folder + "/home/x")
        os.chown(root.folder + "/home/x", 1000, 1000)
        make_foreign(root.folder + "/home/x/foreign")
        make_foreign(root.folder + "/srv/full")
        install_tree(root)
        store = "/var/lib/richpush"
        package = Trial(root, "/usr/bin/richpush", "/usr/lib/richpush/assets", store, each)
        tree = Trial(root, TREE + "/.build/release/richpush", TREE + "/assets", None, each)
        listed = set(root.run("richpush", "completion", "commands").split())
        assert listed == COMMANDS.keys(), listed ^ COMMANDS.keys()
        # A backup, for the commands that restore one.
        with package.untouched("a backup", ["/srv/data", "/srv/backup"]):
            for text, made in (("user add alice --data /srv/data", ["/srv/data"]),
                               ("store backup /srv/backup --data /srv/data", ["/srv/backup", "/srv/data"])):
                package.run(text, "/", made, code=0)

        with package.untouched("without a store"):
            said = package.run("user list", "/home/x", code=1)
            assert f"there is no store of richpush in {store}" in said, said
        for trial in (tree, package):
            own = [store] if trial.store else []
            for place in ("/", "/tmp", "/home/x", "/home/x/foreign", "/srv/full"):
                with trial.untouched(f"{trial.program} in {place}", own):
                    trial.run_all(place)
            # A folder that is named, and is not a store.
            for place in ("/", "/srv/full"):
                with trial.untouched(f"{trial.program} in {place}, with a folder that is no store"):
                    for data, text in itertools.product(("/", "/var", "/etc", "/home/x/foreign/var", "."), (
                            "user list", "user add bob", "key rotate", "store check --repair", "push list",
                            "store restore /srv/backup", "serve --demo --listen 127.0.0.1:0",
                            "serve --user nobody --listen 127.0.0.1:0")):
                        said = trial.run(f"{text} --data {data}", place, code=1)
                        assert "not empty" in said or "does not belong" in said, said
        with tree.untouched("a tree without a folder"):
            for text, code in (("user list", 64), ("store check", 64)):
                said = tree.run(text, "/", code=code)
                assert "pass --data FOLDER" in said, said

        with package.untouched("the package's store, which is found everywhere", [store, "/srv/data"]):
            package.run("user add anna", "/tmp", code=0)
            for place in ("/", "/tmp", "/srv/full"):
                assert "anna\tdevice" in package.run("user list", place, code=0)
                for text in ("key rotate", "store check", "push list", "push check"):
                    package.run(text, place, code=0)
            others = root.run("find", store, "!", "-user", "richpush")
            assert not others, f"not the service's:\n{others}"
            assert "alice" in package.run("user list --data /srv/data", "/", ["/srv/data"], code=0)
        return package.count + tree.count


def main():
    try:
        count = walk(each=False)
    except Changed as changed:
        print(changed, flush=True)
        walk(each=True)
        raise
    print(f"{count} commands changed nothing but what they name")


main()
