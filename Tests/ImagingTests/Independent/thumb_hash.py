"""What the PyPI package fast-thumbhash, which is the Rust library of the algorithm's author, says of a hash in Base64 on
standard input: the size of its picture, its average colour and opacity, and the means of the picture, from 0 to 255."""

import base64
import sys

import fast_thumbhash

hash = base64.b64decode(sys.stdin.read(), validate=True)
width, height, rgba = fast_thumbhash.thumb_hash_to_rgba(hash)
average = fast_thumbhash.thumb_hash_to_average_rgba(hash)
means = [sum(rgba[channel::4]) / (width * height) for channel in range(4)]
print(width, height, *(round(255 * part) for part in average), *(round(mean) for mean in means))
