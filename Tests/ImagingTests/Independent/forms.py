"""APNGs with chunks in all orders, and pictures whose EXIF data has all forms, beside what browsers show.

    python forms.py make (animation|orientation) SEED COUNT FOLDER
    python forms.py (judge|compare) (animation|orientation) FOLDER

`make` writes COUNT files N.source and N.json. Beside each that it accepts the test puts N.facts (animated, width,
height) and what is sent: N.original, N.web, N.thumb and others; otherwise N.refused. `judge` prints a line WRONG for
each that Chromium shows otherwise than said, `compare` for each that Firefox shows otherwise than Chromium; at last both
print how many were compared."""
import collections, io, json, os, pathlib, random, struct, sys, warnings, zlib

from PIL import Image, ImageOps

import browsers

warnings.simplefilter("ignore")  # Pillow's, about what is odd on purpose
RED, GREEN, YELLOW, BLUE = (220, 20, 20), (20, 200, 20), (240, 220, 40), (20, 20, 220)
EDGE = 16


def chunk(name, data, is_sound=True):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data) ^ (not is_sound))


# ---- Animations ----

def pixels(colour, width, height):
    return zlib.compress((b"\0" + bytes(colour) * width) * height)


def animation(chance):
    """Chunks of an animation that all browsers play, and whether its first frame is a part of the picture."""
    numbers = iter(range(1000))
    frames = chance.randint(1, 4)
    is_own = chance.random() < .6
    is_part = False
    parts = [[b"IHDR", struct.pack(">IIBBBBB", EDGE, EDGE, 8, 2, 0, 0, 0)],
             [b"acTL", struct.pack(">II", frames, chance.randint(0, 2))]]
    picture = [b"IDAT", pixels(RED, EDGE, EDGE)]
    if not is_own:
        parts.append(picture)
    for index in range(frames):
        width = height = EDGE
        x = y = 0
        if (index > 0 or not is_own) and chance.random() < .3:
            width, height = chance.randint(1, EDGE), chance.randint(1, EDGE)
            x, y = chance.randint(0, EDGE - width), chance.randint(0, EDGE - height)
            is_part |= index == 0 and (width, height) != (EDGE, EDGE)
        parts.append([b"fcTL", struct.pack(">IIIIIHHBB", next(numbers), width, height, x, y, chance.randint(0, 3),
                                           chance.randint(0, 9), chance.randint(0, 2), chance.randint(0, 1))])
        if is_own and index == 0:
            parts.append(picture)
            continue
        data = pixels((RED, GREEN, BLUE, YELLOW)[(index + 1) % 4], width, height)
        cuts = sorted(chance.randint(0, len(data)) for _ in range(chance.choice((0, 0, 0, 1, 2))))
        for start, end in zip([0] + cuts, cuts + [len(data)]):
            parts.append([b"fdAT", struct.pack(">I", next(numbers)) + data[start:end]])
    return parts + [[b"IEND", b""]], is_part, frames


def renumbered(parts):
    number = 0
    for part in parts:
        if part[0] in (b"fcTL", b"fdAT"):
            part[1] = struct.pack(">I", number) + part[1][4:]
            number += 1


