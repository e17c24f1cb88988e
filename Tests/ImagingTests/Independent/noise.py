"""JPEGs with noise between their segments, and what Pillow shows of them.

    noise.py make SEED COUNT FOLDER    writes 0.jpg, 1.jpg, ...
    noise.py judge FOLDER              compares 0.original, 0.thumb and 0.ios, or 0.refused, of each with Pillow
"""
import io, pathlib, random, struct, subprocess, sys

import numpy as np
from PIL import Image, ImageCms, ImageDraw, ImageFile, ImageOps

# Pillow reads a file in blocks, at whose ends libjpeg cannot stop within an arithmetic code: each file is one block.
ImageFile.MAXBLOCK = 1 << 24

SOS, EOI, APP1 = 0xDA, 0xD9, 0xE1
EXTRA = [0xE0, 0xE1, 0xE2, 0xE5, 0xED, 0xEE, 0xFE]
SCANS = "0;1;2;"
PROFILE = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()


def drawn(chance):
    width, height = chance.randint(8, 330), chance.randint(8, 330)
    y, x = np.mgrid[0:height, 0:width]
    slopes = [(chance.random(), chance.random()) for _ in range(3)]
    planes = [40 + 170 * (a * x / width + b * y / height) / max(0.1, a + b) for a, b in slopes]
    image = Image.fromarray(np.dstack(planes).astype(np.uint8))
    pen = ImageDraw.Draw(image)
    for _ in range(4):
        left, top = chance.randint(-20, width), chance.randint(-20, height)
        pen.ellipse(
            (left, top, left + chance.randint(9, 99), top + chance.randint(9, 99)),
            fill=tuple(chance.randint(40, 215) for _ in range(3)))
    return image


def coded(chance):
    image = drawn(chance)
    if chance.random() < 0.15:
        flags = chance.choice(["-arithmetic", "-progressive -arithmetic", "-scans scans", "-restart 1 -scans scans", "-rgb"])
        sample = chance.choice(["1x1", "2x2", "2x1"])
        out = io.BytesIO()
        image.save(out, "PPM")
        scans = pathlib.Path(sys.argv[4]) / "scans"
        scans.write_text(SCANS)
        return subprocess.run(
            ["cjpeg", "-quality", "92", "-sample", sample, *flags.replace("-scans scans", f"-scans {scans}").split()],
            input=out.getvalue(), capture_output=True, check=True).stdout
    options = {"quality": chance.randint(80, 96), "subsampling": chance.choice([0, 1, 2])}
    if chance.random() < 0.4:
        options["progressive"] = True
    if chance.random() < 0.4:
        options["restart_marker_blocks"] = chance.randint(1, 12)
    if chance.random() < 0.2:
        options["icc_profile"] = PROFILE
    image = image.convert(chance.choice(["RGB", "RGB", "RGB", "L", "CMYK"]))
    out = io.BytesIO()
    image.save(out, "JPEG", **options)
    return out.getvalue()


def parts(data):
    """Segments, and what is coded between them, as a list of bytes behind the start marker."""
    found, at = [], 2
    while at < len(data):
        if data[at + 1] == EOI:
            found.append(data[at:])
            break
        end = at + 2 + int.from_bytes(data[at + 2:at + 4], "big")
        found.append(data[at:end])
        is_scan, at = data[at + 1] == SOS, end
        if is_scan:
            while not (data[at] == 0xFF and data[at + 1] != 0 and not 0xD0 <= data[at + 1] <= 0xD7):
                at += 1
            found.append(data[end:at])
    return found


def segment(marker, content):
    return bytes([0xFF, marker]) + struct.pack(">H", len(content) + 2) + content


def exif(orientation):
    order = "II" if orientation % 2 else "MM"
    sign = "<" if order == "II" else ">"
    tiff = order.encode() + struct.pack(sign + "HIHHHIHHI", 42, 8, 1, 0x112, 3, 1, orientation, 0, 0)
    return segment(APP1, b"Exif\0\0" + tiff)


def stray(chance):
    count = chance.choice([1, 1, 2, 3, 18, 200, 70_000])
    return chance.choice([
        lambda: bytes(count),
        lambda: b"\xff" * count,
        lambda: bytes(chance.randrange(255) for _ in range(min(count, 300))),
        lambda: b"\xff\x00" * min(count, 300),
        lambda: bytes([0xFF, chance.randint(0xD0, 0xD7)]) + bytes(count),
        lambda: b"\xff\x01" + bytes(count),
        lambda: b"hello " * min(count, 99),
        lambda: b"\xff\xff\x00\xff" + bytes(count),
        lambda: b"\xff" + bytes([chance.randint(2, 0xBF)]),
        lambda: b"\xff\xd8\xff\xe0" if chance.random() < 0.2 else b"\0\0",
    ])()


