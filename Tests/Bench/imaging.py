#!/usr/bin/env python3
"""Thumbnails by img beside its peers, in one run, as ratios with their targets.

    Tests/Bench/imaging.py [IMG] [ROUNDS] [NAME]

IMG is the built executable (default .build/release/img); NAME chooses pictures by a part of their names. Times are of processors, children's included, the least of
ROUNDS rounds (default 7) in which each works once and who begins changes. A ratio above 1 means that img is faster:

- pyvips (PyPI's wheel with its own codecs) and Pillow (with `draft`, which has libjpeg decode at a scale), with one thread
  inside a warm process, beside img inside a process that has made that thumbnail once;
- "djpeg | cjpeg", at the scale img decodes at, and vipsthumbnail (Debian's codecs, which are img's too) beside img as
  a whole process;
- libpng reading the rows and doing nothing with them, which any PNG costs that libpng reads.

Then the most memory the whole process has. Ends with 1 when a target is missed.
"""
import io, os, re, resource, subprocess, sys, time

os.environ["VIPS_CONCURRENCY"] = "1"
import pyvips
from PIL import Image
from photographs import FOLDER, JPEGS, PNGS, REAL, pictures

IMG = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else ".build/release/img")
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 7
NAME = sys.argv[3] if len(sys.argv) > 3 else ""
PIXELS = 1024, 400, 160
QUALITY = 82
missed = []


def spent(*pipeline):
    """Processor seconds of programs, each reading what the one before it writes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    processes, source = [], None
    for arguments in pipeline:
        sink = subprocess.DEVNULL if arguments is pipeline[-1] else subprocess.PIPE
        processes.append(subprocess.Popen(arguments, stdin=source, stdout=sink))
        if source:
            source.close()
        source = processes[-1].stdout
    for process in processes:
        if process.wait() != 0:
            raise SystemExit(f"{process.args} failed")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def img(path, pixels, *options):
    arguments = [IMG, "render", path, "/dev/null", "--width", str(pixels), *options]
    return subprocess.run(arguments, check=True, capture_output=True, text=True).stdout


def warm(path, pixels):
    """One thumbnail, after one that does not count."""
    return int(re.search(r"fastest: (\d+)", img(path, pixels, "--repeat", "2"))[1]) / 1e6


def vips(path, pixels):
    pyvips.cache_set_max(0)
    start = time.process_time()
    pyvips.Image.thumbnail(path, pixels, size="down").write_to_buffer(".jpg", Q=QUALITY)
    return time.process_time() - start


def pillow(path, pixels):
    start = time.process_time()
    with Image.open(path) as image:
        height = max(1, round(image.height * pixels / image.width))
        image.thumbnail((pixels, height), Image.Resampling.LANCZOS, reducing_gap=2)
        image.save(io.BytesIO(), "JPEG", quality=QUALITY)
    return time.process_time() - start


def vipsthumbnail(path, pixels, suffix):
    output = f"{FOLDER}/out-%s.{suffix}" + (f"[Q={QUALITY}]" if suffix == "jpg" else "")
    return spent(["vipsthumbnail", path, "-s", f"{pixels}x", "-o", output])


def row(path, pixels, peer, ours, theirs, target):
    ratio = theirs / ours
    verdict = "" if target is None else f">= {target:4.2f}  {'ok' if ratio >= target else 'MISSED'}"
    if target is not None and ratio < target:
        missed.append((os.path.basename(path), pixels, peer))
    print(f"{os.path.basename(path):36}{pixels:6}  {peer:28}{ours * 1e3:8.1f}{theirs * 1e3:8.1f}{ratio:7.2f}  {verdict}",
          flush=True)


def compare(path, pixels, rivals):
    """`rivals`: what to call a peer -> (ours, the peer, the target); each work is done once a round."""
    works = list(dict.fromkeys(work for ours, theirs, _target in rivals.values() for work in (ours, theirs)))
    best = {}
    for turn in range(ROUNDS):
        first = turn % len(works)
        for work in works[first:] + works[:first]:
            best[work] = min(best.get(work, 1e9), work())
    for name, (ours, theirs, target) in rivals.items():
        row(path, pixels, name, best[ours], best[theirs], target)


def jpeg(path, pixels):
    eighths = re.search(r"at (\d)/8", img(path, pixels, "--explain"))[1]
    ours, whole = (lambda: warm(path, pixels)), (lambda: spent([IMG, "render", path, "/dev/null", "--width", str(pixels)]))
    is_real = os.path.basename(path) in REAL
    is_slow = is_real or "progressive" in path
    hard = {1024: 1.4, 400: 1.3, 160: 1.3} if "444" in path else {400: 1.3, 160: 1.3} if "portrait" in path else {}
    targets = hard if is_real else {160: 1.5} if is_slow else {1024: 1.35, 400: 1.2, 160: 1.2}
    pipe = ["djpeg", "-scale", f"{eighths}/8", path], ["cjpeg", "-quality", str(QUALITY)]
    compare(path, pixels, {
        "pyvips": (ours, lambda: vips(path, pixels), targets.get(pixels)),
        "Pillow with draft": (ours, lambda: pillow(path, pixels), hard.get(pixels)),
        f"djpeg -scale {eighths}/8 | cjpeg": (whole, lambda: spent(*pipe), 1.0 if re.search(r"-(12|24)", path) else None),
        "vipsthumbnail": (whole, lambda: vipsthumbnail(path, pixels, "jpg"), None if is_slow else 1.8),
    })


def png(path, pixels):
    kind = re.search(r"result: image/(\w+)", img(path, pixels, "--explain"))[1]
    ours, whole = (lambda: warm(path, pixels)), (lambda: spent([IMG, "render", path, "/dev/null", "--width", str(pixels)]))
    compare(path, pixels, {
        f"vipsthumbnail to {kind}": (whole, lambda: vipsthumbnail(path, pixels, kind.replace("jpeg", "jpg")), 1.6),
        "libpng's reading alone": (whole, lambda: spent([f"{FOLDER}/pngread", path]), None),
        "pyvips": (ours, lambda: vips(path, pixels), 1.05),
    })


def memory(path, pixels, most):
    """The most memory of the whole process, in MiB."""
    used = int(re.search(r"memory: (\d+) KiB", img(path, pixels, "--explain"))[1]) / 1024
    verdict = "" if most is None else f"<= {most}  {'ok' if used <= most else 'MISSED'}"
    if most is not None and used > most:
        missed.append((os.path.basename(path), pixels, "memory"))
    print(f"{os.path.basename(path):36}{pixels:6}  {used:6.1f} MiB  {verdict}", flush=True)


if __name__ == "__main__":
    photographs, screens = (
        pictures({name: make for name, make in kinds.items() if NAME in name}) for kinds in (JPEGS | REAL, PNGS))
    subprocess.run(["cc", "-O2", "-o", f"{FOLDER}/pngread", "Tests/Bench/pngread.c", "-lpng"], check=True)
    print(f"{'picture':36}{'pixels':>6}  {'beside':28}{'img ms':>8}{'peer ms':>8}{'ratio':>7}  target")
    for path in photographs:
        for pixels in PIXELS:
            jpeg(path, pixels)
    for path in screens:
        for pixels in PIXELS:
            png(path, pixels)
    print("\nmost memory of the whole process")
    for path in photographs + screens:
        for pixels in PIXELS:
            memory(path, pixels, 20 if re.search(r"-12\.jpg", path) else None)
    for what in missed:
        print("missed:", *what)
    sys.exit(1 if missed else 0)
