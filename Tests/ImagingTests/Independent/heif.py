"""A writer of HEIF and AVIF files around pictures that heif-enc and avifenc have coded (ISO/IEC 14496-12, 23008-12)."""
import dataclasses, functools, struct, subprocess, tempfile

from PIL import Image


def box(kind, *parts, wide=False):
    content = b"".join(parts)
    if wide:
        return struct.pack(">I4sQ", 1, kind.encode("latin1"), 16 + len(content)) + content
    return struct.pack(">I4s", 8 + len(content), kind.encode("latin1")) + content


def full(kind, version, flags, *parts, wide=False):
    return box(kind, struct.pack(">I", version << 24 | flags), *parts, wide=wide)


def boxes(data):
    """The boxes that are next to each other, as kind and content; and the whole box."""
    at = 0
    while at + 8 <= len(data):
        size, kind = struct.unpack_from(">I4s", data, at)
        yield kind.decode("latin1"), data[at + 8:at + size], data[at:at + size]
        at += size


def child(data, *kinds):
    for kind in kinds:
        data = next(content for name, content, _ in boxes(data) if name == kind)
        data = data[4:] if kind == "meta" else data
    return data


@functools.cache
def coded(size, colours, is_av1, is_alpha=False):
    """A picture as its configuration box and coded bytes: a gradient between two colours, or of alpha."""
    image = Image.linear_gradient("L").resize(size)
    if not is_alpha:
        image = Image.merge("RGB", [image.point([low + (high - low) * v // 255 for v in range(256)])
                                    for low, high in zip(*colours)])
    with tempfile.TemporaryDirectory() as folder:
        image.save(f"{folder}/a.png")
        command = "avifenc -s 8 -y 420 a.png out" if is_av1 else "heif-enc -q 90 a.png -o out"
        subprocess.run(command, shell=True, check=True, capture_output=True, cwd=folder)
        data = open(f"{folder}/out", "rb").read()
    meta = child(data, "meta")
    properties = child(meta, "iprp", "ipco")
    configuration = next(whole for kind, _, whole in boxes(properties) if kind in ("hvcC", "av1C"))
    return configuration, child(data, "mdat")


def ispe(size):
    return full("ispe", 0, 0, struct.pack(">II", *size))


def auxc(name):
    return full("auxC", 0, 0, name.encode() + b"\0")


@dataclasses.dataclass
class Item:
    id: int
    kind: str
    properties: list
    data: bytes
    hidden: bool = False
    tail: bytes = b""  # of `infe`, behind the name


@dataclasses.dataclass
class Layout:
    """How the boxes are written, which changes nothing of what they say."""
    versions: int = 0  # 1: identifiers of four bytes
    wide: bool = False  # sizes of eight bytes
    in_idat: bool = False  # what is not coded is in `idat`
    order: list = dataclasses.field(default_factory=lambda: list(range(7)))
    around: str = ""  # "meta last", "to the end": `mdat` has no size, "trailing": bytes that are no box, "free"
    brands: tuple = (b"mif1", b"heic", b"avif")
    major: bytes = b"heic"


ESSENTIAL = {"hvcC", "av1C"}


def file(items, references, primary, layout=Layout(), essential=ESSENTIAL, groups=b""):
    """The bytes of a file; `references` are (kind, from, [to])."""
    number = ">I" if layout.versions else ">H"
    pack = lambda id: struct.pack(number, id)
    properties, owners = [], []
    for item in sorted(items, key=lambda item: item.id):
        indices = []
        for whole in item.properties:
            if whole not in properties:
                properties.append(whole)
            flag = 0x8000 if whole[4:8].decode("latin1") in essential else 0
            indices.append(flag | properties.index(whole) + 1)
        if indices:
            owners.append(pack(item.id) + struct.pack(">B", len(indices)) + struct.pack(f">{len(indices)}H", *indices))
    ipma = full("ipma", layout.versions, 1, struct.pack(">I", len(owners)), *owners)
    entries = [full("infe", 3 if layout.versions else 2, int(item.hidden), pack(item.id), b"\0\0",
                    item.kind.encode("latin1"), b"\0", item.tail) for item in items]
    count = struct.pack(">I" if layout.versions else ">H", len(items))
    in_idat = [item for item in items if layout.in_idat and item.kind not in ("hvc1", "av01")]
    idat = b"".join(item.data for item in in_idat)

    def meta(start):
        places, at = {}, start
        for item in items:
            if item not in in_idat:
                places[item.id] = at
                at += len(item.data)
        within = 0
        for item in in_idat:
            places[item.id] = within
            within += len(item.data)
        iloc = [pack(item.id) + struct.pack(">HHHII", int(item in in_idat), 0, 1, places[item.id], len(item.data))
                for item in items]
        children = [
            full("hdlr", 0, 0, b"\0\0\0\0pict" + b"\0" * 13),
            full("pitm", layout.versions, 0, pack(primary), wide=layout.wide),
            full("iloc", 2 if layout.versions else 1, 0, b"\x44\0", count, *iloc, wide=layout.wide),
            full("iinf", layout.versions, 0, count, *entries, wide=layout.wide),
            box("iprp", box("ipco", *properties), ipma, wide=layout.wide),
            full("iref", layout.versions, 0,
                 *[box(kind, pack(one), struct.pack(">H", len(to)), *map(pack, to), wide=layout.wide)
                   for kind, one, to in references], wide=layout.wide) if references else b"",
            (box("idat", idat) if idat else b"") + (box("grpl", groups) if groups else b""),
        ]
        return full("meta", 0, 0, *[children[index] for index in layout.order], wide=layout.wide)

    start = box("ftyp", layout.major, b"\0\0\0\0", *layout.brands)
    if layout.around == "free":
        start += box("free", bytes(5)) + box("uuid", bytes(20)) + box("free", b"", wide=True)
    media = b"".join(item.data for item in items if item not in in_idat)
    if layout.around == "meta last":
        return start + box("mdat", media, wide=layout.wide) + meta(len(start) + (16 if layout.wide else 8))
    media = box("mdat", media)
    media = (bytes(4) if layout.around == "to the end" else media[:4]) + media[4:]
    trailing = b"\0\0\0\3SEFT and more" if layout.around == "trailing" else b""
    return start + meta(len(start) + len(meta(0)) + 8) + media + trailing