def mistake(chance, parts, unsound):
    """Changes the chunks between the first and the last."""
    at = chance.randrange(1, len(parts) - 1)
    what = chance.choice("move copy drop cut byte number grow unsound text space renumber announce".split())
    part = parts[at]
    if what == "move":
        parts.insert(chance.randrange(1, len(parts) - 1), parts.pop(at))
    elif what == "copy":
        parts.insert(chance.randrange(1, len(parts)), list(part))
    elif what == "drop" and len(parts) > 3:
        parts.pop(at)
    elif what == "cut":
        part[1] = part[1][:chance.randrange(len(part[1]) + 1)]
    elif what == "byte" and part[1]:
        place = chance.randrange(len(part[1]))
        part[1] = part[1][:place] + bytes([chance.choice((0, 1, 2, 3, 16, 17, 127, 255))]) + part[1][place + 1:]
    elif what == "number" and len(part[1]) > 7:
        place = chance.randrange(len(part[1]) // 4) * 4
        part[1] = part[1][:place] + struct.pack(">I", chance.choice((0, 1, 2, 8, 16, 17, 2**31, 2**32 - 1))) + part[1][place + 4:]
    elif what == "grow":
        part[1] += bytes(chance.randint(1, 9))
    elif what == "unsound":
        unsound.add(at)
    elif what == "text":
        parts.insert(at, [b"tEXt", b"Author\0secret"])
    elif what == "space":
        parts.insert(at, chance.choice(([b"pHYs", struct.pack(">IIB", 1, 1, 1)], [b"bKGD", bytes(6)], [b"tIME", bytes(7)])))
    elif what == "renumber":
        renumbered(parts)
    elif what == "announce":
        parts[1][1] = struct.pack(">II", chance.randint(0, 5), 0)
    return what


def make_animation(chance):
    parts, is_part, frames = animation(chance)
    parts, unsound = [list(part) for part in parts], set()
    mistakes = [mistake(chance, parts, unsound) for _ in range(chance.choice((0, 1, 1, 1, 2, 2, 3)))]
    if mistakes and chance.random() < .3:
        renumbered(parts)
    data = b"\x89PNG\r\n\x1a\n" + b"".join(
        chunk(name, content, index not in unsound) for index, (name, content) in enumerate(parts))
    return data, {"mistakes": mistakes, "frames": frames, "is_part": is_part}


def judge_animation(item, look):
    """Sentences about what is wrong with what is sent of a file."""
    facts = item.facts
    if facts is None:
        if not item.about["mistakes"]:
            yield "refused"
        return
    if not item.about["mistakes"] and facts[0] != (item.about["frames"] > 1):
        yield f"animated {facts[0]}"
    for name in item.sent:
        seen = look[name]
        if not seen["shown"] or seen["size"] != [EDGE, EDGE] or "frameFault" in seen:
            yield f"{name}: {seen}"
            continue
        moves = facts[0] and name in ("original", "web", "ios", "small")
        if seen["animated"] != moves or (seen["frames"] > 1) != moves:
            yield f"{name}: animated {facts[0]}, but {seen}"
        # All frames are opaque, but the first one of an animation may cover a part only.
        if not (moves and item.about["is_part"]) and any(corner[3] < 255 for corner in seen["corners"]):
            yield f"{name} is empty: {seen}"
    if not item.about["mistakes"] and not item.about["is_part"]:
        first = look["original"]["corners"][0]
        for name in item.sent:
            if any(abs(a - b) > 3 for a, b in zip(look[name]["corners"][0], first)):
                yield f"{name} does not show the first frame"


# ---- Orientations ----

TURNS = {"rgyb": 1, "grby": 2, "bygr": 3, "ybrg": 4, "rygb": 5, "yrbg": 6, "bgyr": 7, "gbry": 8}


def turn(corners):
    """The orientation by which the picture was turned, by its corners."""
    def letter(colour):
        red, green, blue = (value > 120 for value in colour[:3])
        return {(1, 0, 0): "r", (0, 1, 0): "g", (1, 1, 0): "y", (0, 0, 1): "b"}.get((red, green, blue), "?")
    return TURNS.get("".join(map(letter, corners)), 0)


def drawing():
    image = Image.new("RGB", (48, 32))
    for colour, place in zip((RED, GREEN, YELLOW, BLUE), ((0, 0), (24, 0), (0, 16), (24, 16))):
        image.paste(colour, (*place, place[0] + 24, place[1] + 16))
    return image


def saved(format, **options):
    data = io.BytesIO()
    drawing().save(data, format, **options)
    return data.getvalue()


JPEGS = [saved("JPEG", quality=92, subsampling=0), saved("JPEG", quality=92, subsampling=0, progressive=True)]
PNG = saved("PNG")
WEBP = saved("WEBP", lossless=True)


def tiff(chance):
    """EXIF data from its byte-order mark on."""
    order = chance.choice("<>")

    def entry(tag=None):
        tag = tag or chance.choice((0x112, 0x112, 0x100, 0x10F, 0x11A, 0x8769, 0x9286, 0))
        kind = chance.choice((3, 3, 3, 3, 3, 3, 4, 1, 2, 8, 0, 13, 255))
        count = chance.choice((1, 1, 1, 1, 1, 1, 2, 0, 3, 2**32 - 1))
        value = chance.choice((*range(1, 9), *range(1, 9), 0, 9, 255, 256, 262))
        if kind == 3:
            content = struct.pack(order + "HH", value, chance.choice((0, 0, 0, 7)))
        else:
            content = struct.pack(order + "I", value) if kind != 1 else bytes([value & 255, 0, 0, 0])
        return struct.pack(order + "HHI", tag, kind, count) + content

    def directory(count, follows):
        return struct.pack(order + "H", announced(count)) + b"".join(
            entry(0x112 if index == 0 and chance.random() < .8 else None) for index in range(count)) + \
            struct.pack(order + "I", follows)

    def announced(count):
        return count if chance.random() < .9 else chance.choice((0, 1, 2, count + 1, 60000))

    gap = chance.choice((0, 0, 0, 0, 1, 6, 200))
    count = chance.choice((0, 1, 1, 1, 1, 2, 3))
    has_second = chance.random() < .2
    end = 8 + gap + 2 + 12 * count + 4
    data = (b"II" if order == "<" else b"MM") + struct.pack(order + "HI", 42 if chance.random() < .95 else 43, 8 + gap) \
        + bytes(gap) + directory(count, end if has_second else 0) + (directory(1, 0) if has_second else b"")
    if chance.random() < .15:
        data = data[:-chance.randint(1, min(len(data), 30))]
    if chance.random() < .15 and data:
        place = chance.randrange(len(data))
        data = data[:place] + bytes([chance.randrange(256)]) + data[place + 1:]
    return data


def segment(content):
    return b"\xff\xe1" + struct.pack(">H", len(content) + 2) + content


XMP = b'http://ns.adobe.com/xap/1.0/\0<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description xmlns:tiff="http://ns.adobe.com/tiff/1.0/" tiff:Orientation="6"/></rdf:RDF></x:xmpmeta>'


def jpeg(chance, blocks):
    plain = chance.choice(JPEGS)
    places = [2, 20, plain.index(b"\xff\xc4"), plain.index(b"\xff\xda"), plain.rindex(b"\xff\xd9"), len(plain)]
    inserts = []
    for block in blocks:
        mark = chance.choice((b"Exif\0\0",) * 12 + (b"exif\0\0", b"Exif\0", b"Exif\0x"))
        parts = segment(mark + block)
        if chance.random() < .1:
            parts = segment(XMP) + parts
        inserts.append((chance.choice(places[:4] * 5 + places[4:]), parts))
    for place, parts in sorted(inserts, reverse=True):
        plain = plain[:place] + parts + plain[place:]
    return plain


def png(chance, blocks):
    plain = PNG
    for block in reversed(blocks):
        mark = b"" if chance.random() < .9 else b"Exif\0\0"
        part = chunk(b"eXIf", mark + block, chance.random() < .9)
        if chance.random() < .1:
            part = chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + XMP[29:]) + part
        place = 33 if chance.random() < .8 else len(plain) - 12
        plain = plain[:place] + part + plain[place:]
    return plain