def noisy(chance):
    pieces = parts(coded(chance))
    first = next(index for index, piece in enumerate(pieces) if piece[:2] == bytes([0xFF, SOS]))
    if chance.random() < 0.5:
        pieces.insert(chance.randint(0, first), exif(chance.randint(1, 8)))
        first += 1
    if chance.random() < 0.3:
        pieces = [piece for piece in pieces if piece[:2] not in (b"\xff\xee", b"\xff\xe0")]
    for _ in range(chance.choice([0, 1, 1, 1, 2, 3])):
        headers = [index for index, piece in enumerate(pieces) if piece[:1] == b"\xff" and len(piece) > 4]
        place = chance.choice(headers + [len(pieces) - 1])
        action = chance.random()
        if action < 0.6:
            # Not straight behind the start marker: there a file has to look like a JPEG.
            pieces.insert(max(1, place), stray(chance))
        elif action < 0.8:
            content = chance.randbytes(chance.choice([0, 1, 30, 300]))
            piece = segment(chance.choice(EXTRA), content)
            pieces.insert(place, shortened(chance, piece) if chance.random() < 0.7 else piece)
        elif action < 0.9:
            pieces[place] = shortened(chance, pieces[place])
        elif action < 0.95:
            pieces.insert(place, chance.choice(pieces[:first]))
        else:
            pieces.append(chance.choice([b"\xff\xd9", b"\0" * 9, chance.randbytes(99)]))
    return b"\xff\xd8" + b"".join(pieces)


def shortened(chance, piece):
    """A segment whose length says less, or more, than it has."""
    if len(piece) < 5:
        return piece
    length = len(piece) - 2
    wrong = chance.choice([length - 1, length - 1, length - 2, length + 1, 0, 1, 2, chance.randint(0, length)])
    return piece[:2] + struct.pack(">H", min(max(0, wrong), 0xFFFF)) + piece[4:]


def make(seed, count, folder):
    for index in range(count):
        chance = random.Random(f"{seed} {index}")
        (folder / f"{index}.jpg").write_bytes(noisy(chance))


def shown(data, is_upright=False):
    """What Pillow shows, upright; None where it refuses."""
    try:
        with Image.open(io.BytesIO(data)) as image:
            image.load()
            if is_upright:
                assert image.getexif().get(0x112, 1) == 1
            return ImageOps.exif_transpose(image).convert("RGB")
    except (OSError, SyntaxError, ValueError, struct.error, EOFError):
        return None


def error(made, wanted):
    """The mean difference of blocks of four by four pixels: less would be the price of 4:2:0."""
    if wanted.size != made.size:
        wanted = wanted.resize(made.size, Image.Resampling.LANCZOS)
    made, wanted = made.reduce(4), wanted.reduce(4)
    return float(np.abs(np.asarray(made, float) - np.asarray(wanted, float)).mean())


def limit(wanted, size, most):
    """The most that a rendition may differ: more than `most` where stray bytes were read as bright random colours, of
    which Pillow's own coding (quality 82, 4:2:0) loses as much; where that is very much there is nothing to compare."""
    wanted, out = wanted.resize(size, Image.Resampling.LANCZOS), io.BytesIO()
    wanted.save(out, "JPEG", quality=82, subsampling=2)
    lost = error(shown(out.getvalue()), wanted)
    return max(most, 1.5 * lost) if lost < 5 else 255


def is_cut(path):
    """Whether a file has no end marker, by djpeg: such a file is refused, though Pillow shows it if it has all pixels."""
    # Otherwise it says the first of its warnings only.
    result = subprocess.run(["djpeg", *["-verbose"] * 3, path], capture_output=True)
    return b"Premature end of JPEG file" in result.stderr


def judge(folder):
    compared = refused = 0
    for path in sorted(folder.glob("*.jpg")):
        wanted = shown(path.read_bytes())
        sentence = path.with_suffix(".refused")
        if sentence.exists():
            refused += 1
            text = sentence.read_text()
            if wanted is not None and not is_cut(path) or not text.endswith("."):
                print(f"WRONG {path.name}: refused, {text}")
            continue
        compared += 1
        for name, most in (("original", 2.0), ("ios", 4.0), ("thumb", 6.0)):
            made = shown(path.with_suffix("." + name).read_bytes(), is_upright=name == "thumb")
            if made is None:
                print(f"WRONG {path.name}: {name} does not decode")
            elif wanted is not None:
                if name != "thumb" and made.size != wanted.size:
                    print(f"WRONG {path.name}: {name} has {made.size}, not {wanted.size}")
                elif (mean := error(made, wanted)) > most and (
                        name == "original" or mean > limit(wanted, made.size, most)):
                    print(f"WRONG {path.name}: {name} has a mean error of {mean:.1f}")
    print(f"{compared} compared, {refused} refused")


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2], int(sys.argv[3]), pathlib.Path(sys.argv[4]))
    else:
        judge(pathlib.Path(sys.argv[2]))
