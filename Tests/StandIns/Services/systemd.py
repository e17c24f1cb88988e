#!/usr/bin/env python3
"""A stand-in for systemd as the manager of one service: sd_notify(3), the watchdog, socket activation.

usage: systemd.py WATCHDOG SOCKETS PROGRAM ARGUMENT…

WATCHDOG is in seconds. SOCKETS sockets listen on one port for the program; with 0 it opens its own.
What the program sends is printed to standard error, a line each. SIGHUP is passed on, SIGUSR1 starts the
program again, SIGTERM ends it; the exit code is then the program's.
"""

import os
import select
import signal
import socket
import sys
import tempfile

watchdog, count, words = float(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
address = tempfile.mkdtemp() + "/notify"
notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
notify.bind(address)
listeners, port = [], 0
for _ in range(count):
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(1024)
    port = listener.getsockname()[1]
    listeners.append(os.dup2(listener.fileno(), 100 + len(listeners), inheritable=False))
wanted = {"end": False, "restart": False}


def start():
    pid = os.fork()
    if pid:
        return pid
    environment = dict(os.environ, NOTIFY_SOCKET=address, WATCHDOG_USEC=str(int(watchdog * 1e6)),
                       WATCHDOG_PID=str(os.getpid()))
    if listeners:
        environment.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(count))
        for index, number in enumerate(listeners):
            os.dup2(number, 3 + index, inheritable=True)
    os.execve(words[0], words, environment)


def wish(what):
    wanted[what] = True
    os.kill(child, signal.SIGTERM)


child = start()
# The thread that started this process may have blocked them.
signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGHUP, signal.SIGUSR1, signal.SIGTERM})
signal.signal(signal.SIGHUP, lambda *_: os.kill(child, signal.SIGHUP))
signal.signal(signal.SIGUSR1, lambda *_: wish("restart"))
signal.signal(signal.SIGTERM, lambda *_: wish("end"))
while True:
    if select.select([notify], [], [], 0.02)[0]:
        print(notify.recv(4096).decode(), file=sys.stderr, flush=True)
        continue
    ended, status = os.waitpid(child, os.WNOHANG)
    if not ended:
        continue
    if not wanted["restart"]:
        sys.exit(os.waitstatus_to_exitcode(status))
    wanted["restart"] = False
    child = start()
