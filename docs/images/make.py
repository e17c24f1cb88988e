#!/usr/bin/env python3
"""Makes the pictures of docs/IMAGES.md: what a plain thumbnail shows, and what richpush sends.

    make pictures

usage: make.py [PROGRAMS]

PROGRAMS is the folder of the built programs (default .build/release). All sources are drawn here, or assets/img/beach.jpg."""
import io, os, pathlib, subprocess, sys, tempfile

import numpy as np
import pyvips
from PIL import Image, ImageCms, ImageDraw, ImageFont

FOLDER = pathlib.Path(__file__).parent
PROGRAMS = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".build/release").resolve()
BEACH = Image.open(FOLDER / "../../assets/img/beach.jpg")


def rendered(source, *options):
    """What img makes of a file."""
    output = source + ".rendered"
    subprocess.run([PROGRAMS / "img", "render", source, output, *options], check=True)
    with open(output, "rb") as file:
        return file.read()


def coded(picture, kind, **options):
    out = io.BytesIO()
    picture.save(out, kind, **options)
    return out.getvalue()


def plain(source, width):
    """Samples of a file made smaller as they are, as JPEG."""
    with Image.open(source) as picture:
        picture = picture.convert("RGB")
        height = round(picture.height * width / picture.width)
        return coded(picture.resize((width, height), Image.Resampling.LANCZOS), "JPEG", quality=82)


def part(data, box):
    """A part of a picture, three times as large."""
    crop = Image.open(io.BytesIO(data)).convert("RGB").crop(box)
    return coded(crop.resize((crop.width * 3, crop.height * 3), Image.Resampling.NEAREST), "PNG", optimize=True)


def turned(work):
    """A photograph taken with the telephone on its side."""
    tags = Image.Exif()
    tags[0x112] = 6
    BEACH.rotate(90, expand=True).save(f"{work}/a.jpg", quality=92, exif=tags)
    return plain(f"{work}/a.jpg", 160), rendered(f"{work}/a.jpg", "--width", "240")


def colours(work):
    """A photograph in Display P3, as telephones take them."""
    wide = ImageCms.ImageCmsProfile(io.BytesIO(pyvips.Operation.call("profile_load", "p3")))
    picture = BEACH.copy()
    pen = ImageDraw.Draw(picture)
    for x, y, size, colour in ((250, 560, 130, (235, 30, 60)), (520, 640, 95, (20, 175, 60)), (740, 600, 70, (255, 140, 0))):
        pen.ellipse((x - size, y - size, x + size, y + size), fill=colour)
        pen.pieslice((x - size, y - size, x + size, y + size), 200, 245, fill=(250, 246, 235))
        pen.pieslice((x - size, y - size, x + size, y + size), 320, 5, fill=(250, 246, 235))
    picture = ImageCms.profileToProfile(picture, ImageCms.createProfile("sRGB"), wide)
    picture.save(f"{work}/a.jpg", quality=95, subsampling=0, icc_profile=wide.tobytes())
    return plain(f"{work}/a.jpg", 240), rendered(f"{work}/a.jpg", "--width", "240")


def sticker(work):
    """A drawing on black that cannot be seen, as editors leave it. A part, shown on white."""
    size = 1000
    x, y = np.meshgrid(np.linspace(-1, 1, size), np.linspace(-1, 1, size))
    alpha = np.clip((0.8 + 0.13 * np.cos(9 * np.arctan2(y, x)) - np.hypot(x, y)) * 150, 0, 1)
    body = np.dstack([250 + 0 * x, 180 - 60 * y, 60 + 0 * x, 255 * alpha])
    body[alpha == 0] = 0
    picture = Image.fromarray(body.round().astype(np.uint8))
    picture.save(f"{work}/a.png")
    apart = Image.merge("RGBA", [band.resize((160, 160), Image.Resampling.LANCZOS) for band in picture.split()])
    def on_paper(picture):
        paper = Image.new("RGBA", picture.size, (255, 255, 255, 255))
        return part(coded(Image.alpha_composite(paper, picture), "PNG"), (60, 0, 140, 54))
    return on_paper(apart), on_paper(Image.open(io.BytesIO(rendered(f"{work}/a.png", "--width", "160"))))


