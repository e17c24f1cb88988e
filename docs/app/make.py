#!/usr/bin/env python3
"""Draws the icons of the app, Sources/WebApp/Files/*.png, from icon.svg.

    apt-get install librsvg2-bin python3-pil
    docs/app/make.py

A maskable icon, and Apple's, fill the square: the platform cuts the corners. The others have round corners of their own."""
import io
import pathlib
import subprocess

from PIL import Image, ImageDraw

FOLDER = pathlib.Path(__file__).resolve().parent
FILES = FOLDER.parents[1] / "Sources/WebApp/Files"


def drawn(size, part=1.0):
    """The picture; `part` of the square is what is cut out of its middle, so that the drawing becomes larger."""
    whole = round(size / part)
    data = subprocess.run(["rsvg-convert", "-w", str(whole), "-h", str(whole), FOLDER / "icon.svg"], check=True, capture_output=True).stdout
    edge = (whole - size) // 2
    return Image.open(io.BytesIO(data)).convert("RGB").crop((edge, edge, edge + size, edge + size))


def rounded(picture):
    size = picture.width
    mask = Image.new("L", (size * 4, size * 4))
    ImageDraw.Draw(mask).rounded_rectangle((0, 0, size * 4 - 1, size * 4 - 1), size * 0.9, fill=255)
    picture.putalpha(mask.resize((size, size), Image.Resampling.LANCZOS))
    return picture


def save(picture, name):
    picture.save(FILES / name, optimize=True)
    print(name, (FILES / name).stat().st_size)


save(rounded(drawn(192, 0.82)), "icon-192.png")
save(rounded(drawn(512, 0.82)), "icon-512.png")
save(drawn(512), "icon-maskable-512.png")
save(drawn(180, 0.86), "apple-touch-icon.png")
