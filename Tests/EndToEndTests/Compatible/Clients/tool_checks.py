"""What reports by itself, as packaging/recipes has it: borgmatic, mqttwarn, monit, systemd, cron, GitHub Actions."""

import os
import pathlib
import re
import shlex
import socket
import subprocess
import sys
import tempfile

from paho.mqtt import publish
from recipient import PICTURE, SETUP, run, split

RECIPES = pathlib.Path(SETUP.root, "packaging/recipes")
SCHEME, NTFY = split(SETUP.ntfy)
BIN = pathlib.Path(sys.executable).parent
HOME = pathlib.Path(tempfile.mkdtemp(dir=os.environ["HOME"]))


def recipe(name, replacing=()):
    """A recipe's text, with this server in the place of the examples, and perhaps other texts in the place of some."""
    text = (RECIPES / name).read_text()
    for old, new in replacing:
        assert old in text, f"{name} has no {old}"
        text = text.replace(old, new)
    for old, new in [("https://ntfy.example.org/ops", f"{SETUP.ntfy}/news"), ("rpt_…", SETUP.token),
                     ("/etc/richpush.curl", str(HOME / "richpush.curl"))]:
        text = text.replace(old, new)
    assert "example" not in text, text
    return text


def write(name, text, mode=0o600):
    path = HOME / name
    path.write_text(text)
    path.chmod(mode)
    return path


def command(*words, fails=False, **environment):
    """Runs a program to its end, and returns what it wrote."""
    done = subprocess.run(
        words, env=os.environ | environment, cwd=HOME, capture_output=True, text=True, timeout=120)
    assert (done.returncode != 0) == fails, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"
    assert SETUP.token not in done.stdout + done.stderr
    return done.stdout + done.stderr


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def check_cron(alice):
    """The line's command runs as cron runs it."""
    backup = write("backup", "#!/bin/sh\necho 'disk \"full\" äöü'\nexit $CODE\n", 0o700)
    (line,) = [line for line in recipe("crontab", [("/usr/local/bin/backup", str(backup))]).splitlines() if line[0] != "#"]
    assert "%" not in line
    # Five fields say when; what follows is for the shell.
    job = line.split(maxsplit=5)[5]
    command("/bin/sh", "-c", job, CODE="0")
    alice.gets(0)
    command("/bin/sh", "-c", job, CODE="1")
    alice.gets_one('disk "full" äöü', title="backup has failed")


def check_systemd(alice):
    """The unit is one, and its command runs as systemd runs it; the journal is a program of that name."""
    unit = write("richpush-failed@.service", recipe("richpush-failed@.service"))
    # Without a manager it knows no journal's group; what it says about the unit itself counts.
    said = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(unit)], capture_output=True, text=True, timeout=60).stderr
    assert not [line for line in said.splitlines() if "richpush-failed@" in line], said
    (line,) = [line for line in unit.read_text().splitlines() if line.startswith("ExecStart=")]
    words = [word.replace("%i", "web.service").replace("$$", "$")
             for word in shlex.split(line.removeprefix("ExecStart="))]
    write("journalctl", '#!/bin/sh\necho "$@" >>arguments\necho "web died: \\"äöü\\""\n', 0o700)
    # systemd shows the secret to the unit in a folder.
    credentials = HOME / "credentials"
    credentials.mkdir()
    (credentials / "curl").write_text((HOME / "richpush.curl").read_text())
    command(*words, PATH=f"{HOME}:{os.environ['PATH']}", CREDENTIALS_DIRECTORY=str(credentials))
    alice.gets_one('web died: "äöü"', title=f"web.service has failed on {os.uname().nodename}", importance="high")
    assert "--unit web.service" in (HOME / "arguments").read_text()


