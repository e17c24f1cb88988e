#!/usr/bin/env python3
"""Draws and synthesises the sample assets: logo.png, beach.jpg, chime.wav, welcome.url; and for tests shore.jpg,
a photograph that no server has from the samples.

Everything is computed here, with Python's standard library alone, so the samples are this
project's own. Run it from anywhere; it writes into assets/ and this folder, and always writes the same.
"""
import math
import pathlib
import random
import struct
import wave
import zlib

from jpeg import jpeg

FOLDER = pathlib.Path(__file__).resolve().parent
ASSETS = FOLDER.parents[1] / "assets"


# --- drawing: shapes are signed distances, colours are (r, g, b, alpha) in 0...1 ---------------

def mix(a, b, t):
    t = min(1.0, max(0.0, t))
    return tuple(x + (y - x) * t for x, y in zip(a, b))


def over(top, bottom):
    """Paints one colour over another (Porter and Duff)."""
    alpha = top[3] + bottom[3] * (1 - top[3])
    if alpha == 0:
        return (0.0, 0.0, 0.0, 0.0)
    parts = (t * top[3] + b * bottom[3] * (1 - top[3]) for t, b in zip(top[:3], bottom[:3]))
    return (*(part / alpha for part in parts), alpha)


def cover(colour, distance, softness=0.7):
    """The colour where the distance is negative, with an edge as soft as a pixel."""
    return (*colour[:3], colour[3] * min(1.0, max(0.0, 0.5 - distance / (2 * softness))))


def rounded(x, y, cx, cy, half_width, half_height, radius):
    dx, dy = abs(x - cx) - half_width + radius, abs(y - cy) - half_height + radius
    return math.hypot(max(dx, 0), max(dy, 0)) + min(max(dx, dy), 0) - radius


def circle(x, y, cx, cy, radius):
    return math.hypot(x - cx, y - cy) - radius


def below(x, y, *line):
    """How far above a line through points (x, y) the point lies; negative below it."""
    for (x0, y0), (x1, y1) in zip(line, line[1:]):
        if x0 <= x <= x1:
            slope = (y1 - y0) / (x1 - x0)
            return (y0 + (x - x0) * slope - y) / math.hypot(1, slope)
    return 1e9


def edge(x, y, x0, y0, x1, y1):
    """The distance from the line between two points; negative on its right."""
    return ((x - x0) * (y1 - y0) - (y - y0) * (x1 - x0)) / math.hypot(x1 - x0, y1 - y0)


TAIL = ((176, 418, 180, 340), (262, 340, 176, 418), (180, 340, 262, 340))


def logo_pixel(x, y):
    """A push bubble with a picture in it and the red badge every phone knows, on clear ground."""
    clear, white = (0.0, 0.0, 0.0, 0.0), (1.0, 1.0, 1.0, 1.0)
    ground = mix((0.36, 0.31, 0.95, 1), (0.05, 0.70, 0.93, 1), (x + y) / 1024)
    pixel = over(cover(ground, rounded(x, y, 256, 256, 236, 236, 108)), clear)
    def bubble(x, y):
        tail = max(edge(x, y, *line) for line in TAIL)
        return min(rounded(x, y, 256, 240, 156, 122, 44), tail)

    pixel = over(cover((0, 0.05, 0.3, 0.25), bubble(x, y - 10), 12), pixel)
    pixel = over(cover(white, bubble(x, y)), pixel)
    frame = rounded(x, y, 256, 240, 132, 98, 26)
    sky = mix((1.0, 0.80, 0.45, 1), (0.99, 0.45, 0.47, 1), (y - 142) / 196)
    picture = over(cover((1, 0.97, 0.80, 1), circle(x, y, 320, 206, 30)), sky)
    far = below(x, y, (100, 300), (190, 232), (262, 300), (420, 330))
    picture = over(cover((0.55, 0.29, 0.62, 1), far), picture)
    near = below(x, y, (100, 345), (200, 300), (290, 252), (400, 338), (420, 345))
    picture = over(cover((0.25, 0.20, 0.52, 1), near), picture)
    pixel = over((*picture[:3], cover(white, frame)[3]), pixel)
    pixel = over(cover(white, circle(x, y, 404, 128, 62)), pixel)
    return over(cover((0.96, 0.22, 0.27, 1), circle(x, y, 404, 128, 48)), pixel)


