#!/usr/bin/env python3
"""HEIF and AVIF files whose items refer to each other in all ways, as img-decode reads them, beside pillow-heif (libheif
1.23) and Pillow (libavif).

  python Tests/ImagingTests/Independent/heif_structures.py IMG-DECODE SECONDS SEED

The judge reads a plain file, which has the photo, its parts and its alpha only; and the file itself, if it can. Every
third file is hostile: a picture or a refusal, in time and without a crash.
"""
import collections, io, itertools, random, resource, struct, subprocess, sys, tempfile, time

import numpy as np
import pillow_heif
from PIL import Image

from heif import Item, Layout, auxc, box, coded, file, full, ispe

pillow_heif.options.THUMBNAILS = False
ALPHA = {False: "urn:mpeg:hevc:2015:auxid:1", True: "urn:mpeg:mpegB:cicp:systems:auxiliary:alpha"}
AUXILIARY = ["urn:com:apple:photo:2020:aux:hdrgainmap", "urn:mpeg:hevc:2015:auxid:2",
             "urn:com:apple:photo:2018:aux:portraiteffectsmatte", "urn:example:unknown",
             "urn:com:apple:photo:2023:aux:styledeltamap"]
COLOURS = [((220, 40, 40), (20, 90, 160)), ((40, 90, 160), (250, 220, 60)), ((0, 120, 0), (255, 255, 255)),
           ((10, 10, 10), (120, 60, 200)), ((200, 120, 60), (90, 200, 210))]
TILE = (64, 64)
STATUSES = ["decoded", "damaged", "incomplete", "too large", "unsupported", "no primary picture", "unknown coding",
            "unknown property"]
ABSENT = 65535


def decoded(program, data):
    """What img-decode says and the picture; it must have ended by itself."""
    with tempfile.TemporaryFile() as source:
        source.write(data)
        source.seek(0)
        result = subprocess.run([program], stdin=source, capture_output=True, timeout=60)
    output = result.stdout
    if result.returncode != 0 or output[:4] != b"img1":
        return f"ended with {result.returncode}: {result.stderr[-300:]}", None
    width, height, channels, depth, _, _, profile = struct.unpack_from("<5I4sI", output, 4)
    status, size = struct.unpack_from("<2I", output, 32 + profile)
    rows = output[40 + profile + size:]
    if status != 0:
        return STATUSES[status], output[40 + profile:]
    if len(rows) != width * height * channels * depth // 8:
        return "sent too few rows", None
    return "decoded", np.frombuffer(rows, np.uint8).reshape(height, width, channels)


def judged(data, is_av1):
    """What the judge shows; None when it refuses the file."""
    try:
        image = Image.open(io.BytesIO(data)) if is_av1 else pillow_heif.open_heif(data).to_pillow()
        return np.asarray(image)
    except Exception:
        return None


def difference(one, two):
    """The mean difference of samples; without alpha a picture is opaque, and a transparent pixel has no colour."""
    if one.shape[:2] != two.shape[:2]:
        return 255
    one, two = [picture if picture.shape[2] == 4 else np.dstack([picture, np.full(picture.shape[:2], 255)])
                for picture in (one.astype(int), two.astype(int))]
    apart = np.abs(one - two)
    apart[(one[..., 3] == 0) & (two[..., 3] == 0)] = 0
    return apart.mean()


