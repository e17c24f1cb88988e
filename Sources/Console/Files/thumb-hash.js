// What a picture looks like until it is loaded: its ThumbHash (evanw.github.io/thumbhash), from the details of the media.

/** Shows what a hash describes behind a picture, until that is loaded; without a hash nothing. */
export function showUntilLoaded(picture, hash) {
  const small = hash && drawn(hash);
  if (!small) return picture;
  picture.style.background = `center / contain no-repeat url(${small})`;
  for (const type of ["load", "error"]) picture.addEventListener(type, () => { picture.style.background = ""; }, { once: true });
  return picture;
}

/** The address of a small picture; null for a text that is no hash. */
export function drawn(hash) {
  try {
    const { width, height, pixels } = pictureOf(Uint8Array.from(atob(hash), (character) => character.charCodeAt(0)));
    const canvas = Object.assign(document.createElement("canvas"), { width, height });
    canvas.getContext("2d").putImageData(new ImageData(pixels, width, height), 0, 0);
    return canvas.toDataURL();
  } catch {
    return null;
  }
}

/** The pixels of a hash: 32 along the longer edge. */
function pictureOf(bytes) {
  /** A number of so many bits from one on. */
  const number = (start, bits) => Array.from({ length: bits }, (_, bit) => (bytes[(start + bit) >> 3] >> ((start + bit) & 7) & 1) << bit).reduce((sum, bit) => sum + bit);
  const hasOpacity = number(23, 1) === 1;
  const isLandscape = number(39, 1) === 1;
  const sides = [hasOpacity ? 5 : 7, Math.max(number(24, 3), 1)];
  const [columns, rows] = isLandscape ? sides : sides.reverse();
  let next = hasOpacity ? 48 : 40;
  /** A channel as a function of a place: its average and a sum of waves. */
  const channel = (across, down, average, scale) => {
    const waves = [];
    for (let row = 0; row < down; row += 1) {
      for (let column = row ? 0 : 1; column * down < across * (down - row); column += 1) {
        waves.push([column, row, (number(next, 4) / 7.5 - 1) * scale * 2]);
        next += 4;
      }
    }
    if (next > bytes.length * 8 + 4) throw new RangeError("the hash is too short");
    return (x, y) => waves.reduce((sum, [column, row, part]) => sum + part * Math.cos(Math.PI * column * x) * Math.cos(Math.PI * row * y), average);
  };
  const brightness = channel(Math.max(3, columns), Math.max(3, rows), number(0, 6) / 63, number(18, 5) / 31);
  const yellow = channel(3, 3, number(6, 6) / 31.5 - 1, number(27, 6) / 63 * 1.25);
  const red = channel(3, 3, number(12, 6) / 31.5 - 1, number(33, 6) / 63 * 1.25);
  const opacity = hasOpacity ? channel(5, 5, number(40, 4) / 15, number(44, 4) / 15) : () => 1;
  const [width, height] = [columns, rows].map((side) => Math.max(1, Math.round(32 * side / Math.max(columns, rows))));
  const pixels = new Uint8ClampedArray(width * height * 4);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const place = [(x + 0.5) / width, (y + 0.5) / height];
      const [l, p, q, a] = [brightness, yellow, red, opacity].map((value) => value(...place));
      const b = l - 2 / 3 * p;
      const r = (3 * l - b + q) / 2;
      pixels.set([r, r - q, b, a].map((part) => part * 255), (y * width + x) * 4);
    }
  }
  return { width, height, pixels };
}