def beach_pixel(x, y, width, height, noise):
    """Evening at the sea: sky, sun, its path on the water, surf, wet and dry sand."""
    u, v, horizon = x / width, y / height, 0.46
    sun = math.hypot((u - 0.68) * width / height, v - 0.36)
    grain = noise[(x * 7 + y * 131) % len(noise)]
    if v < horizon:
        colour = mix((0.13, 0.24, 0.52, 1), (0.99, 0.70, 0.45, 1), (v / horizon) ** 1.4)
        streak = math.sin(u * 9 + math.sin(v * 31) * 2) * math.sin(v * 47 + u * 5)
        colour = mix(colour, (1.0, 0.62, 0.52, 1), max(0.0, streak) * 0.45 * (v / horizon))
        colour = mix(colour, (1.0, 0.86, 0.62, 1), math.exp(-sun * 5.5) * 0.9)
        return mix(colour, (1.0, 0.98, 0.88, 1), (0.062 - sun) * 260)
    shore = 0.70 + 0.03 * math.sin(u * 5.2 + 0.6) + 0.012 * math.sin(u * 17) + 0.05 * (0.5 - u)
    if v < shore:
        depth = (v - horizon) / (shore - horizon)
        ripple = math.sin(260 * math.sqrt(depth + 0.02) + 9 * math.sin(u * 11 + depth * 9))
        colour = mix((0.10, 0.30, 0.47, 1), (0.18, 0.55, 0.58, 1), depth + 0.08 * ripple)
        path = math.exp(-(((u - 0.68) / (0.03 + 0.16 * depth)) ** 2))
        colour = mix(colour, (1.0, 0.80, 0.55, 1), path * (0.45 + 0.45 * ripple) * (1 - depth * 0.7))
        foam = math.sin(depth * 22 + math.sin(u * 23) * 1.3) ** 8 * depth ** 3
        return mix(colour, (0.97, 0.97, 0.95, 1), foam + (depth > 0.965) * 0.8 + grain * 0.02)
    wet = math.exp(-(v - shore) * 16)
    dune = math.sin(u * 31 + v * 60 + math.sin(v * 21 + u * 6) * 2)
    colour = mix((0.90, 0.76, 0.56, 1), (0.98, 0.86, 0.66, 1), 0.5 + 0.3 * dune + grain * 0.35)
    return mix(colour, (0.55, 0.43, 0.36, 1), wet * 0.85)


# --- encoders ----------------------------------------------------------------------------------

def png(width, height, pixel):
    """A truecolour PNG with alpha (ISO 15948), its rows filtered by Up."""
    def chunk(name, body):
        return struct.pack(">I", len(body)) + name + body + struct.pack(
            ">I", zlib.crc32(name + body))

    rows, last = bytearray(), bytes(width * 4)
    for y in range(height):
        row = bytes(
            round(part * 255) for x in range(width) for part in pixel(x + 0.5, y + 0.5))
        rows += b"\2" + bytes((a - b) & 255 for a, b in zip(row, last))
        last = row
    return (b"\x89PNG\r\n\x1a\n"
            + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0))
            + chunk(b"sRGB", b"\0") + chunk(b"IDAT", zlib.compress(bytes(rows), 9))
            + chunk(b"IEND", b""))


def wav(seconds, rate, sample, path):
    """Sixteen bits, one channel."""
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(b"".join(
            struct.pack("<h", round(max(-1.0, min(1.0, sample(i / rate))) * 32767))
            for i in range(int(seconds * rate))))


# --- the samples -------------------------------------------------------------------------------

def chime(t):
    """Two bell notes, a fourth apart: partials of a struck bar, each fading at its own pace."""
    def note(frequency, t):
        if t < 0:
            return 0.0
        partials = ((1.0, 1.0, 3.2), (2.76, 0.34, 6.0), (5.40, 0.16, 11.0), (8.93, 0.06, 19.0))
        return min(1.0, t * 400) * sum(
            volume * math.exp(-t * fade) * math.sin(2 * math.pi * frequency * ratio * t)
            for ratio, volume, fade in partials)

    ending = min(1.0, (1.6 - t) * 8)
    return 0.42 * ending * (note(783.99, t) + note(1046.50, t - 0.16))


def main():
    (ASSETS / "img/logo.png").write_bytes(png(512, 512, logo_pixel))
    dice = random.Random(7)
    noise = [dice.uniform(-1, 1) for _ in range(65_521)]
    for path, width, height in [(ASSETS / "img/beach.jpg", 1200, 800), (FOLDER / "shore.jpg", 640, 427)]:
        path.write_bytes(jpeg(
            width, height, lambda x, y: beach_pixel(x, y, width, height, noise), quality=82))
    wav(1.6, 44_100, chime, ASSETS / "sound/chime.wav")
    (ASSETS / "url/welcome.url").write_text(
        "[InternetShortcut]\nURL=https://www.swift.org/getting-started/\n")


if __name__ == "__main__":
    main()
