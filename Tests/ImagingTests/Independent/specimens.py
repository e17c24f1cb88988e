"""The files that are compared: name -> function that returns (suffix, bytes, the upright picture in sRGB).

The picture is what another decoder makes of the file without its turn, turned here as the standards define."""
import functools, io, itertools, subprocess, tempfile

import numpy as np
import pyvips
from PIL import Image, ImageCms

import decoders
from subjects import image, packed, subject

# Exif 2.32, 4.6.4: what is done to the stored rows so that they are upright.
EXIF = {
    1: lambda p: p, 2: lambda p: p[:, ::-1], 3: lambda p: p[::-1, ::-1], 4: lambda p: p[::-1],
    5: lambda p: p.swapaxes(0, 1), 6: lambda p: np.rot90(p, -1), 7: lambda p: p[::-1, ::-1].swapaxes(0, 1),
    8: lambda p: np.rot90(p, 1),
}
SPECIMENS = {}


def specimen(name, make, *arguments, **options):
    assert name not in SPECIMENS, name
    SPECIMENS[name] = functools.partial(make, *arguments, **options)


def exif(turn):
    tags = Image.Exif()
    tags[0x112] = turn
    return {"exif": tags} if turn > 1 else {}


def profiled(name):
    return {"icc_profile": decoders.profile(name)} if name else {}


def saved(picture, kind, **options):
    out = io.BytesIO()
    picture.save(out, kind, **options)
    return out.getvalue()


# ---- JPEG ----

def jpeg(of, turn=1, profile=None, mode="RGB", quality=88, sampling=2, **options):
    picture = image(subject(of)[..., :3]).convert(mode if mode != "CMYK" else "RGB")
    if mode == "CMYK":
        inks = ImageCms.ImageCmsProfile(io.BytesIO(decoders.profile("cmyk")))
        picture = ImageCms.profileToProfile(picture, ImageCms.createProfile("sRGB"), inks, outputMode="CMYK")
        sampling = 0  # as in print
    data = saved(picture, "JPEG", quality=quality, subsampling=sampling, **options, **exif(turn), **profiled(profile))
    return "jpg", data, EXIF[turn](decoders.pillow(data))


for of, progressive, (name, sampling) in itertools.product(
        ("street", "leaves", "text"), (False, True), (("4:2:0", 2), ("4:2:2", 1), ("4:4:4", 0))):
    specimen(f"JPEG {of} {name}{' progressive' * progressive}", jpeg, of, sampling=sampling, progressive=progressive)
for turn, progressive in itertools.product(range(1, 9), (False, True)):
    specimen(f"JPEG turned {turn}{' progressive' * progressive}", jpeg, "stone", turn=turn, progressive=progressive)
for of in ("night", "flower", "clouds", "ramps", "drawing", "large"):
    specimen(f"JPEG {of}", jpeg, of)
specimen("JPEG large progressive", jpeg, "large", progressive=True)
specimen("JPEG low quality", jpeg, "street", quality=35)
specimen("JPEG restart markers", jpeg, "street", restart_marker_rows=1)
specimen("JPEG grey", jpeg, "street", mode="L")
specimen("JPEG grey progressive", jpeg, "leaves", mode="L", progressive=True)
specimen("JPEG CMYK profile", jpeg, "street", mode="CMYK", profile="cmyk")
specimen("JPEG CMYK profile progressive", jpeg, "flower", mode="CMYK", profile="cmyk", progressive=True)
specimen("JPEG Display P3", jpeg, "street", profile="p3")
specimen("JPEG Display P3 4:4:4 turned", jpeg, "flower", profile="p3", sampling=0, turn=6)


# ---- PNG ----

def png(of, turn=1, profile=None, mode="RGB", colours=None, **options):
    picture = image(subject(of)).convert(mode)
    if colours:
        picture = picture.quantize(colours, dither=Image.Dither.NONE)
    data = saved(picture, "PNG", compress_level=4, **options, **exif(turn), **profiled(profile))
    return "png", data, EXIF[turn](decoders.pillow(data))


def wide_png(pixels, profile=None, **options):
    """PNG of 16 bits."""
    pixels = np.ascontiguousarray(np.round(pixels * 65535).astype(np.uint16))
    picture = pyvips.Image.new_from_memory(pixels, pixels.shape[1], pixels.shape[0], pixels.shape[2], "ushort")
    picture = picture.copy(interpretation="rgb16" if pixels.shape[2] > 2 else "grey16")
    if profile:
        picture.set_type(pyvips.GValue.blob_type, "icc-profile-data", decoders.profile(profile))
    return picture.pngsave_buffer(bitdepth=16, compression=2, **options)


def sixteen(of, profile=None, channels=4, **options):
    data = wide_png(subject(of)[..., :channels], profile, **options)
    return "png", data, decoders.wide(data, decoders.profile(profile) if profile else None)


