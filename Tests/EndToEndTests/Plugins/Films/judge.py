#!/usr/bin/env python3
"""What independent programs see in films and in pictures of them.

usage: judge.py FILE...

Prints one JSON object with a member for each file. Of a JPEG: its `size` and the names of the colours in its `corners` and in
its `centre`, as Pillow reads it. Of a film, as Chromium shows it: the same, of its first picture, and its `duration`. Of a film
named `….sent.mp4` also, as the ffmpeg of imageio-ffmpeg decodes it without regard to edit lists: all colours in the `centres`,
and its `sounds`.
"""

import http.server
import json
import os
import re
import subprocess
import sys
import threading

import imageio_ffmpeg
from PIL import Image
from playwright.sync_api import sync_playwright

COLOURS = {
    "red": (255, 0, 0), "green": (0, 128, 0), "blue": (0, 0, 255), "white": (255, 255, 255),
    "magenta": (255, 0, 255), "cyan": (0, 255, 255), "yellow": (255, 255, 0), "black": (0, 0, 0),
}
PLACES = [(0.06, 0.06), (0.94, 0.06), (0.06, 0.94), (0.94, 0.94), (0.5, 0.5)]
SHOW = """async ([url, places]) => {
  const film = document.createElement("video");
  film.muted = true;
  // Of data that is loaded there may be no picture yet: a canvas would be black.
  const failure = await new Promise((done) => {
    film.requestVideoFrameCallback(() => done(null));
    film.onerror = () => done(film.error.message);
    setTimeout(() => done("no picture within a minute"), 60000);
    film.src = url;
  });
  if (failure) return { failure };
  const [width, height] = [film.videoWidth, film.videoHeight];
  const canvas = new OffscreenCanvas(width, height).getContext("2d");
  canvas.drawImage(film, 0, 0);
  const pixels = places.map(([x, y]) =>
    [...canvas.getImageData(x * width, y * height, 1, 1).data].slice(0, 3));
  return { size: [width, height], duration: film.duration, pixels };
}"""


def name(pixel):
    return min(COLOURS, key=lambda c: sum((a - b) ** 2 for a, b in zip(COLOURS[c], pixel)))


def named(pixels):
    names = [name(pixel) for pixel in pixels]
    return {"corners": names[:4], "centre": names[4]}


def picture(path):
    image = Image.open(path).convert("RGB")
    width, height = image.size
    pixels = [image.getpixel((int(x * width), int(y * height))) for x, y in PLACES]
    return {"size": [width, height]} | named(pixels)


def decoded(path):
    program = imageio_ffmpeg.get_ffmpeg_exe()
    told = subprocess.run([program, "-hide_banner", "-i", path], capture_output=True, text=True)
    frames = subprocess.run(
        [program, "-v", "error", "-ignore_editlist", "1", "-i", path, "-map", "0:v", "-vf",
         "crop=16:16,scale=1:1", "-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"],
        capture_output=True)
    pixels = [frames.stdout[i:i + 3] for i in range(0, len(frames.stdout), 3)]
    return {"centres": sorted({name(pixel) for pixel in pixels}), "frames": len(pixels),
            "sounds": re.findall(r"Audio: (\w+)", told.stderr)}


class Films(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        number = self.path[1:]
        content = open(sys.argv[int(number)], "rb").read() if number.isdigit() else b""
        self.send_response(200)
        self.send_header("Content-Type", "video/mp4" if number.isdigit() else "text/html")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Films)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    root = f"http://127.0.0.1:{server.server_port}/"
    found = {}
    with sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(root)
        for number, path in enumerate(sys.argv[1:], 1):
            if path.endswith(".jpg"):
                seen = picture(path)
            else:
                seen = page.evaluate(SHOW, [root + str(number), PLACES])
                if "pixels" in seen:
                    seen |= named(seen.pop("pixels"))
                if path.endswith(".sent.mp4"):
                    seen |= decoded(path)
            found[os.path.basename(path)] = seen
            print(os.path.basename(path), file=sys.stderr, flush=True)
        browser.close()
    print(json.dumps(found))


main()
