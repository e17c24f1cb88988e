"""Lanczos-3, area averaging, CIEDE2000 and SSIM in 64-bit floating point, each by its definition."""
import functools

import numpy as np


@functools.cache
def weights(count, target, by_area):
    step = count / target
    centres = (np.arange(target) + 0.5) * step
    distances = np.abs(np.arange(count)[None] + 0.5 - centres[:, None])
    if by_area:
        matrix = np.clip((max(step, 1) + 1) / 2 - distances, 0, 1)
    else:
        x = distances / max(step, 1)
        matrix = np.where(x < 3, np.sinc(x) * np.sinc(x / 3), 0)
    return matrix / matrix.sum(axis=1, keepdims=True)


def shrunk(pixels, width, height, by_area=False):
    """Codes, premultiplied by alpha."""
    if pixels.shape[2] == 4:
        pixels = np.dstack([pixels[..., :3] * pixels[..., 3:], pixels[..., 3:]])
    pixels = np.tensordot(weights(pixels.shape[0], height, by_area), pixels, (1, 0))
    pixels = np.tensordot(weights(pixels.shape[1], width, by_area), pixels, (1, 1)).swapaxes(0, 1)
    if pixels.shape[2] == 4:
        alpha = np.clip(pixels[..., 3:], 0, 1)
        pixels = np.dstack([np.divide(pixels[..., :3], alpha, out=np.zeros_like(pixels[..., :3]), where=alpha > 0), alpha])
    return np.clip(pixels, 0, 1)


def on_paper(pixels, paper=0.9):
    """Laid on light grey."""
    if pixels.shape[2] == 3:
        return pixels
    return pixels[..., :3] * pixels[..., 3:] + paper * (1 - pixels[..., 3:])


def lab(pixels):
    light = np.where(pixels <= 0.04045, pixels / 12.92, ((pixels + 0.055) / 1.055) ** 2.4)
    xyz = light @ np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750],
                            [0.0193339, 0.1191920, 0.9503041]]).T / [0.95047, 1, 1.08883]
    f = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return 116 * f[..., 1] - 16, 500 * (f[..., 0] - f[..., 1]), 200 * (f[..., 1] - f[..., 2])


def colour_difference(one, two):
    """The mean CIEDE2000 (Sharma, Wu and Dalal 2005); of large pictures, that of some pixels."""
    step = 1 + one[..., 0].size // 200_000
    one, two = one.reshape(-1, 3)[::step], two.reshape(-1, 3)[::step]
    (l1, a1, b1), (l2, a2, b2) = lab(one), lab(two)
    mean = (np.hypot(a1, b1) + np.hypot(a2, b2)) / 2
    stretch = 1.5 - 0.5 * np.sqrt(mean ** 7 / (mean ** 7 + 25 ** 7))
    a1, a2 = a1 * stretch, a2 * stretch
    c1, c2 = np.hypot(a1, b1), np.hypot(a2, b2)
    h1, h2 = np.degrees(np.arctan2(b1, a1)) % 360, np.degrees(np.arctan2(b2, a2)) % 360
    is_grey = c1 * c2 == 0
    turn = np.where(is_grey, 0, (h2 - h1 + 180) % 360 - 180)
    hue = np.where(is_grey, h1 + h2, (h1 + turn / 2) % 360)
    l, c = (l1 + l2) / 2, (c1 + c2) / 2
    cos = lambda degrees: np.cos(np.radians(degrees))
    t = 1 - 0.17 * cos(hue - 30) + 0.24 * cos(2 * hue) + 0.32 * cos(3 * hue + 6) - 0.2 * cos(4 * hue - 63)
    dl = (l2 - l1) / (1 + 0.015 * (l - 50) ** 2 / np.sqrt(20 + (l - 50) ** 2))
    dc = (c2 - c1) / (1 + 0.045 * c)
    dh = 2 * np.sqrt(c1 * c2) * np.sin(np.radians(turn / 2)) / (1 + 0.015 * c * t)
    around = 60 * np.exp(-(((hue - 275) / 25) ** 2))
    rotation = -2 * np.sqrt(c ** 7 / (c ** 7 + 25 ** 7)) * np.sin(np.radians(around))
    return float(np.sqrt(np.maximum(dl * dl + dc * dc + dh * dh + rotation * dc * dh, 0)).mean())


KERNEL = np.exp(-np.arange(-5, 6) ** 2 / (2 * 1.5 ** 2))
KERNEL = (KERNEL / KERNEL.sum()).astype(np.float32)


def blurred(plane):
    for axis in (0, 1):
        plane = np.lib.stride_tricks.sliding_window_view(plane, 11, axis) @ KERNEL
    return plane


def similarity(one, two):
    """The mean SSIM of luma, in Gaussian windows of 11 pixels (Wang, Bovik, Sheikh and Simoncelli 2004)."""
    x, y = ((255 * pixels @ [0.299, 0.587, 0.114]).astype(np.float32) for pixels in (one, two))
    mx, my = blurred(x), blurred(y)
    vx, vy, vxy = blurred(x * x) - mx * mx, blurred(y * y) - my * my, blurred(x * y) - mx * my
    return float(((2 * mx * my + 6.5025) * (2 * vxy + 58.5225) /
                  ((mx * mx + my * my + 6.5025) * (vx + vy + 58.5225))).mean())