def check_monit(alice):
    """monit runs it because a file is not there."""
    text = recipe("monitrc", [
        ("check filesystem root with path /", f"check file gone with path {HOME}/no/file"),
        ("if space usage > 90%", "if does not exist")])
    head = f"set daemon 1\nset idfile {HOME}/id\nset statefile {HOME}/state\n"
    configuration = write("monitrc", head + text)
    with alice.waiting():
        monit = subprocess.Popen(["monit", "-I", "-c", str(configuration)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    monit.terminate()
    monit.communicate(timeout=60)
    first = alice.gets()[0]
    assert first["title"].startswith("gone@") and first["message"] == "file doesn't exist", first


def check_github_actions(alice):
    """The step's shell runs as GitHub's runner runs it."""
    text = recipe("github-actions.yml")
    script = re.search(r"  run: \|\n((?:    .*\n)+)", text)[1]
    script = write("step.sh", re.sub(r"^    ", "", script, flags=re.M))
    environment = {
        "RICHPUSH_TOKEN": SETUP.token, "GITHUB_REPOSITORY": "octo/app", "GITHUB_WORKFLOW": "build & test",
        "GITHUB_SERVER_URL": "https://github.example", "GITHUB_RUN_ID": "17", "GITHUB_REF_NAME": "@fix/\"1\"",
        "GITHUB_ACTOR": "mona"}
    command("/bin/bash", "-e", str(script), **environment)
    alice.gets_one('@fix/"1", by mona', title="octo/app: build & test has failed", importance="high",
                   link="https://github.example/octo/app/actions/runs/17")
    said = command("/bin/bash", "-e", str(script), fails=True, **(environment | {"RICHPUSH_TOKEN": "rpt_wrong"}))
    assert "401" in said, said


def check_borgmatic(alice):
    """borgmatic tells how a run has ended, with Debian's Borg."""
    hooks = recipe("borgmatic.yaml", [
        ("https://shop:rpt_…@ntfy.example.org", f"{SCHEME}://{SETUP.publisher}:{SETUP.token}@{NTFY}"),
        ("topic: ops", "topic: news")])
    (HOME / "data").mkdir()
    (HOME / "data/file").write_text("kept")
    location = f"location:\n  source_directories: [{HOME}/data]\n  repositories: [{HOME}/repository]\n"
    configuration = write("borgmatic.yaml", location + hooks)
    borg = {"BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK": "yes", "BORG_BASE_DIR": str(HOME / "borg")}
    arguments = [str(BIN / "borgmatic"), "--config", str(configuration), "--log-file", str(HOME / "log")]
    command(*arguments, "create", fails=True, **borg)
    alice.gets_one("The backup has failed.", title="🚨 Backup", importance="urgent")
    command(*arguments, "init", "--encryption", "none", **borg)
    alice.gets(0)
    command(*arguments, "create", **borg)
    alice.gets_one("The backup is done.", title="💾 Backup", importance="min")


def check_mqttwarn(alice):
    """A message for a broker, mosquitto, comes by mqttwarn, with a picture."""
    port = free_port()
    broker_file = write("mosquitto.conf", f"listener {port} 127.0.0.1\nallow_anonymous true\n")
    settings = write("mqttwarn.ini", f"""[defaults]
hostname = '127.0.0.1'
port = {port}
launch = ntfy

[config:ntfy]
targets = {{
    'text': {{'url': '{SCHEME}://{SETUP.publisher}:{SETUP.token}@{NTFY}/news'}},
    'picture': {{'url': '{SCHEME}://{SETUP.publisher}:{SETUP.token}@{NTFY}/news', 'file': '{PICTURE}'}},
    }}

[door]
targets = ntfy:text
title = Door 🦊

[camera]
targets = ntfy:picture
title = Camera
""")
    processes = [subprocess.Popen(
        ["mosquitto", "-c", str(broker_file)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)]
    try:
        for line in processes[0].stdout:
            if "running" in line:
                break
        processes.append(subprocess.Popen(
            [str(BIN / "mqttwarn")], env=os.environ | {"MQTTWARNINI": str(settings)}, cwd=HOME, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT))
        for line in processes[1].stdout:
            if "Subscribing to camera" in line:
                break
        for topic, text in [("door", "opened äöü\nby nobody"), ("camera", "somebody is there")]:
            with alice.waiting():
                # Kept for whoever subscribes later than it seems.
                publish.single(topic, text, qos=1, retain=True, hostname="127.0.0.1", port=port)
        door, camera = alice.gets(2)
    finally:
        for process in processes[::-1]:
            process.terminate()
            process.communicate(timeout=60)
    assert door["message"] == "opened äöü\nby nobody" and door["title"] == "Door 🦊", door
    assert camera["message"] == "somebody is there" and camera["payload"] == "beach.jpg", camera
    alice.expect_picture(camera)


write("richpush.curl", recipe("richpush.curl"))
run(globals())
