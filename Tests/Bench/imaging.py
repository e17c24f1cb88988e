#!/usr/bin/env python3
"""Thumbnails by img beside djpeg|cjpeg, pyvips, Pillow and vipsthumbnail, in one run, as ratios.

    Tests/Bench/imaging.py [IMG] [ROUNDS]

IMG is the built executable (default .build/release/img). The pictures come from the Debian packages
mate-backgrounds and plasma-workspace-wallpapers, which are fetched with apt-get and unpacked, not
installed; the tools from libjpeg-turbo-progs, netpbm and libvips-tools; pyvips[binary], numpy and Pillow
from PyPI, in a virtual environment. What is missing is left out. Every number is
processor time, the least of ROUNDS rounds in which all take turns; a ratio above 1 means that img is faster.
"""
import glob, os, re, subprocess, sys, time

os.environ["VIPS_CONCURRENCY"] = "1"
IMG = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else ".build/release/img")
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 7
CACHE = os.environ.get("BENCH_CACHE", os.path.expanduser("~/.cache/richpush-bench"))
WIDTHS = (1024, 400, 160)

try:
    import numpy, pyvips
except ImportError:
    numpy = pyvips = None
try:
    from PIL import Image
except ImportError:
    Image = None


def shell(command):
    subprocess.run(command, shell=True, check=True, cwd=CACHE, stderr=subprocess.DEVNULL)


def pictures():
    """Photographs of 2, 12 and 24 megapixels and a PNG, made once."""
    os.makedirs(CACHE, exist_ok=True)
    if not glob.glob(CACHE + "/x/usr"):
        shell("apt-get -q download mate-backgrounds plasma-workspace-wallpapers >/dev/null")
        shell("for d in *.deb; do dpkg -x $d x; done")
    mate = "x/usr/share/backgrounds/mate"
    wanted = {
        "dense-24.jpg": f"djpeg {mate}/abstract/Elephants_5640x3172.jpg | pnmscale -xsize 6000 -ysize 4000 | cjpeg -q 90",
        "dense-12.jpg": f"djpeg {mate}/abstract/Elephants_5640x3172.jpg | pnmscale -xsize 5376 | pnmcut 672 0 4032 3024 | cjpeg -q 90",
        "dense-12-progressive.jpg": "jpegtran -progressive dense-12.jpg",
        "smooth-12.jpg": "djpeg x/usr/share/wallpapers/Volna/contents/images/5120x2880.jpg | pnmscale -xsize 5376 | pnmcut 672 0 4032 3024 | cjpeg -q 90",
        "drops-2.jpg": f"djpeg {mate}/nature/RainDrops.jpg | pnmscale -xsize 1600 -ysize 1200 | cjpeg -q 85",
        "photo-12.png": "djpeg dense-12.jpg | pnmtopng -compression 6",
    }
    for name, command in wanted.items():
        if not os.path.exists(f"{CACHE}/{name}"):
            shell(f"{command} > {name}")
    return [f"{CACHE}/{name}" for name in wanted]


def clock(work):
    """Processor seconds of this process and its children: what else the machine does is not in them."""
    def used():
        t = os.times()
        return time.process_time() + t.children_user + t.children_system
    start = used()
    work()
    return used() - start


def run(*arguments):
    return subprocess.run(arguments, check=True, capture_output=True, text=True).stdout


def in_process(path, width):
    """Processor seconds of one thumbnail inside a warm process."""
    out = run(IMG, "render", path, "/dev/null", "--width", str(width), "--repeat", "4")
    return int(re.search(r"fastest: (\d+)", out)[1]) / 1e6


def scale(path, width):
    """The eighths img decoded at."""
    out = run(IMG, "render", path, "/dev/null", "--width", str(width), "--explain")
    found = re.search(r"at (\d)/8", out)
    return found and found[1]


def vips(path, width):
    pyvips.Image.thumbnail(path, width, size="down").write_to_buffer(".jpg", Q=82)


