"""Sounds whose headers do not fit what is in them, read by the plugin and decoded by FFmpeg.

    odd_sounds.py PLUGIN SEED SECONDS

prints the sounds on which the two differ, each with what was done to it, and as its last line the counts. Each sound
is made from the seed and its number alone: `odd_sounds.py PLUGIN SEED SECONDS NUMBER` makes that one, and keeps it.
"""

import collections
import concurrent.futures
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import time

FFMPEG = ["/usr/bin/ffmpeg", "-v", "error", "-nostdin", "-y"]
# FFmpeg decodes to this, and the bytes of it are the length.
RATE = 8000
# Seconds by which the two may differ.
TOLERANCE = 0.1
# Where joined MP3s have other sample rates, FFmpeg's parser keeps or drops up to two frames, of 72 ms at 8 kHz.
MIXED_TOLERANCE = 0.25


class Odd:
    """A sound that is made, what was done to it, and how it is judged."""

    def __init__(self, sound, done, tolerance=TOLERANCE, readings=None):
        self.sound, self.done, self.tolerance = sound, done, tolerance
        # What FFmpeg decodes one by one; of several readings the one that is nearer to the plugin's counts.
        self.readings = readings or [[sound]]


def encoded(folder, ending, *options, seconds=2.0, rate=44100, channels=1):
    """The bytes of a tone that FFmpeg encodes."""
    path = os.path.join(folder, f"tone.{ending}")
    source = f"aevalsrc='0.3*sin(2*PI*330*t)+0.1*random(0)':d={seconds}:s={rate}"
    subprocess.run(
        FFMPEG + ["-f", "lavfi", "-i", source, "-ac", str(channels), *options, path], check=True)
    with open(path, "rb") as file:
        return file.read()


def sounds(folder):
    """Good sounds of each kind, the material of the odd ones."""
    tone = lambda *arguments, **keys: encoded(folder, *arguments, **keys)
    mp3 = [
        (rate, tone("mp3", "-c:a", "libmp3lame", *options, seconds=seconds, rate=rate, channels=channels))
        for options, seconds, rate, channels in [
            (["-q:a", "4"], 3, 44100, 2), (["-b:a", "64k"], 2, 44100, 1), (["-q:a", "7"], 1.3, 22050, 1),
            (["-b:a", "16k"], 2.5, 8000, 1), (["-b:a", "128k", "-write_xing", "0"], 1.7, 48000, 2),
            (["-q:a", "5", "-id3v2_version", "0"], 2.2, 32000, 1),
        ]]
    aac = ["-c:a", "aac", "-b:a", "48k"]
    fragments = [
        ["-movflags", "+frag_keyframe+empty_moov"],
        ["-movflags", "+frag_keyframe+empty_moov+default_base_moof", "-frag_duration", "200000"],
        ["-movflags", "+dash", "-frag_duration", "500000"],
        ["-movflags", "+empty_moov+omit_tfhd_offset+frag_keyframe", "-frag_duration", "300000"],
        ["-movflags", "+cmaf+global_sidx"],
    ]
    plain = lambda codec, **keys: tone("wav", "-c:a", codec, "-bitexact", **keys)
    return {
        "mp3": mp3,
        "adts": [tone("aac", *aac, rate=rate, channels=channels)
                 for rate, channels in [(44100, 2), (16000, 1), (48000, 1)]],
        "m4a": [tone("m4a", *aac, rate=44100), tone("m4a", *aac, "-movflags", "+faststart", rate=16000),
                tone("m4a", "-c:a", "alac", "-movflags", "+faststart", rate=22050)],
        "fragments": [tone("mp4", *aac, *options, seconds=3, rate=rate)
                      for options in fragments for rate in (44100, 16000)],
        "pcm": [plain(codec, rate=8000, channels=channels) for channels in (1, 2)
                for codec in ("pcm_s16le", "pcm_u8", "pcm_s24le", "pcm_f32le", "pcm_mulaw")],
        "adpcm": [plain(codec, rate=rate, channels=channels) for channels in (1, 2) for rate in (8000, 22050)
                  for codec in ("adpcm_ima_wav", "adpcm_ms")] + [plain("libmp3lame", rate=22050)],
        "aiff": [tone("aiff", "-c:a", codec, rate=8000) for codec in ("pcm_s16be", "pcm_s8", "pcm_mulaw")],
        "caf": [tone("caf", "-c:a", codec, rate=8000) for codec in ("pcm_s16be", "pcm_s16le", "pcm_f32be")],
        "flac": [tone("flac", "-c:a", "flac", *options, rate=rate, channels=channels) for options, rate, channels in [
            ([], 44100, 2), ([], 16000, 1), (["-frame_size", "4608"], 22050, 1)]],
        "ogg": [tone("ogg", "-c:a", codec, *options, seconds=seconds, rate=48000, channels=channels)
                for codec, options, seconds, channels in [
                    ("libopus", [], 2, 1), ("libopus", ["-frame_duration", "60"], 3, 2),
                    ("libvorbis", [], 2, 1), ("libvorbis", ["-page_duration", "200000"], 3, 2)]],
    }


