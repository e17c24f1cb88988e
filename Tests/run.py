#!/usr/bin/env python3
"""Runs the tests, each suite in a process of its own and several processes at a time.

A suite that crashes or hangs costs no other suite its result, and suites that wait for processes
and timers overlap. Their temporary files are in memory where that is possible: fsync takes most of
the time otherwise, and how often and when it is called is tested all the same. TMPDIR chooses another
folder. The suites of the store run twice: on SQLite, and on a PostgreSQL server that lasts as long as the run,
or the one that RICHPUSH_TEST_DATABASE names. No suite runs again; if the whole machine stood still meanwhile, as
a virtual machine does at times, the output says so. Build first: swift build --build-tests

usage: Tests/run.py [--workers N] [--filter REGEX] [--skip REGEX] [--slowest N] [--follow] [--limit SECONDS]
                    [--log FILE]
"""

import argparse
import collections
import concurrent.futures
import contextlib
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time

BUNDLE = ".build/debug/richpushPackageTests.xctest"
# The longest suites start first; these, where nothing is known from an earlier run.
LONGEST = [
    "EndToEndTests.HostileMatrixSystemTests", "ImagingTests.IndependentDecoderSoakTests",
    "EndToEndTests.UntouchedRootSystemTests", "EndToEndTests.PackageSystemTests", "EndToEndTests.ConsoleSystemTests",
    "EndToEndTests.ObjectStoreSystemTests", "EndToEndTests.CutOffNodeSystemTests",
    "EndToEndTests.OtherRoleSystemTests", "ImagingTests.PictureFormsSoakTests", "EndToEndTests.DescriptionSystemTests",
    "EndToEndTests.AppSystemTests", "EndToEndTests.DatabaseAwaySystemTests", "EndToEndTests.NodesChaosSoakTests",
    "EndToEndTests.FilmShapeTests", "EndToEndTests.TrimmedFilmTests", "HTTPTests.DamagedFileTests",
    "ImagingTests.ForeignPictureTests", "EndToEndTests.FilmSoundTests", "EndToEndTests.PreparingTests",
    "EndToEndTests.PluginCommandTests", "OriginTests.AccessTests", "PushTests.WebPushLanesTests",
    "EndToEndTests.PushServiceTests", "StoreTests.RefusalTests on PostgreSQL"]
# What runs on both databases. System tests start servers of their own.
ON_BOTH = re.compile(r"StoreTests\.(?!.*(System|Soak)Tests$)")
POSTGRES, DATABASE = "Tests/StandIns/Services/postgres.sh", "RICHPUSH_TEST_DATABASE"
ON_POSTGRES = " on PostgreSQL"
# A file system in memory, and how much of it has to be free.
MEMORY, ROOM = "/dev/shm", 2 << 30

# A NUL in a test's argument swallows the end of its line, so these need not be at the start of one.
ENDED = re.compile(
    r"[✔✘➜] +Test (?!run |case )(?P<name>.*?)(?: with \d+ test cases?)? "
    r"(?:(?P<how>passed|failed) after (?P<seconds>[\d.]+) seconds(?: with .*)?\.|(?P<skip>skipped)\b.*)$",
    re.M)
STARTED = re.compile(r"◇ +Test (?!run |case )(?P<name>.*) started\.$", re.M)


class StandstillWatch(threading.Thread):
    """Notices how long nothing runs on this machine, to be told beside a failure."""

    STEP = 0.1
    # A busy machine keeps a process waiting for a tenth of this.
    LIMIT = 1.0

    def __init__(self):
        super().__init__(daemon=True)
        self.noticed = []
        self.start()

    @staticmethod
    def now():
        # The tests' clock, which also goes on while a virtual machine is suspended.
        return time.clock_gettime(time.CLOCK_BOOTTIME)

    def run(self):
        last = self.now()
        while True:
            time.sleep(self.STEP)
            now = self.now()
            if now - last > self.LIMIT:
                self.noticed.append((now, now - last))
            last = now

    def longest(self, since):
        """The seconds of the longest standstill that ended since then; 0 if there was none."""
        return max((seconds for end, seconds in self.noticed if end > since), default=0)


