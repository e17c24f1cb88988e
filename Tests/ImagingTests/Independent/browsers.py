"""What browsers show of picture files.

A look is a dictionary: "shown" whether an image element shows it, "size" of that upright, "corners" four of its pixels
(RGBA; top left, top right, bottom left, bottom right), "frames" how many pictures can be decoded one after the other,
"animated" whether the browser says that it moves."""
import base64, http.server, json, os, subprocess, tempfile, threading

LOOK = """async ([type, text]) => {
  const data = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const seen = {shown: false, frames: 0, animated: false};
  // Firefox never answers about some broken files.
  const soon = (promise) => Promise.race(
    [promise, new Promise((_, fail) => setTimeout(() => fail("no answer"), 5000))]);
  const corners = (image, width, height) => {
    const context = new OffscreenCanvas(width, height).getContext("2d", {willReadFrequently: true});
    context.drawImage(image, 0, 0);
    const at = (x, y) => [...context.getImageData(Math.floor(x * width), Math.floor(y * height), 1, 1).data];
    return [at(.1, .1), at(.9, .1), at(.1, .9), at(.9, .9)];
  };
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([data], {type}));
  try {
    await soon(image.decode());
    seen.size = [image.naturalWidth, image.naturalHeight];
    seen.corners = corners(image, ...seen.size);
    seen.shown = true;
  } catch (error) { seen.fault = String(error); }
  URL.revokeObjectURL(image.src);
  const decoder = new ImageDecoder({type, data});
  try {
    await soon(decoder.tracks.ready);
    await soon(decoder.completed);
    seen.animated = decoder.tracks.selectedTrack.animated;
    for (let at = 0; at < Math.min(decoder.tracks.selectedTrack.frameCount, 20); at += 1) {
      (await soon(decoder.decode({frameIndex: at}))).image.close();
      seen.frames += 1;
    }
  } catch (error) { seen.frameFault = String(error); }
  try { decoder.close(); } catch { /* it failed before */ }
  return seen;
}"""


def kind(data):
    """The media type of a file."""
    for start, name in ((b"\x89PNG", "png"), (b"\xff\xd8", "jpeg"), (b"GIF8", "gif")):
        if data.startswith(start):
            return "image/" + name
    return "image/webp"


def argument(data):
    return [kind(data), base64.b64encode(data).decode()]


class Chromium:
    """Debian's Chromium, headless."""

    def __enter__(self):
        from playwright.sync_api import sync_playwright
        self.playwright = sync_playwright().start()
        self.browser = self.playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-dev-shm-usage"])
        self.page = self.browser.new_page()
        # Only a secure page has an ImageDecoder.
        self.page.route("**/*", lambda route: route.fulfill(body="<p>", content_type="text/html"))
        self.page.goto("https://localhost/")
        return self

    def look(self, files):
        script = f"async (files) => {{ const look = {LOOK}; const seen = []; " \
            "for (const file of files) seen.push(await look(file)); return seen; }"
        return self.page.evaluate(script, [argument(data) for data in files])

    def __exit__(self, *_):
        self.browser.close()
        self.playwright.stop()


class Firefox:
    """Debian's Firefox, as the stand-in of Mozilla's push service starts it."""

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<p>")

        def log_message(self, *_):
            pass

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self.Page)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        service = os.path.join(os.path.dirname(__file__), "../../StandIns/Services/firefox.py")
        self.process = subprocess.Popen(["/usr/bin/python3", service, self.folder.name], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.process.stdout.readline()
        self.tell(do="open", url=f"http://127.0.0.1:{self.server.server_port}/")
        return self

    def tell(self, **command):
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def look(self, files):
        return [self.tell(do="evaluate", script=f"({LOOK})({json.dumps(argument(data))})")["value"] for data in files]

    def __exit__(self, *_):
        self.tell(do="reset")
        self.process.stdin.close()
        self.process.wait()
        self.server.shutdown()
        self.folder.cleanup()