def webp(block):
    def part(name, content):
        return name + struct.pack("<I", len(content)) + content + bytes(len(content) & 1)
    body = b"WEBP" + part(b"VP8X", bytes([8, 0, 0, 0, 47, 0, 0, 31, 0, 0])) + WEBP[12:] + part(b"EXIF", block)
    return b"RIFF" + struct.pack("<I", len(body)) + body


def make_orientation(chance):
    format = chance.choice(("jpeg", "jpeg", "png", "webp"))
    blocks = [tiff(chance) for _ in range(1 if format == "webp" else chance.choice((1, 1, 1, 2, 2, 3)))]
    if format == "webp":
        # Browsers turn no WebP: the same data turns it as they turn a JPEG.
        return webp(blocks[0]), {"as": segment(b"Exif\0\0" + blocks[0]).hex()}
    return (jpeg if format == "jpeg" else png)(chance, blocks), {}


def reference(item):
    """The file whose orientation in a browser is right."""
    return JPEGS[0][:2] + bytes.fromhex(item.about["as"]) + JPEGS[0][2:] if "as" in item.about else item.source


def by_pillow(data):
    try:
        image = ImageOps.exif_transpose(Image.open(io.BytesIO(data))).convert("RGB")
    except Exception:
        return 0
    right, bottom = image.width - 3, image.height - 3
    return turn([image.getpixel(place) for place in ((2, 2), (right, 2), (2, bottom), (right, bottom))])