class Result:
    """What one suite's process printed, test by test."""

    def __init__(self, suite, output, seconds, ending):
        self.suite, self.output, self.seconds, self.ending = suite, output, seconds, ending
        ended = list(ENDED.finditer(output))
        self.times = [(float(m["seconds"] or 0), f"{suite}: {m['name']}") for m in ended]
        self.count = collections.Counter(m["how"] or m["skip"] for m in ended)
        self.failures = [m["name"] for m in ended if m["how"] == "failed"]
        # The rest were running when the process ended.
        rest = collections.Counter(m["name"] for m in STARTED.finditer(output))
        rest.subtract(m["name"] for m in ended)
        self.failures += [f"{name} ({ending})" for name, left in rest.items() if left > 0]
        if ending != "exit 0" and not self.failures:
            self.failures.append(ending)


def suites(arguments):
    """The suites to run; those that need PostgreSQL are named so."""
    listing = subprocess.run(
        [BUNDLE, "--testing-library", "swift-testing", "--list-tests"],
        capture_output=True, text=True, check=True).stdout
    found = collections.Counter(line.split("/")[0] for line in listing.splitlines() if "/" in line)
    names = [suite for suite, _ in found.most_common()]
    names += [suite + ON_POSTGRES for suite in names if ON_BOTH.match(suite)]
    return [
        suite for suite in names
        if re.search(arguments.filter, suite)
        and not (arguments.skip and re.search(arguments.skip, suite))]


@contextlib.contextmanager
def database(chosen):
    """The URL of a PostgreSQL server for the suites that need one, which ends with this process, however that ends."""
    if not any(suite.endswith(ON_POSTGRES) for suite in chosen):
        yield None
    elif DATABASE in os.environ:
        yield os.environ[DATABASE]
    else:
        folder = os.path.join(tempfile.gettempdir(), "postgres")
        # In a session of its own, which the interrupt key does not reach: it ends the server when this process has ended.
        with subprocess.Popen(
                [POSTGRES, folder, "lend"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                start_new_session=True) as server:
            url = server.stdout.readline().strip()
            if not url:
                sys.exit("PostgreSQL does not start; --skip PostgreSQL runs the other suites")
            yield url
            server.stdin.close()


def run(suite, url, arguments, watch):
    """Runs a suite; with the PostgreSQL server at the URL if it is named so."""
    start, began = time.monotonic(), watch.now()
    name = suite.removesuffix(ON_POSTGRES)
    command = [
        # Ends with this process.
        "setpriv", "--pdeathsig", "KILL", "--",
        BUNDLE, "--testing-library", "swift-testing", "--no-parallel",
        "--filter", "^" + re.escape(name) + "/"]
    environment = os.environ | {"NO_COLOR": "1"}
    environment.pop(DATABASE, None)
    if name != suite:
        environment[DATABASE] = url
    if arguments.follow:
        print(f"== {suite}", flush=True)
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment)
    lines = []

    def read():
        for line in process.stdout:
            lines.append(line.decode(errors="replace"))
            if arguments.follow:
                print(lines[-1], end="", flush=True)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        code = process.wait(arguments.limit)
        ending = f"exit {code}" if code >= 0 else f"ended by signal {-code}"
    except subprocess.TimeoutExpired:
        process.kill()
        ending = f"still running after {arguments.limit} s"
    reader.join(60)  # a program that the suite has left behind may hold its output open
    result = Result(suite, "".join(lines), time.monotonic() - start, ending)
    if result.failures:
        time.sleep(2 * watch.STEP)  # in which a standstill that has just ended is noticed
        if seconds := watch.longest(began):
            result.output += f"The machine stood still for {seconds:.1f} s while {suite} ran.\n"
    return result


