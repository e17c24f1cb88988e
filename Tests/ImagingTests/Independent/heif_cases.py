#!/usr/bin/env python3
"""HEIF and AVIF files to standard output: one, `heif_cases.py NAME`, or each behind its name and its length. Those whose
names begin alike show the same."""
import struct, sys

from heif import Item, Layout, auxc, box, coded, file, full, ispe
from heif_structures import ALPHA, AUXILIARY, COLOURS, TILE, pixi

PHOTO, SECOND, EXIF, XMP, TONE, TILES = 1, 2, 3, 4, 5, 10
EXIF_ITEM = Item(EXIF, "Exif", [], b"\0\0\0\0II*\0\x08\0\0\0\0\0\0\0\0\0", True)
XMP_ITEM = Item(XMP, "mime", [], b"<x/>", True, b"application/rdf+xml\0")
TONE_ITEM = Item(TONE, "tmap", [ispe(TILE), pixi(3)], bytes(62))
ALTERNATIVES = full("altr", 0, 0, struct.pack(">III", 100, 2, TONE), struct.pack(">I", PHOTO))


def photo(is_av1=False, id=PHOTO, kind=None, more=()):
    configuration, data = coded(TILE, COLOURS[0], is_av1)
    return Item(id, kind or ("av01" if is_av1 else "hvc1"), [configuration, ispe(TILE), pixi(3), *more], data, id != PHOTO)


def second(name, is_av1=False, id=SECOND):
    configuration, data = coded(TILE, None, is_av1, is_alpha=True)
    properties = [configuration, ispe(TILE), pixi(1)] + ([auxc(name)] if name else [])
    return Item(id, "av01" if is_av1 else "hvc1", properties, data, True)


def tiled():
    tiles = [photo(id=TILES + index) for index in range(4)]
    grid = Item(PHOTO, "grid", [ispe((128, 128)), pixi(3)], bytes([0, 0, 1, 1]) + struct.pack(">HH", 128, 128))
    return [grid, *tiles], ("dimg", PHOTO, [tile.id for tile in tiles])


def heif(items, references, is_av1=False, essential={"hvcC", "av1C"}, **layout):
    brands = (b"mif1", b"miaf", b"avif", b"tmap") if is_av1 else (b"mif1", b"MiHE", b"heic", b"tmap")
    layout = Layout(major=b"avif" if is_av1 else b"heic", brands=brands, **layout)
    return file(items, references, PHOTO, layout, essential=essential, groups=ALTERNATIVES)


