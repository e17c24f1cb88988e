"""Runs the checks of a file that uses a browser, one after the other."""

import os
import sys
import threading
import time
import traceback

import greenlet

# Of one check, in seconds: many times what the longest one takes on a busy machine.
LONGEST = 150


def judge(checks, run):
    """Has `run` run the functions whose names begin with "check", all of them, whatever fails.

    With the variable ONLY only those whose names have it in them. What a browser never answers has no time limit of its
    own: after LONGEST the program ends, and says where it waited. Returns what `sys.exit` is to be given.
    """
    failures, only = [], os.environ.get("ONLY", "")
    thread, waiting = threading.get_ident(), greenlet.getcurrent()

    def hangs(title):
        # Playwright waits in another greenlet; of this one the frames are kept there.
        frames = traceback.format_stack(waiting.gr_frame or sys._current_frames()[thread])
        print("\n".join([*failures, f"{title} hangs at\n{''.join(frames[-3:])}"]), file=sys.stderr, flush=True)
        os._exit(1)

    for name, check in checks:
        if not name.startswith("check_") or only not in name:
            continue
        title, start = name.replace("_", " "), time.monotonic()
        watch = threading.Timer(LONGEST, hangs, [title])
        watch.start()
        try:
            run(check)
        except Exception:
            failures.append(f"{title}\n{traceback.format_exc(limit=-3)}")
            print("FAILED: ", end="")
        finally:
            watch.cancel()
        print(f"{time.monotonic() - start:5.1f} s  {title}", flush=True)
    return "\n".join(failures) if failures else 0