def use_temporary_folder():
    """Makes a folder for the suites' files, which goes away with this process, however that ends."""
    parent = None
    if "TMPDIR" not in os.environ and os.path.ismount(MEMORY):
        status = os.statvfs(MEMORY)
        # Plugins are executed from it.
        if not status.f_flag & os.ST_NOEXEC and status.f_bavail * status.f_frsize >= ROOM:
            parent = MEMORY
    folder = tempfile.mkdtemp(prefix="richpush-", dir=parent)
    os.chmod(folder, 0o755)  # some tests run programs as another user
    os.environ["TMPDIR"] = tempfile.tempdir = folder
    remover = subprocess.Popen(
        ["sh", "-c", 'cat; rm -rf "$0"', folder], stdin=subprocess.PIPE, start_new_session=True)
    return remover


def remembered(log):
    """How long each suite took the last time, so that long ones start first."""
    try:
        with open(log + ".seconds") as file:
            return {suite: float(seconds) for suite, seconds in (line.rsplit(" ", 1) for line in file)}
    except OSError:
        return {}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--workers", type=int, default=2 * (os.cpu_count() or 1))
    parser.add_argument("--filter", default="", help="run the suites whose name (Module.Suite) matches")
    parser.add_argument("--skip", help="leave out the suites whose name matches")
    parser.add_argument("--slowest", type=int, default=0, metavar="N", help="name the N slowest tests")
    parser.add_argument("--follow", action="store_true", help="show what the suites print, and a list of them at the end")
    # A suite's own time limits are shorter; this ends one whose process does not react to them.
    parser.add_argument("--limit", type=int, default=3600, metavar="SECONDS", help="end a suite after so long")
    parser.add_argument("--log", default=".build/tests.log", metavar="FILE", help="where all output goes")
    arguments = parser.parse_args()

    # Ends at once, and what it has started ends with it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    before, remover = remembered(arguments.log), use_temporary_folder()
    chosen = sorted(suites(arguments), key=lambda suite: -before.get(
        suite, 60 + len(LONGEST) - LONGEST.index(suite) if suite in LONGEST else 5 if suite.startswith("EndToEnd") else 0))
    if arguments.follow:
        known = sum(before.get(suite, 0) for suite in chosen) / 60
        print(f"{len(chosen)} suites" + (f"; the last time, {known:.0f} minutes" if known else ""), flush=True)
    start, results, watch = time.monotonic(), [], StandstillWatch()
    with (database(chosen) as url, open(arguments.log, "w") as log,
          concurrent.futures.ThreadPoolExecutor(arguments.workers) as pool):
        for result in concurrent.futures.as_completed(
                pool.submit(run, suite, url, arguments, watch) for suite in chosen):
            result = result.result()
            results.append(result)
            log.write(result.output)
            log.flush()
            if result.failures and not arguments.follow:
                print(result.output, flush=True)
            elif sys.stdout.isatty():
                print(f"\r{len(results)} of {len(chosen)} suites ", end="", flush=True)
    with open(arguments.log + ".seconds", "w") as file:
        seconds = before | {result.suite: result.seconds for result in results}
        file.writelines(f"{suite} {value:.3f}\n" for suite, value in seconds.items())

    times = sorted((time for result in results for time in result.times), reverse=True)
    for seconds, name in times[:arguments.slowest]:
        print(f"{seconds:8.3f} s  {name}")
    for result in results if arguments.follow else []:
        word = "failed" if result.failures else "passed" if result.count["passed"] else "skipped"
        print(f"{word:8}{result.seconds:6.0f} s  {result.suite}")
    failures = [f"  {r.suite}: {name}" for r in results for name in r.failures]
    if failures:
        print("Failed:", *sorted(failures), sep="\n")
    count = sum((result.count for result in results), collections.Counter())
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(
        f"{len(chosen)} suites in {time.monotonic() - start:.0f} s, with "
        f"{usage.ru_utime + usage.ru_stime:.0f} s of processor time; all output is in {arguments.log}")
    print(f"{count['passed']} passed, {len(failures)} failed, {count['skipped']} skipped")
    remover.stdin.close()
    remover.wait()
    sys.exit(1 if failures or not chosen else 0)


if __name__ == "__main__":
    main()