class Structure:
    """A photo, and items that refer to it and to each other."""

    def __init__(self, chance):
        self.chance = chance
        self.is_av1 = chance.random() < 0.3
        self.coding = "av01" if self.is_av1 else "hvc1"
        self.layout = Layout(
            versions=int(chance.random() < 0.3), wide=chance.random() < 0.2, in_idat=chance.random() < 0.3,
            order=chance.sample(range(7), 7) if chance.random() < 0.3 and not self.is_av1 else list(range(7)),
            around=chance.choice(["", "", "", "meta last", "to the end", "trailing", "free"]),
            major=b"avif" if self.is_av1 else b"heic",
            brands=(b"mif1", b"miaf", b"avif") if self.is_av1 else (b"mif1", b"heic"))
        most = 1_000_000 if self.layout.versions else 60_000
        self.unused = iter(chance.sample(range(1, most), 64))
        self.items, self.references, self.others, self.loose = [], [], [], []
        self.photo()

    def picture(self, size, hidden=False, properties=()):
        configuration, data = coded(size, self.chance.choice(COLOURS), self.is_av1)
        colours = box("colr", b"nclx", struct.pack(">HHHB", 1, 13, 6, 0x80))
        return self.item(self.coding, [configuration, ispe(size), pixi(3), colours, *properties], data, hidden)

    def item(self, kind, properties, data, hidden=False, tail=b""):
        item = Item(next(self.unused), kind, properties, data, hidden, tail)
        self.items.append(item)
        return item

    def derived(self, kind, size, parts, data):
        item = self.item(kind, [ispe(size), pixi(3)], data)
        self.references.append(("dimg", item.id, [part.id for part in parts]))
        return item

    def photo(self):
        kind = self.chance.choice(["coded", "grid"] if self.is_av1 else ["coded", "grid", "grid", "iden", "iovl"])
        if kind == "coded":
            self.size, self.parts = TILE, []
            photo = self.picture(TILE)
        elif kind == "grid":
            self.size = (128, 128) if self.chance.random() < 0.5 else (120, 100)
            self.parts = [self.picture(TILE, hidden=True) for _ in range(4)]
            photo = self.derived(kind, self.size, self.parts, bytes([0, 0, 1, 1]) + struct.pack(">HH", *self.size))
        elif kind == "iden":
            self.size, self.parts = TILE, [self.picture(TILE, hidden=True)]
            photo = self.derived(kind, TILE, self.parts, b"")
        else:
            self.size = (100, 90)
            self.parts = [self.picture(TILE, hidden=True) for _ in range(2)]
            places = struct.pack(">4h", 0, 0, 30, 20)
            photo = self.derived(
                kind, self.size, self.parts, bytes([0, 0]) + struct.pack(">6H", 9, 9, 9, 65535, *self.size) + places)
        self.primary = photo
        self.alpha = None
        if kind in ("coded", "grid") and self.chance.random() < 0.4:
            # libavif wants alpha of the picture's size.
            size = self.size if self.is_av1 or self.chance.random() < 0.7 else self.chance.choice([(128, 128), (64, 96)])
            configuration, data = coded(size, None, self.is_av1, is_alpha=True)
            self.alpha = self.item(
                self.coding, [configuration, ispe(size), pixi(1), auxc(ALPHA[self.is_av1])], data, hidden=True)
        self.plain = len(self.items)

    def plain_file(self):
        references = self.references + ([("auxl", self.alpha.id, [self.primary.id])] if self.alpha else [])
        return file(self.items[:self.plain], references, self.primary.id, self.layout)

    def whole_file(self):
        """The file with all items and references, in another order."""
        chance = self.chance
        targets = [self.primary] + self.parts
        if chance.random() < 0.8:
            gain = self.auxiliary()
            tone = self.item("tmap", [ispe(self.size), pixi(3)], bytes(62))
            self.others.append(("dimg", tone.id, [self.primary.id, gain.id]))
            targets += [tone, tone, tone, gain]
        for _ in range(chance.randrange(3)):
            targets.append(self.auxiliary())
        if chance.random() < 0.3:
            targets.append(self.picture(TILE))
        described = [item for item in self.items[self.plain:] if item.kind == self.coding]
        if chance.random() < 0.8:
            described.append(self.item("Exif", [], b"\0\0\0\0II*\0\x08\0\0\0\0\0\0\0\0\0", hidden=True))
        if chance.random() < 0.6:
            described.append(self.item("mime", [], b"<x/>", True, b"application/rdf+xml\0"))
        if chance.random() < 0.3:
            described.append(self.item(chance.choice(["abcd", "uri "]), [], b"unknown", True, b"urn:x\0"))
        self.is_loose = chance.random() < 0.3
        if self.is_loose:
            targets += [Item(ABSENT, "", [], b""), *described]
        for item in described:
            kind = "auxl" if item.kind == self.coding else "cdsc"
            if chance.random() < 0.1:
                kind = chance.choice(["thmb", "tbas", "cdsc", "abcd", "base", "ster"])
            self.others += self.pointing(kind, item, chance.choices(targets, k=chance.choice([1, 1, 2, 2, 3, 9])))
        if self.alpha:
            # libavif, and Chromium with it, knows one picture of an alpha.
            more = [] if self.is_av1 else chance.choices([t for t in targets if t.kind == "tmap"] or [self.primary], k=2)
            pictures = [self.primary, *more[:chance.randrange(3)]]
            self.others += self.pointing("auxl", self.alpha, chance.sample(pictures, len(pictures)))
        references = self.references + self.others
        items = list(self.items)
        if not self.is_av1:
            chance.shuffle(references)
        chance.shuffle(items)
        groups = full("altr", 0, 0, struct.pack(">III", 100, 2, self.primary.id), struct.pack(">I", ABSENT))
        return file(items, references, self.primary.id, self.layout, groups=groups if chance.random() < 0.5 else b"")

    def auxiliary(self):
        configuration, data = coded((64, 64), None, self.is_av1, is_alpha=True)
        name = self.chance.choice(AUXILIARY)
        return self.item(self.coding, [configuration, ispe((64, 64)), pixi(1), auxc(name)], data, hidden=True)

    def pointing(self, kind, item, targets):
        """One reference to all targets, or one to each."""
        to = [target.id for target in targets]
        if self.chance.random() < 0.2:
            return [(kind, item.id, [one]) for one in to]
        return [(kind, item.id, to)]


