"""Renditions of about 200 pictures by img, and by vipsthumbnail, beside Lanczos-3 of another decoder's full decode.

    python compare.py IMG [NAME]

It is every third of them; with RICHPUSH_SOAK=1 in the environment all. Prints mean CIEDE2000 (and what of it is the cost of coding the reference as JPEG) and SSIM of each, or of those whose
names contain NAME. Ends with 1 when a rendition by img is clearly worse than vipsthumbnail's or than the
cost of coding, or a format's mean is worse at all."""
import collections, concurrent.futures, io, itertools, os, re, subprocess, sys, tempfile

# Two processes measure: each of them needs no more than one of the machine's processors.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from PIL import Image

import decoders, measure, subjects
from specimens import SPECIMENS

IMG = sys.argv[1]
STEP = 1 if os.environ.get("RICHPUSH_SOAK") else 3
PROFILES = {"thumb": (160, 160), "watch": (400, 480), "ios": (1170, 1170), "android": (1440, 1440), "web": (1920, 1920)}


def rendered(path, profile):
    """The rendition by img, and how it is coded."""
    output = path + ".ours"
    explained = subprocess.run([IMG, "render", path, output, "--profile", profile, "--explain"], check=True,
                               capture_output=True, text=True).stdout
    quality = re.search(r"JPEG, quality (\d+)", explained)
    with open(output, "rb") as file:
        return file.read(), f"jpg[Q={quality[1]},strip]" if quality else "png[palette]" if "256 colours" in explained else "png"


def by_vips(path, profile, suffix, has_profile):
    colours = ["-e", "srgb"] if has_profile else []
    width, height = PROFILES[profile]
    # Without the VIPSHOME that the wheel's libvips has set: it has other modules.
    subprocess.run(["vipsthumbnail", path, "-s", f"{width}x{height}>", *colours, "-o", f"{path}.theirs.{suffix}"],
                   check=True, capture_output=True, env=dict(os.environ))
    with open(f"{path}.theirs.{suffix[:3]}", "rb") as file:
        return file.read()


def judged(data, reference, coding, by_area):
    """Mean CIEDE2000 and SSIM, and the CIEDE2000 that coding the reference as JPEG costs."""
    made = subjects.array(Image.open(io.BytesIO(data)))
    wanted = reference
    if made.shape[:2] != reference.shape[:2]:
        wanted = measure.shrunk(reference, made.shape[1], made.shape[0], by_area)
    elif np.array_equal(made, wanted):
        return 0.0, 1.0, 0.0
    made, wanted = measure.on_paper(made), measure.on_paper(wanted)
    price = 0
    if coding.startswith("jpg"):
        coded = io.BytesIO()
        subjects.image(wanted).save(coded, "JPEG", quality=int(re.search(r"\d+", coding)[0]), subsampling=2)
        price = measure.colour_difference(subjects.array(Image.open(coded)), wanted)
    return measure.colour_difference(made, wanted), measure.similarity(made, wanted), price


def compared(index):
    """For each of two profiles: the profile, img's measures, and vipsthumbnail's."""
    name, make = list(SPECIMENS.items())[index]
    suffix, data, reference = make()
    height, width = reference.shape[:2]
    # docs/IMAGES.md, Graphics
    is_graphic = suffix == "png" and (data[24] < 8 or len(data) * 8 < width * height)
    has_profile = any(mark in data for mark in (b"ICC_PROFILE", b"iCCP", b"ICCP", b"colrprof", b"colrrICC"))
    small, large = ("thumb", "watch")[index % 2], ("ios", "android", "web")[index % 3]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/picture.{suffix}"
        with open(path, "wb") as file:
            file.write(data)
        for profile in (small, large):
            ours, coding = rendered(path, profile)
            size = Image.open(io.BytesIO(ours)).size
            scale = min(1, PROFILES[profile][0] / width, PROFILES[profile][1] / height)
            if max(abs(size[0] - width * scale), abs(size[1] - height * scale)) > 1:
                rows.append((profile, coding, (99.0, 0.0, 0.0), (0.0, 1.0, 0.0)))
                continue
            theirs = by_vips(path, profile, coding, has_profile)
            rows.append((profile, coding, *(judged(data, reference, coding, is_graphic) for data in (ours, theirs))))
    return name, rows


def main(chosen):
    indexes = [index for index, name in enumerate(SPECIMENS) if chosen in name][::STEP]
    measures, missed = collections.defaultdict(list), []
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        for name, rows in pool.map(compared, indexes):
            for profile, coding, ours, theirs in rows:
                measures[name.split()[0]].append((*ours, *theirs))
                # libvips has libimagequant, which chooses 256 colours best of all.
                least, most = (0.01, 1.15) if "palette" in coding else (0.005, 1.02)
                is_missed = ours[0] > max(1.5, theirs[0] * most) or ours[1] < theirs[1] - least
                is_missed |= "jpg" in coding and ours[0] > ours[2] + 0.3
                print(f"{name:36}{profile:8} CIEDE2000 {ours[0]:6.3f} (coding {ours[2]:.3f}) libvips {theirs[0]:6.3f}"
                      f"   SSIM {ours[1]:.4f} libvips {theirs[1]:.4f}{'  MISSED' * is_missed}", flush=True)
                missed += [name] * is_missed
    measures["all"] = list(itertools.chain.from_iterable(measures.values()))
    for kind, rows in measures.items():
        colours, likeness, price, their_colours, their_likeness, _ = np.mean(rows, axis=0)
        is_missed = bool(colours > their_colours or likeness < their_likeness)
        print(f"mean of {len(rows):3} renditions of {kind:5} CIEDE2000 {colours:.3f} (coding {price:.3f}) "
              f"libvips {their_colours:.3f}   SSIM {likeness:.4f} libvips {their_likeness:.4f}{'  MISSED' * is_missed}")
        missed += [kind] * is_missed
    print(f"{len(indexes)} pictures")
    return missed


if __name__ == "__main__":
    sys.exit(1 if main("".join(sys.argv[2:])) else 0)