def code(work):
    """A code of 57 modules, as PNG of one bit; a part."""
    subprocess.run(["qrencode", "-v", "10", "-l", "M", "-s", "20", "-o", f"{work}/a.png",
                    "https://shop.example/orders/4711?token=" + "6f1c" * 30], check=True)
    return [part(data, (0, 0, 80, 54)) for data in (plain(f"{work}/a.png", 160), rendered(f"{work}/a.png", "--width", "160"))]


def text(work):
    """Coloured writing; a part."""
    picture = Image.new("RGB", (1200, 800), (30, 41, 59))
    pen = ImageDraw.Draw(picture)
    for line, (words, colour) in enumerate((("Order 4711 was paid", (255, 80, 80)), ("Parcel leaves today", (90, 170, 255)),
                                            ("Reply before 18:00", (255, 200, 40)))):
        pen.text((60, 60 + 110 * line), words, fill=colour, font=ImageFont.load_default(76))
    picture.save(f"{work}/a.png")
    return [part(data, (4, 4, 84, 58)) for data in (plain(f"{work}/a.png", 160), rendered(f"{work}/a.png", "--width", "160"))]


def light(work):
    """Black and white lines of one pixel beside the grey that they look like from afar."""
    pixels = np.full((640, 960), 188, np.uint8)
    for turn, x in ((0, 60), (1, 520)):
        pixels[48:592, x - 12:x + 392] = 60
        lines = np.zeros((520, 380), np.uint8)
        (lines if turn else lines.T)[::2] = 255
        pixels[60:580, x:x + 380] = lines
    Image.fromarray(pixels).convert("RGB").save(f"{work}/a.png")
    return rendered(f"{work}/a.png", "--width", "240"), rendered(f"{work}/a.png", "--width", "240", "--linear", "1")


def film(work):
    """A film that begins in the dark: its first picture, and the poster."""
    beach = FOLDER / "../../assets/img/beach.jpg"
    subprocess.run(["ffmpeg", "-v", "error", "-loop", "1", "-t", "4", "-i", beach, "-vf", "fade=in:d=2:st=0.5,format=yuv420p",
                    "-r", "12", "-g", "12", f"{work}/a.mp4"], check=True)
    subprocess.run(["ffmpeg", "-v", "error", "-i", f"{work}/a.mp4", "-frames:v", "1", f"{work}/first.png"], check=True)
    path = f"{work}/a.mp4"
    answer = subprocess.run(
        [PROGRAMS / "video"], check=True, capture_output=True, stdin=subprocess.DEVNULL, cwd=FOLDER / "../../plugins/video",
        env={"GATEWAY_INTERFACE": "CGI/1.1", "RICH_VERB": "render", "RICH_TYPE": "video", "RICH_PAYLOAD": "a.mp4",
             "RICH_ASSET_PATH": path, "RICH_ASSET_SIZE": str(os.path.getsize(path)), "TMPDIR": work, "PATH": "/usr/bin:/bin",
             "REQUEST_METHOD": "GET", "RICH_WIDTH": "240", "QUERY_STRING": "view=poster"}).stdout
    return plain(f"{work}/first.png", 240), answer.split(b"\r\n\r\n", 1)[1]


for make in turned, colours, sticker, code, text, light, film:
    with tempfile.TemporaryDirectory() as work:
        for name, data in zip(("before", "after"), make(work)):
            suffix = "png" if data[:4] == b"\x89PNG" else "jpg"
            (FOLDER / f"{make.__name__}-{name}.{suffix}").write_bytes(data)
            print(f"{make.__name__}-{name}.{suffix}", Image.open(io.BytesIO(data)).size, len(data), "bytes")