def pixi(channels):
    return full("pixi", 0, 0, bytes([channels] + [8] * channels))


def hostile(structure):
    """A file that was damaged, or whose references have no end."""
    chance = structure.chance
    structure.whole_file()
    references, photo = structure.references + structure.others, structure.primary
    items, ids = structure.items, [item.id for item in structure.items]
    attack = chance.randrange(8)
    if attack == 0:  # cycles
        for _ in range(chance.randrange(1, 6)):
            references.insert(0, (chance.choice(["dimg", "auxl", "prem", "thmb"]), chance.choice(ids),
                                  chance.choices(ids, k=chance.randrange(5))))
    elif attack == 1:  # pictures of pictures, each of them twice and more
        depth, width = chance.randrange(2, 40), chance.choice([1, 1, 2, 9])
        last = photo
        for _ in range(depth):
            places = struct.pack(">6H", 0, 0, 0, 0, 64, 64) + bytes(4 * width)
            kind = "iden" if width == 1 else "iovl"
            last = structure.derived(kind, TILE, [last] * width, b"\0\0" + places if width > 1 else b"")
        references, photo = structure.references + structure.others, last
    elif attack == 2:  # a reference to very many
        many = chance.choices(ids + [ABSENT], k=65535)
        references.append((chance.choice(["auxl", "cdsc", "dimg"]), chance.choice(ids), many))
    elif attack == 3:  # very many references
        for _ in range(20000):
            references.append(("auxl", chance.choice(ids), [chance.choice(ids)]))
    elif attack == 4:  # properties that must be known
        chance.choice(items).properties.append(box(chance.choice(["zzzz", "\0\1\2\3"]), b"1234"))
    elif attack == 5:  # other codings
        chance.choice(items[:structure.plain]).kind = chance.choice(["jpeg", "avc1", "Exif", "unci", "j2k1", "tmap", "\n\r\0\xff"])
    data = bytearray(file(items, references, photo.id, structure.layout,
                          essential={"hvcC", "av1C", "zzzz", "\0\1\2\3"}))
    if attack in (6, 7):
        end = len(data) if attack == 7 else data.find(b"mdat")
        for _ in range(chance.choice([1, 1, 3, 30])):
            at = chance.randrange(8, end)
            data[at:at + 4] = chance.choice([bytes([chance.randrange(256)]), b"\xff\xff\xff\xff", b"\0\0\0\1", b"\0\0\0\0"])
        if chance.random() < 0.2:
            data = data[:chance.randrange(16, len(data))]
    return bytes(data)


def main(program, seconds, seed):
    chance = random.Random(seed)
    counts, faults, slowest = collections.Counter(), [], 0.0
    end = time.monotonic() + seconds
    for number in itertools.count():
        if time.monotonic() > end or len(faults) >= 10:
            break
        structure = Structure(random.Random(chance.random()))
        start = time.monotonic()
        if number % 3 == 2:
            data = hostile(structure)
            status, _ = decoded(program, data)
            counts[f"hostile: {status}"] += 1
            wrong = None if status in STATUSES else status
        else:
            data, wrong = structure.whole_file(), None
            status, picture = decoded(program, data)
            plain, whole = judged(structure.plain_file(), structure.is_av1), judged(data, structure.is_av1)
            judge = "libavif" if structure.is_av1 else "pillow-heif"
            if status != "decoded":
                wrong = f"{status}: {picture}"
            elif plain is None:
                wrong = f"{judge} refuses the plain file"
            elif (apart := difference(picture, plain)) > 1.5:
                wrong = f"{apart:.1f} from {judge}'s plain file"
            elif whole is not None and (apart := difference(picture, whole)) > 1.5:
                wrong = f"{apart:.1f} from {judge}"
            counts[f"compared with {judge}"] += 1
            counts[f"of them also as they are"] += whole is not None
        slowest = max(slowest, time.monotonic() - start)
        if wrong:
            path = f"{tempfile.gettempdir()}/heif-{seed}-{number}"
            open(path, "wb").write(data)
            faults.append(f"WRONG {number}: {wrong} ({path})")
            print(faults[-1])
    processor = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"seed {seed}, {sum(v for k, v in counts.items() if k != 'of them also as they are')} files; "
          + ", ".join(f"{count} {what}" for what, count in sorted(counts.items())))
    print(f"slowest {slowest:.1f} s, most memory {processor.ru_maxrss >> 10} MiB")
    print("failed" if faults else "all right")


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]))
