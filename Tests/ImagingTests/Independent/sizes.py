"""What slower coding of the same renditions would save, on the pictures of compare.py.

    python sizes.py IMG [NAME]

Prints the size of each as a fraction of what it is now: of JPEGs with fitted Huffman tables and as progressive files, of
PNGs with the best of six filterings. For drawings also 4:4:4 beside 4:2:0: with the least quality that has the same
mean CIEDE2000, and that has the same SSIM too. Then means, by kind and profile."""
import collections, concurrent.futures, ctypes, functools, io, re, struct, subprocess, sys, tempfile, zlib

import numpy as np
from PIL import Image

import measure, subjects
from compare import PROFILES, rendered
from specimens import SPECIMENS

deflate = ctypes.CDLL("libdeflate.so.0")
deflate.libdeflate_alloc_compressor.restype = ctypes.c_void_p
deflate.libdeflate_zlib_compress.restype = ctypes.c_size_t
deflate.libdeflate_zlib_compress.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]


def deflated(data, level):
    made = ctypes.create_string_buffer(len(data) + 1024)
    compressor = deflate.libdeflate_alloc_compressor(level)
    count = deflate.libdeflate_zlib_compress(compressor, data, len(data), made, len(made))
    deflate.libdeflate_free_compressor(ctypes.c_void_p(compressor))
    return count


def unfiltered(data):
    """Rows of a PNG, bytes of a pixel, and the bytes of its IDAT chunks."""
    at, idat = 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", data[at + 8:at + 18])
        if kind == b"IDAT":
            idat += data[at + 8:at + 8 + size]
        at += size + 12
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour]
    unit, row = max(1, channels * depth // 8), (width * channels * depth + 7) // 8
    raw = np.frombuffer(zlib.decompress(idat), np.uint8).reshape(height, row + 1)
    rows = np.zeros((height, row), np.uint8)
    for y in range(height):
        above = rows[y - 1] if y else np.zeros(row, np.uint8)
        line = raw[y, 1:]
        rows[y] = line if raw[y, 0] == 0 else line + above
    return rows, unit, len(idat)


def filtered(rows, unit):
    """name -> the rows filtered by one filter, or each by the one with the least sum."""
    left, up, corner = (np.zeros_like(rows) for _ in range(3))
    left[:, unit:], up[1:], corner[1:, unit:] = rows[:, :-unit], rows[:-1], rows[:-1, :-unit]
    a, b, c = left.astype(int), up.astype(int), corner.astype(int)
    p = a + b - c
    pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
    paeth = np.where((pa <= pb) & (pa <= pc), a, np.where(pb <= pc, b, c)).astype(np.uint8)
    kinds = [rows, rows - left, rows - up, rows - ((a + b) // 2).astype(np.uint8), rows - paeth]
    sums = np.stack([abs(kind.astype(np.int8).astype(int)).sum(axis=1) for kind in kinds])
    best = sums.argmin(axis=0)
    def joined(choice):
        return b"".join(bytes([k]) + kinds[k][y].tobytes() for y, k in enumerate(choice))
    whole = {str(k): joined([k] * len(rows)) for k in range(5)}
    whole["least sum"] = joined(best)
    return whole


def png_sizes(data):
    rows, unit, now = unfiltered(data)
    choices = filtered(rows, unit)
    overhead = len(data) - now
    return {
        "now": len(data),
        "zlib 9, best of 6": overhead + min(len(zlib.compress(c, 9)) for c in choices.values()),
        "libdeflate 12, best of 6": overhead + min(deflated(c, 12) for c in choices.values()),
    }


def jpeg_sizes(name, data, coding, reference):
    sizes = {"now": len(data)}
    for label, flags in (("fitted", ["-optimize"]), ("progressive", ["-progressive"])):
        sizes[label] = len(subprocess.run(["jpegtran", *flags], input=data, capture_output=True, check=True).stdout)
    if "drawing" not in name or len(data) > 60_000:
        return sizes, None
    quality = int(re.search(r"\d+", coding)[0])
    with Image.open(io.BytesIO(data)) as made:
        wanted = measure.on_paper(measure.shrunk(reference, made.width, made.height))
    @functools.cache
    def coded(quality, sampling):
        out = io.BytesIO()
        subjects.image(wanted).save(out, "JPEG", quality=quality, subsampling=sampling, optimize=True)
        pixels = subjects.array(Image.open(out))
        worst = float(np.abs(np.round(pixels * 255) - np.round(wanted * 255)).max())
        return len(out.getvalue()), measure.colour_difference(pixels, wanted), measure.similarity(pixels, wanted), worst
    half = coded(quality, 2)
    colour = next(made for q in range(30, 96, 2) if (made := coded(q, 0))[1] <= half[1])
    both = next((made for q in range(quality - 2, 96, 2) if (made := coded(q, 0))[1] <= half[1] and made[2] >= half[2]), (0,) * 4)
    return sizes, (half, colour, both, coded(quality, 0))


def measured(index):
    name, make = list(SPECIMENS.items())[index]
    suffix, data, reference = make()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/picture.{suffix}"
        with open(path, "wb") as file:
            file.write(data)
        for profile in ("thumb", "watch", "ios"):
            made, coding = rendered(path, profile)
            if made[:4] == b"\x89PNG":
                if made != data and made[28] == 0:  # not passed through
                    rows.append((profile, "png", png_sizes(made), None))
            else:
                rows.append((profile, "jpg", *jpeg_sizes(name, made, coding, reference)))
    return name, rows


def main(chosen):
    indexes = [index for index, name in enumerate(SPECIMENS) if chosen in name]
    totals, means = collections.defaultdict(collections.Counter), collections.defaultdict(list)
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        for name, rows in pool.map(measured, indexes):
            for profile, kind, sizes, drawn in rows:
                group = f"{kind} {profile}"
                totals[group].update(sizes)
                for label, size in sizes.items():
                    means[group, label].append(size / sizes["now"])
                text = "  ".join(f"{label} {size / sizes['now']:.3f}" for label, size in sizes.items() if label != "now")
                print(f"{name:36}{profile:6} {kind} {sizes['now']:8}  {text}", flush=True)
                if drawn:
                    print(" " * 10, "420 | 444 as good in CIEDE2000 | and SSIM | 444 same quality:",
                          " | ".join(f"{size} {colour:.3f} {likeness:.4f} {worst:.0f}" for size, colour, likeness, worst in drawn), flush=True)
                    for label, value in zip(("4:4:4, as good in colour", "4:4:4, and in SSIM", "4:4:4, same quality"), drawn[1:]):
                        if value[0]:
                            means[group, label].append(value[0] / drawn[0][0])
    for (group, label), ratios in means.items():
        if label == "now":
            continue
        whole = totals[group][label] / totals[group]["now"]
        print(f"{group:10} {label:26} of {len(ratios):3}: mean {np.mean(ratios):.3f}  "
              + f"of all bytes {whole:.3f}" * (whole > 0))


if __name__ == "__main__":
    main("".join(sys.argv[2:]))
