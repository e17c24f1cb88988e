"""Decoders that share no code with img: Pillow's wheel, libvips's wheel, dwebp, avifdec, FFmpeg's wheel; and colours by LittleCMS."""
import functools, io, os, subprocess, tempfile

os.environ["VIPS_CONCURRENCY"] = "1"
import imageio_ffmpeg
import numpy as np
import pyvips
from PIL import Image, ImageCms

from subjects import array


def profile(name):
    """An ICC profile that libvips carries: srgb, p3 or cmyk."""
    return pyvips.Operation.call("profile_load", name)


@functools.cache
def to_standard(stored, mode):
    return ImageCms.buildTransform(
        io.BytesIO(stored), ImageCms.createProfile("sRGB"), mode, "RGB",
        ImageCms.Intent.RELATIVE_COLORIMETRIC, ImageCms.Flags.BLACKPOINTCOMPENSATION)


def standard(pixels, stored):
    """Pixels of an RGB profile as sRGB."""
    if stored is None:
        return pixels
    rgb = Image.fromarray(np.round(pixels[..., :3] * 255).astype(np.uint8))
    return np.dstack([array(ImageCms.applyTransform(rgb, to_standard(stored, "RGB"))), pixels[..., 3:]])


def pillow(data):
    """JPEG, GIF and PNG of 8 bits, as they are stored."""
    with Image.open(io.BytesIO(data)) as image:
        stored = image.info.get("icc_profile")
        if image.mode != "CMYK":
            return standard(array(image), stored)
        if stored:
            return array(ImageCms.applyTransform(image, to_standard(stored, "CMYK")))
        inks = 1 - np.asarray(image) / 255
        return inks[..., :3] * inks[..., 3:]


def wide(data, stored=None):
    """PNG of 16 bits."""
    image = pyvips.Image.new_from_buffer(data, "")
    top = 65535 if image.format == "ushort" else 255
    pixels = np.ndarray((image.height, image.width, image.bands), np.uint16 if top > 255 else np.uint8,
                        image.write_to_memory()) / top
    if pixels.shape[2] < 3:
        pixels = np.dstack([pixels[..., :1]] * 3 + [pixels[..., 1:]])
    return standard(pixels, stored)


def by(command, data, suffix, stored=None):
    """What a program writes as PNG."""
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/in{suffix}", "wb") as file:
            file.write(data)
        subprocess.run(command.format(f"{folder}/in{suffix}", f"{folder}/out.png").split(), check=True, capture_output=True)
        with open(f"{folder}/out.png", "rb") as file:
            return wide(file.read(), stored)


def dwebp(data, stored=None):
    return by("dwebp -quiet {} -o {}", data, ".webp", stored)


def avifdec(data, stored=None):
    return by("avifdec --ignore-icc {} {}", data, ".avif", stored)


def heif_convert(data, stored=None):
    return by("heif-convert {} {}", data, ".heic", stored)


def ffmpeg(data, stored=None):
    """HEIC by FFmpeg's own HEVC decoder, without alpha."""
    program = imageio_ffmpeg.get_ffmpeg_exe()
    return by(program + " -v error -i {} -sws_flags lanczos+accurate_rnd+full_chroma_int+full_chroma_inp"
              " -pix_fmt rgb48be -frames:v 1 {}", data, ".heic", stored)