def pillow(path, width):
    image = Image.open(path)
    image.thumbnail((width, width), Image.LANCZOS, reducing_gap=2)
    image.convert("RGB").save("/dev/null", "JPEG", quality=82)


def has(program):
    return subprocess.run(["which", program], capture_output=True).returncode == 0


def compare(path, width):
    rivals = {}
    eighths = scale(path, width)
    if eighths and has("djpeg"):
        pipe = f"djpeg -scale {eighths}/8 {path} | cjpeg -q 82 > /dev/null"
        rivals["djpeg|cjpeg"] = lambda: clock(lambda: subprocess.run(pipe, shell=True))
    if pyvips:
        pyvips.cache_set_max(0)
        rivals["pyvips"] = lambda: clock(lambda: vips(path, width))
    if Image:
        rivals["Pillow"] = lambda: clock(lambda: pillow(path, width))
    if has("vipsthumbnail"):
        command = ["vipsthumbnail", path, "-s", f"{width}x", "-o", "/tmp/bench-%s.jpg[Q=82]"]
        rivals["vipsthumbnail*"] = lambda: clock(lambda: run(*command))
    best, whole, others = 1e9, 1e9, dict.fromkeys(rivals, 1e9)
    for _ in range(ROUNDS):
        best = min(best, in_process(path, width))
        whole = min(whole, clock(lambda: run(IMG, "render", path, "/dev/null", "--width", str(width))))
        for name, rival in rivals.items():
            others[name] = min(others[name], rival())
    row = f"{os.path.basename(path):26}{width:5}{best * 1000:8.1f}{whole * 1000:8.1f}"
    for name, seconds in others.items():
        row += f"  {name} {seconds / (whole if name.endswith('*') else best):4.2f}"
    print(row, flush=True)


def quality(path, width):
    """Luma SSIM of img and libvips against Lanczos-3 of the full decode in floating point."""
    run(IMG, "render", path, "/tmp/bench.jpg", "--width", str(width))
    vips_out = pyvips.Image.thumbnail(path, width, size="down")
    full = pyvips.Image.new_from_file(path).cast("float")
    reference = full.resize(width / full.width, vscale=vips_out.height / full.height, kernel="lanczos3", gap=0)
    grey = lambda image: image.colourspace("b-w", source_space="srgb").numpy().astype(float).squeeze()
    wanted = grey(reference)
    ours = grey(pyvips.Image.new_from_file("/tmp/bench.jpg"))
    theirs = grey(pyvips.Image.new_from_buffer(vips_out.write_to_buffer(".jpg", Q=82), ""))
    rows = min(wanted.shape[0], ours.shape[0])
    a, b = ssim(wanted[:rows], ours[:rows]), ssim(wanted[:rows], theirs[:rows])
    print(f"{os.path.basename(path):26}{width:5}  SSIM img {a:.4f}  libvips {b:.4f}  difference {a - b:+.4f}")


def ssim(a, b):
    """Mean structural similarity, 8x8 windows (Wang 2004)."""
    def mean(x):
        c = numpy.pad(x.cumsum(0).cumsum(1), ((1, 0), (1, 0)))
        return (c[8:, 8:] - c[:-8, 8:] - c[8:, :-8] + c[:-8, :-8]) / 64
    ma, mb = mean(a), mean(b)
    va, vb, vab = mean(a * a) - ma * ma, mean(b * b) - mb * mb, mean(a * b) - ma * mb
    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    return float((((2 * ma * mb + c1) * (2 * vab + c2)) / ((ma * ma + mb * mb + c1) * (va + vb + c2))).mean())


if __name__ == "__main__":
    print(f"{'picture':26}{'px':>5}{'ms':>8}{'process':>8}  times slower (* as whole processes)")
    files = pictures()
    for path in files:
        for width in WIDTHS:
            compare(path, width)
    if pyvips:
        print()
        for path in files:
            for width in WIDTHS:
                quality(path, width)
