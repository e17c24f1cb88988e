"""What the pictures show: photographs from source distributions on PyPI, and what is drawn here.

A subject is an array of height, width and 3 or 4 channels, from 0 to 1, sRGB, not premultiplied."""
import functools, io, pathlib, subprocess, tarfile

import numpy as np
from PIL import Image, ImageDraw, ImageFont

ROOT = pathlib.Path(__file__).resolve().parents[3]
SDISTS = ROOT / ".build/tools/sdists"


def array(image):
    """Pillow's picture as numbers from 0 to 1."""
    has_alpha = image.mode in ("LA", "PA", "RGBA") or "transparency" in image.info
    return np.asarray(image.convert("RGBA" if has_alpha else "RGB")) / 255


def image(pixels):
    """The same in 8 bits, for Pillow."""
    return Image.fromarray(np.round(pixels * 255).astype(np.uint8))


def packed(distribution, name):
    path = next(SDISTS.glob(f"{distribution}-*.tar.gz"))
    with tarfile.open(path) as archive:
        return archive.extractfile(path.name.removesuffix(".tar.gz") + "/" + name).read()


def photograph(distribution, name, size=None):
    with Image.open(io.BytesIO(packed(distribution, name))) as stored:
        stored = stored.convert("RGB")
        return array(stored.resize(size, Image.Resampling.LANCZOS) if size else stored)


def noise(width, height, seed, slope):
    """Noise with the spectrum of photographs, 1 / frequency ^ slope."""
    random = np.random.default_rng(seed)
    frequencies = np.hypot(np.fft.fftfreq(height)[:, None], np.fft.rfftfreq(width)[None])
    frequencies[0, 0] = 1
    spectrum = np.fft.rfft2(random.standard_normal((height, width))) / frequencies ** slope
    values = np.fft.irfft2(spectrum, (height, width))
    return (values - values.mean()) / values.std()


def clouds(width, height):
    return np.stack([np.clip(0.5 + 0.13 * noise(width, height, 1, 1.6) + 0.1 * noise(width, height, 2 + c, 1.9), 0, 1)
                     for c in range(3)], axis=2)


def leaves(width, height):
    """Detail down to single pixels, in natural colours."""
    light = np.clip(0.45 + 0.16 * noise(width, height, 7, 1.0), 0.03, 1)
    tint = np.clip(0.5 + 0.12 * noise(width, height, 8, 1.8), 0, 1)
    return np.clip(np.stack([light * (0.6 + 0.5 * tint), light * 1.05, light * (0.75 - 0.4 * tint)], axis=2), 0, 1)


def ramps(width, height):
    x, y = np.meshgrid(np.linspace(0, 1, width), np.linspace(0, 1, height))
    return np.stack([x, y, 0.5 + 0.5 * np.sin(6 * (x - y))], axis=2)


def drawing(width, height):
    """Flat shapes with smooth edges."""
    canvas = Image.new("RGB", (width * 2, height * 2), (246, 240, 226))
    pen, random = ImageDraw.Draw(canvas), np.random.default_rng(3)
    for index in range(40):
        x, y, size = random.integers(0, width * 2), random.integers(0, height * 2), random.integers(60, 420)
        colour = tuple(int(c) for c in random.integers(0, 256, 3))
        box = (x - size, y - size // 2, x + size, y + size // 2)
        (pen.ellipse, pen.rectangle, pen.pieslice)[index % 3](box, *((20, 300) if index % 3 == 2 else ()), fill=colour)
    return array(canvas.resize((width, height), Image.Resampling.BOX))


def text(width, height, ink=(20, 24, 30), paper=(255, 255, 250)):
    canvas = Image.new("RGB", (width, height), paper)
    pen = ImageDraw.Draw(canvas)
    lines = "Pictures are made smaller for phones. 0123456789 — Grüße, ¿qué tal? Žluťoučký kůň. " * 9
    y, size = 10, 44
    while y < height:
        pen.text((16, y), lines[y % 80:], fill=ink, font=ImageFont.load_default(size))
        y, size = y + int(size * 1.3), max(16, size - 3)
    return array(canvas)


def sticker(width, height):
    """A photograph with soft transparent edges."""
    x, y = np.meshgrid(np.linspace(-1, 1, width), np.linspace(-1, 1, height))
    alpha = np.clip((1 - np.hypot(x, y)) * 3, 0, 1)
    return np.dstack([street()[:height, :width], alpha])


@functools.cache
def street():
    from decoders import ffmpeg  # FFmpeg's HEVC decoder
    return ffmpeg(packed("filetype", "tests/fixtures/sample.heic"))


SUBJECTS = {
    "street": street,
    "stone": lambda: photograph("pillow", "Tests/images/xmp_test.jpg", (1400, 750)),
    "night": lambda: photograph("filetype", "tests/fixtures/sample.jpg"),
    "flower": lambda: photograph("pillow", "Tests/images/flower.jpg"),
    "leaves": lambda: leaves(1280, 960),
    "clouds": lambda: clouds(960, 1280),
    "ramps": lambda: ramps(1000, 700),
    "drawing": lambda: drawing(1200, 900),
    "text": lambda: text(1200, 800),
    "sticker": lambda: sticker(900, 900),
    "large": lambda: leaves(2400, 1800),
}


@functools.cache
def subject(name):
    return SUBJECTS[name]()