def cases():
    gain, depth, alpha = second(AUXILIARY[0]), second(AUXILIARY[1]), second(ALPHA[False])
    to_both, tone = [PHOTO, TONE], ("dimg", TONE, [PHOTO, SECOND])
    grid, parts = tiled()

    def of(*references, first=gain, **layout):
        return heif([photo(), first, EXIF_ITEM, XMP_ITEM, TONE_ITEM], references, **layout)

    yield "photo", of(("auxl", SECOND, [PHOTO]), ("cdsc", EXIF, [PHOTO]))
    iphone = [("auxl", SECOND, to_both), ("cdsc", EXIF, to_both), ("cdsc", XMP, to_both), tone]
    yield "photo as iPhones write it since iOS 18", of(*iphone)
    yield "photo with long numbers and sizes", of(*iphone, versions=1, wide=True)
    yield "photo whose gain map has two owners", of(("auxl", SECOND, to_both))
    yield "photo whose EXIF data has two owners", of(("cdsc", EXIF, to_both))
    yield "photo whose XMP data has two owners", of(("cdsc", XMP, to_both))
    yield "photo whose depth belongs to the tone map first", of(("auxl", SECOND, [TONE, PHOTO]), first=depth)
    yield "photo whose gain map is the tone map's only", of(("auxl", SECOND, [TONE]), tone)
    yield "photo whose EXIF data is the tone map's only", of(("cdsc", EXIF, [TONE]), tone)
    yield "photo with references to nothing", of(("auxl", SECOND, [77, PHOTO]), ("cdsc", EXIF, []), ("thmb", 78, [79]))
    yield "photo with references in a circle", of(("auxl", SECOND, [SECOND, PHOTO]), ("cdsc", EXIF, [EXIF]),
                                                 ("dimg", TONE, [TONE]), ("dimg", PHOTO, [PHOTO]))
    yield "photo with references of unknown types", of(("abcd", PHOTO, [SECOND, 9]), ("\0\1\2\3", EXIF, [PHOTO]))
    yield "photo whose second picture has no type", of(("auxl", SECOND, [PHOTO]), first=second(None))
    same = Item(PHOTO, "iden", [ispe(TILE), pixi(3)], b"")
    yield "photo whose data is nothing, in a box that is not there", heif(
        [same, photo(id=TILES)], [("dimg", PHOTO, [TILES])], in_idat=True)
    yield "photo with many references", of(*[("auxl", SECOND, to_both * 9), ("cdsc", EXIF, [PHOTO] * 9)] * 9)
    yield "transparent", of(("auxl", SECOND, [PHOTO]), first=alpha)
    yield "transparent, alpha of two owners", of(("auxl", SECOND, to_both), first=alpha)
    yield "transparent, alpha of the tone map first", of(("auxl", SECOND, [TONE, PHOTO]), first=alpha)
    yield "transparent, in two references", of(("auxl", SECOND, [TONE]), ("auxl", SECOND, [PHOTO]), first=alpha)
    yield "transparent, alpha of itself, too", of(("auxl", SECOND, [SECOND, PHOTO, 99]), first=alpha)
    yield "tiles", heif(grid, [parts])
    yield "tiles as iPhones write them since iOS 18", heif([*grid, gain, EXIF_ITEM, TONE_ITEM], [parts, *iphone])
    yield "tiles whose gain map is theirs, too", heif(
        [*grid, gain, EXIF_ITEM, TONE_ITEM], [("auxl", SECOND, [PHOTO, TILES, TONE]), parts, ("dimg", PHOTO, [])])
    av1 = [photo(True), second(AUXILIARY[3], True), EXIF_ITEM, XMP_ITEM, TONE_ITEM]
    yield "AV1", heif(av1[:1], [], True)
    yield "AV1 with a tone map, as libavif writes it", heif(av1, [tone], True)
    yield "AV1 whose metadata has two owners", heif(av1, iphone, True)
    yield "AV1 whose gain map is the tone map's only", heif(av1, [("auxl", SECOND, [TONE]), tone], True)

    yield "JPEG", heif([photo(kind="jpeg")], [])
    yield "H.264", heif([photo(kind="avc1")], [])
    yield "tiles of JPEG", heif([grid[0], *[photo(id=tile.id, kind="jpeg") for tile in grid[1:]]], [parts])
    yield "unknown coding", heif([photo(kind="zz\"\n")], [])
    yield "needed property", heif([photo(more=[box("iscl", bytes(12))])], [], essential={"hvcC", "iscl"})
    yield "tile is missing", heif(grid[:-1], [parts])
    yield "tiles of themselves", heif(grid, [("dimg", PHOTO, [PHOTO] * 4)])
    layers = [Item(20 + depth, "iovl", [ispe(TILE), pixi(3)], bytes(2) + struct.pack(">6H", 0, 0, 0, 0, *TILE) + bytes(36))
              for depth in range(7)]
    chain = [("dimg", 20 + depth, [21 + depth] * 9) for depth in range(6)] + [("dimg", 26, [PHOTO] * 9)]
    yield "layers of layers", file([photo(), *layers], chain, 20)
    yield "costly", file([photo(), *layers[2:]], [*chain[2:6], ("dimg", 26, [PHOTO] * 9)], 22)


if __name__ == "__main__":
    for name, data in cases():
        if name in sys.argv[1:]:
            sys.stdout.buffer.write(data)
        elif not sys.argv[1:]:
            sys.stdout.buffer.write(f"{name}\n{len(data)}\n".encode() + data)
