"""What processes cost."""
import os, re, subprocess, time


def processor_seconds(pids):
    """Processor time that processes, and their children that have ended, have used so far."""
    ticks = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/stat") as file:
                ticks += sum(map(int, file.read().rpartition(")")[2].split()[11:15]))
        except OSError:
            pass
    return ticks / os.sysconf("SC_CLK_TCK")


def counted(folder, program):
    """How a program is started whose instructions outside the kernel are counted, of itself and not of its children."""
    # Plugins may read the folders of the server's program and libraries, so no data may be in these.
    library, source = folder + "/preloaded/close.so", os.path.dirname(os.path.abspath(__file__)) + "/valgrindclose.c"
    os.makedirs(os.path.dirname(library), exist_ok=True)
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, source], check=True)
    return ["env", "LD_PRELOAD=" + library, "valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={folder}/instructions.%p", program]


def stripped(folder, program):
    """A copy of the server without debugging information, of whose form Debian's valgrind knows nothing."""
    programs = folder + "/stripped"
    copy = programs + "/richpush"
    if not os.path.exists(copy):
        os.mkdir(programs)
        subprocess.run(["strip", "-g", "-o", copy, program], check=True)
        for name in ("richpush-exec", "sound"):
            os.symlink(f"{os.path.dirname(program)}/{name}", f"{programs}/{name}")
    return copy


def instructions(folder, pid):
    """The instructions of such a process that has ended."""
    with open(f"{folder}/instructions.{pid}") as file:
        return int(re.search(r"^(?:summary|totals): (\d+)", file.read(), re.MULTILINE)[1])


def wait_until_idle(server):
    """Returns when a server has done what it does at its start."""
    before = -1
    for _ in range(120):
        now = server.seconds()
        if now - before < 0.05:
            return
        before = now
        time.sleep(0.5)
