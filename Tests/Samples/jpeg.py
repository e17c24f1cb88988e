"""A baseline JPEG encoder (ITU-T T.81) in plain Python: YCbCr 4:2:0, the standard tables."""
import math
import struct

ZIGZAG = sorted(range(64), key=lambda i: (
    i // 8 + i % 8, i // 8 if (i // 8 + i % 8) % 2 else i % 8))
LUMA = (
    16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56,
    14, 17, 22, 29, 51, 87, 80, 62, 18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113,
    92, 49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99)
CHROMA = tuple(
    {0: 17, 1: 18, 8: 18, 2: 24, 9: 21, 16: 24, 3: 47, 10: 26, 17: 26, 24: 47, 11: 66,
     18: 56, 25: 66}.get(i, 99) for i in range(64))
COSINES = [
    [(math.sqrt(0.125) if u == 0 else 0.5) * math.cos((2 * x + 1) * u * math.pi / 16)
     for x in range(8)] for u in range(8)]

# Code lengths and values for direct and alternating coefficients (annex K.3).
DC = ((0, 1, 5, 1, 1, 1, 1, 1, 1), bytes(range(12)))
AC = ((0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 125), bytes.fromhex(
    "01020300041105122131410613516107227114328191a1082342b1c11552d1f02433627282090a161718191a2526"
    "2728292a3435363738393a434445464748494a535455565758595a636465666768696a737475767778797a838485"
    "868788898a92939495969798999aa2a3a4a5a6a7a8a9aab2b3b4b5b6b7b8b9bac2c3c4c5c6c7c8c9cad2d3d4d5d6"
    "d7d8d9dae1e2e3e4e5e6e7e8e9eaf1f2f3f4f5f6f7f8f9fa"))


def codes(table):
    """The Huffman code and its length for every value."""
    found, code, values = {}, 0, iter(table[1])
    for length, count in enumerate(table[0], 1):
        for _ in range(count):
            found[next(values)] = (code, length)
            code += 1
        code <<= 1
    return found


def transform(block, scale):
    """The cosine transform of 8 rows of 8, divided by the quantisers, in zigzag order."""
    rows = [[sum(map(float.__mul__, cosine, row)) for cosine in COSINES] for row in block]
    columns = [[sum(map(float.__mul__, cosine, column)) for cosine in COSINES]
               for column in zip(*rows)]
    return [round(columns[i % 8][i // 8] * scale[i]) for i in ZIGZAG]


class Bits:
    """Bits in order, with a zero byte stuffed behind every 0xFF."""

    def __init__(self):
        self.bytes, self.value, self.count = bytearray(), 0, 0

    def put(self, value, count):
        self.value, self.count = self.value << count | value, self.count + count
        while self.count >= 8:
            self.count -= 8
            byte = self.value >> self.count & 255
            self.bytes += b"\xff\0" if byte == 255 else bytes((byte,))
        self.value &= (1 << self.count) - 1

    def number(self, code, run, value):
        """A run of zeroes and a number: its Huffman code, then its bits."""
        size = abs(value).bit_length()
        self.put(*code[run << 4 | size])
        self.put(value if value >= 0 else value + (1 << size) - 1, size)


def encode(bits, coefficients, last, dc, ac):
    bits.number(dc, 0, coefficients[0] - last)
    run = 0
    for value in coefficients[1:]:
        if value == 0:
            run += 1
            continue
        while run > 15:
            bits.put(*ac[0xF0])
            run -= 16
        bits.number(ac, run, value)
        run = 0
    if run:
        bits.put(*ac[0])
    return coefficients[0]


def jpeg(width, height, pixel, quality=80):
    """The bytes of a JPEG whose sizes are multiples of 16; pixel(x, y) gives r, g, b in 0...1."""
    factor = (5000 // quality if quality < 50 else 200 - 2 * quality) / 100
    luma, chroma = (
        [max(1, min(255, round(q * factor))) for q in table] for table in (LUMA, CHROMA))
    dc, ac, bits, last = codes(DC), codes(AC), Bits(), [0, 0, 0]
    luma_scale, chroma_scale = [1 / q for q in luma], [1 / q for q in chroma]
    for top in range(0, height, 16):
        band = [[tuple(part * 255 for part in pixel(x, y)[:3]) for x in range(width)]
                for y in range(top, top + 16)]
        y_rows = [[0.299 * r + 0.587 * g + 0.114 * b - 128 for r, g, b in row] for row in band]
        for left in range(0, width, 16):
            for y, x in ((0, 0), (0, 8), (8, 0), (8, 8)):
                block = [row[left + x:left + x + 8] for row in y_rows[y:y + 8]]
                last[0] = encode(bits, transform(block, luma_scale), last[0], dc, ac)
            means = [[tuple(map(lambda *four: sum(four) / 4, *band[y][x:x + 2],
                                *band[y + 1][x:x + 2])) for x in range(left, left + 16, 2)]
                     for y in range(0, 16, 2)]
            for index, weights in ((1, (-0.168736, -0.331264, 0.5)), (2, (0.5, -0.418688, -0.081312))):
                block = [[sum(map(float.__mul__, weights, mean)) for mean in row] for row in means]
                last[index] = encode(bits, transform(block, chroma_scale), last[index], dc, ac)
    bits.put(0x7F, 7)

    def segment(marker, body):
        return struct.pack(">BBH", 0xFF, marker, len(body) + 2) + body

    def huffman(kind, table):
        return bytes((kind, *table[0], *[0] * (16 - len(table[0])))) + table[1]

    return b"".join((
        b"\xff\xd8", segment(0xE0, b"JFIF\0\1\1\0\0\1\0\1\0\0"),
        segment(0xDB, bytes((0, *(luma[i] for i in ZIGZAG), 1, *(chroma[i] for i in ZIGZAG)))),
        segment(0xC0, struct.pack(">BHHB", 8, height, width, 3)
                + bytes((1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1))),
        segment(0xC4, huffman(0, DC) + huffman(0x10, AC)),
        segment(0xDA, bytes((3, 1, 0, 2, 0, 3, 0, 0, 63, 0))), bytes(bits.bytes), b"\xff\xd9"))