for of in ("street", "stone", "night", "flower", "leaves", "clouds", "ramps", "drawing", "text", "large"):
    specimen(f"PNG {of}", png, of)
for turn in range(1, 9):
    specimen(f"PNG turned {turn}", png, "street", turn=turn)
    specimen(f"PNG of alpha turned {turn}", png, "sticker", turn=turn, mode="RGBA")
specimen("PNG grey", png, "leaves", mode="L")
specimen("PNG grey and alpha", png, "sticker", mode="LA")
for colours in (4, 16, 256):
    specimen(f"PNG {colours} colours", png, "drawing", colours=colours)
specimen("PNG Display P3", png, "street", profile="p3")
specimen("PNG Display P3 alpha", png, "sticker", mode="RGBA", profile="p3")
for of, profile in itertools.product(("street", "clouds", "sticker"), (None, "p3")):
    specimen(f"PNG {of} 16 bits{' Display P3' if profile else ''}", sixteen, of, profile=profile)
specimen("PNG 16 bits interlaced", sixteen, "ramps", interlace=True)
specimen("PNG 16 bits grey", sixteen, "leaves", channels=1)


# ---- WebP ----

def webp(of, turn=1, profile=None, mode="RGB", **options):
    data = saved(image(subject(of)).convert(mode), "WEBP", method=2, **options, **exif(turn), **profiled(profile))
    return "webp", data, EXIF[turn](decoders.dwebp(data, profiled(profile).get("icc_profile")))


for of, lossless in itertools.product(("street", "leaves", "clouds", "drawing", "text"), (False, True)):
    specimen(f"WebP {of}{' lossless' * lossless}", webp, of, lossless=lossless, quality=85 if not lossless else 20)
for turn, lossless in itertools.product(range(1, 9), (False, True)):
    specimen(f"WebP turned {turn}{' lossless' * lossless}", webp, "flower", turn=turn, lossless=lossless, quality=30)
for lossless in (False, True):
    specimen(f"WebP alpha{' lossless' * lossless}", webp, "sticker", mode="RGBA", lossless=lossless, quality=60)
    specimen(f"WebP Display P3{' lossless' * lossless}", webp, "night", profile="p3", lossless=lossless, quality=80)
specimen("WebP low quality", webp, "stone", quality=30)
specimen("WebP large", webp, "large", quality=80)


# ---- HEIC and AVIF ----

def box(kind, content):
    return (len(content) + 8).to_bytes(4, "big") + kind + content


def boxes(data, start, end):
    while start < end:
        size = int.from_bytes(data[start:start + 4], "big")
        yield bytes(data[start + 4:start + 8]), start, start + size
        start += size


def with_properties(data, properties):
    """A HEIC of libheif, its first picture with more properties, which are applied in this order (ISO/IEC 23008-12, 9.3)."""
    def find(kind, start, end):
        return next((low, high) for name, low, high in boxes(data, start, end) if name == kind)
    meta = find(b"meta", 0, len(data))
    iprp = find(b"iprp", meta[0] + 12, meta[1])
    ipco, ipma = find(b"ipco", iprp[0] + 8, iprp[1]), find(b"ipma", iprp[0] + 8, iprp[1])
    iloc = find(b"iloc", meta[0] + 12, meta[1])
    first = len(list(boxes(data, ipco[0] + 8, ipco[1]))) + 1
    content = bytearray(data[ipma[0] + 8:ipma[1]])  # version 0, flags 0: entries of an item (2 bytes) and a count
    assert content[:4] == bytes(4)
    content[10] += len(properties)
    place = 11 + content[10] - len(properties)
    content[place:place] = bytes(0x80 | first + index for index in range(len(properties)))
    new = box(b"iprp", box(b"ipco", data[ipco[0] + 8:ipco[1]] + b"".join(properties)) + box(b"ipma", bytes(content)))
    added = len(new) - (iprp[1] - iprp[0])
    result = bytearray(data[:iprp[0]] + new + data[iprp[1]:])
    result[meta[0]:meta[0] + 4] = (meta[1] - meta[0] + added).to_bytes(4, "big")
    # iloc, version 0 or 1, offsets and lengths of 4 bytes: what is stored behind has moved
    at = iloc[0] + (added if iloc[0] > iprp[0] else 0) + 8
    version, is_wide = result[at], result[at + 5] >> 4 == 4
    assert version < 2 and result[at + 4] == 0x44
    base_size = 4 if is_wide else 0
    count, at = int.from_bytes(result[at + 6:at + 8], "big"), at + 8
    for _ in range(count):
        method = result[at + 3] & 15 if version == 1 else 0
        at += (4 if version == 1 else 2) + 2
        base = at
        at += base_size
        extents, at = int.from_bytes(result[at:at + 2], "big"), at + 2
        for _ in range(extents):
            offset = int.from_bytes(result[at:at + 4], "big")
            if method == 0 and (offset or not base_size):
                result[at:at + 4] = (offset + added).to_bytes(4, "big")
            at += 8
        if method == 0 and base_size and int.from_bytes(result[base:base + 4], "big"):
            result[base:base + 4] = (int.from_bytes(result[base:base + 4], "big") + added).to_bytes(4, "big")
    return bytes(result)


