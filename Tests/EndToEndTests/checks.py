"""Runs the checks of a file that uses a browser, one after the other."""

import os
import pathlib
import signal
import sys
import threading
import time
import traceback

import greenlet

# Of one check, in seconds: many times what the longest one takes on a busy machine.
LONGEST = 150


def judge(checks, run):
    """Has `run` run the functions whose names begin with "check", all of them, whatever fails.

    With the variable ONLY only those whose names have it in them. Some calls of a browser have no time limit: after LONGEST
    it is killed, and where the check waited is printed. If that was the first time, the check is run once more, for which
    `run` starts another browser. Returns what `sys.exit` is to be given.
    """
    failures, only = [], os.environ.get("ONLY", "")
    thread, waiting = threading.get_ident(), greenlet.getcurrent()
    hung = []

    def kill_browser(title):
        hung.append(title)
        # Playwright waits in another greenlet; of this one the frames are kept there.
        frames = traceback.format_stack(waiting.gr_frame or sys._current_frames()[thread])
        ours = [frame for frame in frames if "site-packages" not in frame]
        print(f"{title} hangs at\n{''.join(ours[-3:])}", flush=True)
        for process in descendants(os.getpid()):
            if process.joinpath("comm").read_text().startswith("chromium"):
                os.kill(int(process.name), signal.SIGKILL)

    def attempt(title, check):
        """The failure of a check, if it has one."""
        watch = threading.Timer(LONGEST, kill_browser, [title])
        watch.start()
        try:
            run(check)
        except Exception:
            return f"{title}\n{traceback.format_exc(limit=-3)}"
        finally:
            watch.cancel()

    for name, check in checks:
        if not name.startswith("check_") or only not in name:
            continue
        title, start = name.replace("_", " "), time.monotonic()
        failure = attempt(title, check)
        if hung == [title]:
            failure = attempt(title, check)
        if failure:
            failures.append(failure)
            print("FAILED: ", end="")
        print(f"{time.monotonic() - start:5.1f} s  {title}", flush=True)
    return "\n".join(failures) if failures else 0


def descendants(process):
    """The folders in /proc of what a process has started."""
    for child in pathlib.Path(f"/proc/{process}/task/{process}/children").read_text().split():
        yield pathlib.Path("/proc", child)
        yield from descendants(child)
