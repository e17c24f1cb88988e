"""Writes PNGs to standard output, each as a line with its name and two sizes, then its bytes and those of
netpbm's reading of it through libpng: PngSuite as libsixel-examples carries it, and every colour type and depth,
plain and interlaced, with and without tRNS, at the sizes 1 to 9 and 32 that PngSuite has, in one data chunk and in
many. What netpbm refuses has the second size 0."""
import io, itertools, pathlib, subprocess, sys

import png

PNGSUITE = pathlib.Path("/usr/share/doc/libsixel-examples/examples/images/pngsuite")


def put(name, data):
    # pngtopam does not see the transparent colour of an RGB picture
    command = ["pngtopam"] if data[25] == 2 else ["pngtopam", "-alphapam"]
    result = subprocess.run(command, input=data, capture_output=True)
    read = result.stdout if result.returncode == 0 else b""
    sys.stdout.buffer.write(b"%s %d %d\n" % (name.encode(), len(data), len(read)) + data + read)


def samples(width, height, planes, depth, palette):
    top = 1 << depth
    for y in range(height):
        yield [
            (x * 7 + y * 13 + c * 5 + x * y) * (1 if depth < 8 else top // 64 + 1) % (palette or top)
            for x in range(width)
            for c in range(planes)
        ]


def write(width, height, planes, depth, palette=None, clear=None, interlace=False, chunk=1 << 20):
    writer = png.Writer(
        width, height, greyscale=planes < 3 and not palette, alpha=planes in (2, 4), bitdepth=depth,
        palette=palette, transparent=clear, interlace=interlace, chunk_limit=chunk)
    out = io.BytesIO()
    writer.write(out, samples(width, height, planes, depth, palette and len(palette)))
    return out.getvalue()


def palettes(count):
    colours = [(i * 37 % 256, i * 91 % 256, 255 - i) for i in range(count)]
    return colours, [c + (255 * i // count,) for i, c in enumerate(colours)]


for file in sorted(PNGSUITE.glob("*/*.png")):
    put(file.parent.name + "/" + file.stem, file.read_bytes())
kinds = [(1, d) for d in (1, 2, 4, 8, 16)] + [(p, d) for p in (2, 3, 4) for d in (8, 16)]
sizes = [(n, 10 - n) for n in range(1, 10)] + [(32, 32)]
for (width, height), interlace in itertools.product(sizes, (False, True)):
    place = f"{width}x{height}{'i' if interlace else ''}"
    for planes, depth in kinds:
        put(f"{place}-{planes}x{depth}", write(width, height, planes, depth, interlace=interlace))
    for depth in (1, 2, 4, 8):
        plain, translucent = palettes(min(1 << depth, 200))
        put(f"{place}-p{depth}", write(width, height, 1, depth, plain, interlace=interlace))
        put(f"{place}-pt{depth}", write(width, height, 1, depth, translucent, interlace=interlace))
    for depth in (1, 2, 4, 8, 16):
        put(f"{place}-t{depth}", write(width, height, 1, depth, clear=1, interlace=interlace))
    for depth in (8, 16):
        key = tuple(next(samples(1, 1, 3, depth, None)))
        put(f"{place}-tc{depth}", write(width, height, 3, depth, clear=key, interlace=interlace))
    put(f"{place}-many", write(width, height, 3, 8, interlace=interlace, chunk=3))