# What is put between, before and behind MPEG frames.

def synchsafe(number):
    return bytes(number >> shift & 127 for shift in (21, 14, 7, 0))


def id3(chance):
    """An ID3v2 tag with a title or a picture."""
    body = b"TIT2\0\0\0\6\0\0\0title" if chance.random() < 0.5 else (
        b"APIC" + struct.pack(">I", 9000) + b"\0\0\0image/jpeg\0\3\0\xff\xd8\xff\xe0" + chance.randbytes(9000).replace(
            b"\xff", b"\xfe"))
    flags = chance.choice([0, 0x10])
    foot = b"3DI\4\0\x10" + synchsafe(len(body)) if flags else b""
    return b"ID3\4\0" + bytes([flags]) + synchsafe(len(body)) + body + foot


def ape():
    item = struct.pack("<II", 5, 0) + b"Title\0title"
    rest = struct.pack("<IIII", 2000, len(item) + 32, 1, 0) + bytes(8)
    return item + b"APETAGEX" + rest


def lyrics():
    return b"LYRICSBEGIN" + b"IND0000210" + b"000021LYRICS200"


def id3v1():
    return b"TAG" + b"title".ljust(125, b"\0")


def recounted(mp3, chance):
    """Another number of frames in the tag of an MP3."""
    place = max(mp3.find(b"Xing"), mp3.find(b"Info"))
    if place < 0 or not mp3[place + 7] & 1:
        return mp3
    count = struct.unpack(">I", mp3[place + 8:place + 12])[0]
    wrong = chance.choice([0, 1, count * 10, count // 3, count * 2, 0xFFFFFFFF, count + 40])
    return mp3[:place + 8] + struct.pack(">I", wrong & 0xFFFFFFFF) + mp3[place + 12:]


def cut(sound, chance, least=0.2):
    return sound[:int(len(sound) * chance.uniform(least, 1))]


def odd_mp3(material, chance):
    parts, done, rates = [], [], set()
    material = material if chance.random() < 0.3 else [chance.choice(material)]
    joints = chance.choice([1, 1, 2, 2, 3]) - 1
    for _ in range(joints + 1):
        rate, part = chance.choice(material)
        rates.add(rate)
        if chance.random() < 0.4:
            part = recounted(part, chance)
            done.append("recounted")
        if chance.random() < 0.3:
            part = cut(part, chance)
            done.append("cut")
        parts.append(part)
        if chance.random() < 0.3:
            parts.append(id3(chance))
            done.append("id3")
    if chance.random() < 0.3:
        parts.append(ape())
        done.append("ape")
    if chance.random() < 0.3:
        parts.append(lyrics() + id3v1())
        done.append("lyrics")
    tolerance = TOLERANCE if len(rates) == 1 else MIXED_TOLERANCE
    # Of a frame that was cut, FFmpeg plays what it has, and it may lose the next one; at 8 kHz that is long. Behind a
    # tag between two files it loses one, too.
    rate = min(rates)
    tolerance += (done.count("cut") + joints) * (1152 if rate >= 32000 else 576) / rate
    return Odd(b"".join(parts), [f"{len(parts)} parts", *done], tolerance)


def odd_adts(material, chance):
    parts = [cut(chance.choice(material), chance) if chance.random() < 0.3 else chance.choice(material)]
    if chance.random() < 0.5:
        parts.append(chance.choice(material))
    if chance.random() < 0.3:
        parts.insert(0, id3(chance))
    # FFmpeg takes a header that was cut, and chance bytes behind one, for a frame of up to 8 KiB, in which it loses
    # what was joined: so each part is also decoded by itself.
    alone = [part for part in parts if not part.startswith(b"ID3")]
    tolerance = TOLERANCE + (len(alone) - 1) * 2 * 1024 / 16000
    return Odd(b"".join(parts), [f"{len(parts)} parts"], tolerance, readings=[[b"".join(parts)], alone])


SIZES = [0, 0xFFFFFFFF, 0x7FFFFFFF, 0x80000000, 2_000_000_000, 0xFFFFFFFD, 0x7FFFF000]


def odd_wav(material, chance):
    """Another size of the samples, another order of the chunks, or no `fact`."""
    wav = chance.choice(material)
    chunks, place = [], 12
    while place + 8 <= len(wav):
        name, size = struct.unpack("<4sI", wav[place:place + 8])
        chunks.append((name, wav[place + 8:place + 8 + size]))
        place += 8 + size + (size & 1)
    form = b"".join(c for n, c in chunks if n == b"fmt ")
    data = b"".join(c for n, c in chunks if n == b"data")
    done = []
    chunk = lambda name, content, size=None: (
        name + struct.pack("<I", len(content) if size is None else size) + content + b"\0" * (len(content) & 1))
    front = b""
    for extra in (b"JUNK", b"LIST", b"bext", b"fact"):
        if chance.random() < 0.3:
            front += chunk(extra, chance.randbytes(chance.choice([4, 26, 27, 602])))
            done.append(extra.decode())
    kind = chance.choice(["size", "size", "cut", "late", "rf64", "right", "too big", "rate"])
    done.append(kind)
    if kind == "rate":  # bytes a second are wrong
        form = form[:8] + struct.pack("<I", chance.choice([0, 1, 10**6])) + form[12:]
    head = chunk(b"fmt ", form)
    if kind == "late" and len(data) % 2 == 0:
        body = front + chunk(b"data", data) + head
    elif kind == "size":
        size = chance.choice(SIZES)
        body = head + front + b"data" + struct.pack("<I", size) + data
        done.append(hex(size))
    elif kind == "cut":
        body = head + front + chunk(b"data", data)
        body = body[:max(len(head + front) + 400, int(len(body) * chance.random()))]
    elif kind == "rf64":
        sizes = struct.pack("<QQQI", len(data) + 80, len(data), 0, 0)
        body = chunk(b"ds64", sizes) + head + front + chunk(b"data", data, 0xFFFFFFFF) + chunk(b"LIST", bytes(100))
        return Odd(b"RF64\xff\xff\xff\xffWAVE" + body, done)
    elif kind == "too big":
        body = head + front + b"data" + struct.pack("<I", len(data) + chance.randint(1, 5000)) + data
    else:
        body = head + front + chunk(b"data", data) + chunk(b"LIST", bytes(100))
    size = chance.choice([len(body) + 4, 0, 0xFFFFFFFF])
    return Odd(b"RIFF" + struct.pack("<I", size) + b"WAVE" + body, done)


def odd_aiff(material, chance):
    aiff = chance.choice(material)
    common, samples = aiff.find(b"COMM"), aiff.find(b"SSND")
    frames = chance.choice([0, 1, 0xFFFFFFFF, None])
    if frames is not None:
        aiff = aiff[:common + 10] + struct.pack(">I", frames) + aiff[common + 14:]
    size = chance.choice([0x7FFFFFFF, 0x7F000000, None])
    if size is not None:
        aiff = aiff[:samples + 4] + struct.pack(">I", size) + aiff[samples + 8:]
    if chance.random() < 0.3:
        aiff = aiff[:samples + 500 + int((len(aiff) - samples - 500) * chance.random())]
    return Odd(aiff, [f"{frames} frames", f"size {size}"])


def odd_caf(material, chance):
    caf = chance.choice(material)
    place = caf.find(b"data", 60)
    if chance.random() < 0.5:
        caf = caf[:place + 4] + b"\xff" * 8 + caf[place + 12:]
    if chance.random() < 0.5:
        caf = caf[:place + 500 + int((len(caf) - place - 500) * chance.random())]
    return Odd(caf, [])


def odd_flac(material, chance):
    flac, done, tolerance = chance.choice(material), [], TOLERANCE
    if chance.random() < 0.6:
        samples = chance.choice([0, 1, 10**6, 2**36 - 1])
        word = struct.unpack(">Q", flac[18:26])[0] >> 36 << 36 | samples
        flac = flac[:18] + struct.pack(">Q", word) + flac[26:]
        done.append(f"{samples} samples")
    if chance.random() < 0.6:
        flac = cut(flac, chance, 0.5)
        done.append("cut")
        # The plugin counts a last frame that was cut if it has as many samples as the encoder says; FFmpeg does not.
        tolerance += 4608 / 22050
    elif chance.random() < 0.3:
        flac += id3v1()
        done.append("tag")
    return Odd(flac, done, tolerance)


def odd_ogg(material, chance):
    parts = [chance.choice(material) for _ in range(chance.choice([1, 2, 2, 3]))]
    done = [f"{len(parts)} links"]
    if chance.random() < 0.3:
        parts[-1] = cut(parts[-1], chance, 0.5)
        done.append("cut")
    # FFmpeg stops where the codec changes.
    return Odd(b"".join(parts), done, readings=[parts])


def boxes(data, start, end):
    while start + 8 <= end:
        size, name = struct.unpack(">I4s", data[start:start + 8])
        if size < 8 or start + size > end:
            return
        yield name, start, start + size
        start += size


def inside(data, start, end, *path):
    """The places of a box."""
    for name, first, last in boxes(data, start, end):
        if name == path[0]:
            if len(path) == 1:
                yield first, last
            else:
                yield from inside(data, first + 8, last, *path[1:])


def odd_m4a(material, chance):
    """Another length in `mvhd`, `mdhd` and `mehd`; boxes between, and a cut."""
    m4a, done = bytearray(chance.choice(material)), []
    length = chance.choice([0, 1, 10**6, 0xFFFFFFFF, None])
    if length is not None:
        for path in ((b"moov", b"mvhd"), (b"moov", b"trak", b"mdia", b"mdhd")):
            for start, _ in inside(m4a, 0, len(m4a), *path):
                m4a[start + 24:start + 28] = struct.pack(">I", length)
        for start, _ in inside(m4a, 0, len(m4a), b"moov", b"mvex", b"mehd"):
            m4a[start + 12:start + 16] = struct.pack(">I", length)
        done.append(f"length {length}")
    moov = next(inside(m4a, 0, len(m4a), b"moov"))
    if chance.random() < 0.4 and moov[1] < len(m4a) // 2:
        m4a = m4a[:moov[1] + int((len(m4a) - moov[1]) * chance.uniform(0.3, 1))]
        done.append("cut")
    return Odd(bytes(m4a), done)


KINDS = {
    "mp3": odd_mp3, "adts": odd_adts, "pcm": odd_wav, "adpcm": odd_wav, "aiff": odd_aiff, "caf": odd_caf,
    "flac": odd_flac, "ogg": odd_ogg, "m4a": odd_m4a, "fragments": odd_m4a,
}


def made(material, seed, number):
    """The kind of a sound, and the sound."""
    chance = random.Random(f"{seed}/{number}")
    kind = list(KINDS)[number % len(KINDS)]
    return kind, KINDS[kind](material[kind], chance)


def facts(plugin, path):
    """What the plugin says of a file; a sentence when it refuses it."""
    environment = {
        "GATEWAY_INTERFACE": "CGI/1.1", "REQUEST_METHOD": "GET", "QUERY_STRING": "", "RICH_VERB": "validate",
        "RICH_TYPE": "sound", "RICH_PAYLOAD": "a", "RICH_ASSET_PATH": path, "LANG": "C.UTF-8",
        "RICH_ASSET_SIZE": str(os.path.getsize(path)), "PATH": "/usr/bin:/bin",
    }
    run = subprocess.run([plugin], env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    body = run.stdout.partition(b"\r\n\r\n")[2].decode()
    return json.loads(body) if body.startswith("{") else body


def decoded(path):
    """Seconds that FFmpeg decodes; nil when it reads nothing."""
    run = subprocess.run(
        FFMPEG + ["-i", path, "-map", "0:a:0", "-f", "u8", "-ac", "1", "-ar", str(RATE), "-"], capture_output=True)
    return len(run.stdout) / RATE if run.stdout else None


def compared(plugin, material, seed, number, folder, keep=False):
    kind, odd = made(material, seed, number)

    def written(name, content):
        path = os.path.join(folder, name)
        with open(path, "wb") as file:
            file.write(content)
        return path

    path = written(f"{number}", odd.sound)
    mine = facts(plugin, path)
    lengths = [sum(decoded(written(f"{number}.part", part)) or 0 for part in parts) for parts in odd.readings]
    theirs = lengths[0]
    if not isinstance(mine, str) and "duration" in mine:
        theirs = min(lengths, key=lambda length: abs(length - mine["duration"]))
    if keep:
        print(path, kind, odd.done, mine, lengths)
    else:
        for name in (f"{number}", f"{number}.part"):
            os.unlink(os.path.join(folder, name))
    if theirs == 0:
        return kind, "not decoded", None
    if isinstance(mine, str):
        return kind, "refused", f"{number} {kind} {odd.done}: FFmpeg decodes {theirs:.3f} s, refused: {mine}"
    if "duration" not in mine:
        return kind, "not measured", f"{number} {kind} {odd.done}: FFmpeg decodes {theirs:.3f} s, not measured"
    if abs(mine["duration"] - theirs) > odd.tolerance:
        return kind, "differ", f"{number} {kind} {odd.done}: {mine['duration']} s, FFmpeg decodes {theirs:.3f} s"
    return kind, "agree", None


def main(plugin, seed, seconds, number=None):
    with tempfile.TemporaryDirectory() as folder:
        material = sounds(folder)
        if number is not None:
            return compared(plugin, material, seed, int(number), tempfile.gettempdir(), keep=True)
        counts = collections.Counter()
        end, number, differ = time.monotonic() + float(seconds), 0, []
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            while time.monotonic() < end:
                block = range(number, number + 40)
                number += 40
                for kind, outcome, line in pool.map(
                        lambda index: compared(plugin, material, seed, index, folder), block):
                    counts[outcome] += 1
                    counts[f"{kind} {outcome}"] += 1
                    if line:
                        print(line)
                print(f"{number} made", file=sys.stderr, flush=True)
        print(json.dumps({"made": number, **counts}))


if __name__ == "__main__":
    main(*sys.argv[1:])
