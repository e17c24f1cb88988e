// What a picture looks like until it is loaded: its ThumbHash (evanw.github.io/thumbhash).

/** A canvas of what the hash describes; null without one, or if it is none. */
export function thumbHashCanvas(hash) {
  if (!hash) return null;
  try {
    const { width, height, pixels } = pictureOf(Uint8Array.from(atob(hash), (character) => character.charCodeAt(0)));
    const canvas = Object.assign(document.createElement("canvas"), { width, height });
    canvas.getContext("2d").putImageData(new ImageData(pixels, width, height), 0, 0);
    return canvas;
  } catch {
    return null;
  }
}

/** The pixels of a hash, 32 along the longer edge. */
function pictureOf(bytes) {
  const bit = (place) => bytes[place >> 3] >> (place & 7) & 1;
  const number = (start, count) => (count ? bit(start) + 2 * number(start + 1, count - 1) : 0);
  const sides = [bit(23) ? 5 : 7, number(24, 3) || 1];
  const [columns, rows] = bit(39) ? sides : sides.reverse();
  let next = bit(23) ? 48 : 40;
  /** A channel as a function of a place: its average and a sum of waves. */
  const channel = (across, down, average, scale) => {
    const waves = [];
    for (let row = 0; row < down; row += 1) {
      for (let column = row ? 0 : 1; column * down < across * (down - row); column += 1, next += 4) waves.push([column, row, (number(next, 4) / 7.5 - 1) * scale * 2]);
    }
    if (next > bytes.length * 8 + 4) throw new RangeError();
    return (x, y) => waves.reduce((sum, [column, row, part]) => sum + part * Math.cos(Math.PI * column * x) * Math.cos(Math.PI * row * y), average);
  };
  const channels = [channel(Math.max(3, columns), Math.max(3, rows), number(0, 6) / 63, number(18, 5) / 31),
    channel(3, 3, number(6, 6) / 31.5 - 1, number(27, 6) / 63 * 1.25), channel(3, 3, number(12, 6) / 31.5 - 1, number(33, 6) / 63 * 1.25),
    bit(23) ? channel(5, 5, number(40, 4) / 15, number(44, 4) / 15) : () => 1];
  const [width, height] = [columns, rows].map((side) => Math.max(1, Math.round(32 * side / Math.max(columns, rows))));
  const pixels = new Uint8ClampedArray(width * height * 4);
  for (let place = 0; place < width * height; place += 1) {
    const [l, p, q, a] = channels.map((value) => value((place % width + 0.5) / width, (Math.floor(place / width) + 0.5) / height));
    const b = l - 2 / 3 * p;
    const r = (3 * l - b + q) / 2;
    pixels.set([r, r - q, b, a].map((part) => part * 255), place * 4);
  }
  return { width, height, pixels };
}