def coded(command, pixels, suffix, profile=None, depth=8):
    """What an encoder makes of a PNG."""
    with tempfile.TemporaryDirectory() as folder:
        if depth > 8:
            with open(f"{folder}/in.png", "wb") as file:
                file.write(wide_png(pixels, profile))
        else:
            image(pixels).save(f"{folder}/in.png", compress_level=1, **profiled(profile))
        subprocess.run(command.format(f"{folder}/in.png", f"{folder}/out.{suffix}").split(), check=True, capture_output=True)
        with open(f"{folder}/out.{suffix}", "rb") as file:
            return file.read()


def turned(pixels, rotation, mirror):
    pixels = np.rot90(pixels, rotation)
    return pixels if mirror is None else pixels[::-1] if mirror == 0 else pixels[:, ::-1]


def heic(of, options="-q 70", profile=None, depth=8, channels=4, rotation=0, mirror=None):
    pixels = subject(of)[..., :channels]
    data = coded("heif-enc -p x265:preset=ultrafast " + options + " {} -o {}", pixels, "heic", profile, depth)
    decoder = decoders.heif_convert if pixels.shape[2] == 4 else decoders.ffmpeg
    reference = decoder(data, decoders.profile(profile) if profile else None)
    properties = [box(b"irot", bytes([rotation]))] if rotation else []
    properties += [box(b"imir", bytes([mirror]))] if mirror is not None else []
    return "heic", with_properties(data, properties) if properties else data, turned(reference, rotation, mirror)


def avif(of, options="-y 420", profile=None, depth=8, channels=4, rotation=0, mirror=None, shown=None):
    data = coded("avifenc -s 9 --min 12 --max 24 " + options + " {} {}", subject(of)[..., :channels], "avif",
                 None if shown else profile, depth)
    reference = decoders.avifdec(data, decoders.profile(shown or profile) if shown or profile else None)
    return "avif", data, turned(reference, rotation, mirror)


for of, (name, sampling) in itertools.product(
        ("street", "leaves", "text"), (("4:2:0", 420), ("4:2:2", 422), ("4:4:4", 444))):
    specimen(f"HEIC {of} {name}", heic, of, f"-q 70 -p chroma={sampling}")
    specimen(f"AVIF {of} {name}", avif, of, f"-y {sampling}")
for of in ("stone", "night", "flower", "clouds", "drawing"):
    specimen(f"HEIC {of}", heic, of)
    specimen(f"AVIF {of}", avif, of)
for rotation, mirror in itertools.product(range(4), (None, 0, 1)):
    name = f"turned {90 * rotation}{'' if mirror is None else f' mirrored {mirror}'}"
    flags = f" --irot {rotation}" * (rotation > 0) + f" --imir {mirror}" * (mirror is not None)
    specimen(f"HEIC {name}", heic, "flower", rotation=rotation, mirror=mirror)
    specimen(f"AVIF {name}", avif, "flower", "-y 420" + flags, rotation=rotation, mirror=mirror)
for of in ("street", "ramps"):
    specimen(f"HEIC {of} 10 bits", heic, of, "-b 10 -q 80", depth=16)
    specimen(f"HEIC {of} 10 bits Display P3", heic, of, "-b 10 -q 80", depth=16, profile="p3")
    for depth in (10, 12):
        specimen(f"AVIF {of} {depth} bits", avif, of, f"-y 444 -d {depth}", depth=16)
    specimen(f"AVIF {of} 10 bits Display P3", avif, of, "-y 420 -d 10", depth=16, profile="p3")
specimen("HEIC Display P3", heic, "night", profile="p3")
specimen("HEIC alpha", heic, "sticker")
specimen("HEIC low quality", heic, "street", "-q 30")
specimen("HEIC large", heic, "large", "-q 50")
specimen("AVIF Display P3", avif, "night", profile="p3")
specimen("AVIF code points of Display P3", avif, "street", "-y 444 --cicp 12/13/6", shown="p3")
specimen("AVIF video range", avif, "street", "-y 420 -r limited")
specimen("AVIF grey", avif, "leaves", "-y 400")
specimen("AVIF alpha", avif, "sticker")
specimen("AVIF alpha 10 bits", avif, "sticker", "-y 444 -d 10", depth=16)
specimen("AVIF premultiplied", avif, "sticker", "-y 444 -p")
specimen("AVIF tiles", avif, "leaves", "-y 420 -g 2x2")
specimen("AVIF without loss", avif, "flower", "--lossless")
specimen("HEIC of another encoder", lambda: ("heic", packed("filetype", "tests/fixtures/sample.heic"), subject("street")))