def judge_orientation(item, look):
    if item.facts is None:
        yield "refused"
        return
    wanted = look["reference"]
    if not wanted["shown"]:
        yield "the browser does not show the source"
        return
    for name in item.sent:
        seen = look[name]
        if not seen["shown"] or turn(seen["corners"]) != turn(wanted["corners"]):
            yield f"{name} is turned by {turn(seen.get('corners', []))}, the browser's {turn(wanted['corners'])}"
        if by_pillow(item.sent[name]) != turn(wanted["corners"]):
            yield f"Pillow turns {name} otherwise than browsers"
    if list(item.facts[1:]) != wanted["size"] or look["original"].get("size") != wanted["size"]:
        yield f"size {item.facts[1:]}, original {look['original'].get('size')}, the browser's {wanted['size']}"


# ---- Both ----

class Item:
    """A file and what was sent of it."""

    def __init__(self, path):
        self.name = path.stem
        self.source = path.read_bytes()
        self.about = json.loads(path.with_suffix(".json").read_text())
        facts = path.with_suffix(".facts")
        self.facts = tuple(json.loads(facts.read_text())) if facts.exists() else None
        self.sent = {} if self.facts is None else {
            other.suffix[1:]: other.read_bytes() for other in sorted(path.parent.glob(path.stem + ".*"))
            if other.suffix not in (".source", ".json", ".facts")}


def make(what, seed, count, folder):
    for index in range(count):
        data, about = globals()["make_" + what](random.Random(f"{seed} {index}"))
        path = pathlib.Path(folder, str(index))
        path.with_suffix(".source").write_bytes(data)
        path.with_suffix(".json").write_text(json.dumps(about))


def looks(browser, files):
    """What a browser makes of each; renditions of one file are often the same."""
    different = list(dict.fromkeys(files.values()))
    with browser() as opened:
        return dict(zip(different, opened.look(different)))


def judge(what, items):
    files = {}
    for item in items:
        files |= {(item.name, name): data for name, data in item.sent.items()}
        if what == "orientation":
            files[item.name, "reference"] = reference(item)
    seen = looks(browsers.Chromium, files)
    counts = collections.Counter()
    for item in items:
        look = {name: seen[data] for (owner, name), data in files.items() if owner == item.name}
        counts["refused" if item.facts is None else "moving" if item.facts[0] else "still"] += 1
        counts["compared"] += item.facts is not None
        if what == "orientation" and item.facts:
            wanted = turn(look["reference"].get("corners", []))
            counts["turned"] += wanted > 1
            counts["read otherwise by Pillow"] += by_pillow(item.source) != wanted
        for sentence in globals()["judge_" + what](item, look):
            print(f"WRONG {item.name} {item.about.get('mistakes', '')}: {sentence}")
    print(json.dumps(counts))


def compare(items):
    """Whether Firefox shows all that is sent as Chromium does."""
    files = {(item.name, name): data for item in items for name, data in item.sent.items()}
    one, other = looks(browsers.Chromium, files), looks(browsers.Firefox, files)
    for (name, rendition), data in files.items():
        same = all(one[data].get(key) == other[data].get(key) for key in ("shown", "size"))
        colours = zip(sum(one[data].get("corners", []), []), sum(other[data].get("corners", []), []))
        # Firefox counts a picture behind the animation as a frame, and cannot decode it.
        if not same or one[data]["frames"] > other[data]["frames"] or any(abs(a - b) > 3 for a, b in colours):
            print(f"WRONG {name} {rendition}: Chromium {one[data]}, Firefox {other[data]}")
    print(json.dumps({"compared": len(items), "files": len(set(files.values()))}))


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5])
    else:
        found = [Item(path) for path in sorted(pathlib.Path(sys.argv[3]).glob("*.source"), key=lambda path: int(path.stem))]
        compare(found) if sys.argv[1] == "compare" else judge(sys.argv[2], found)
