// The operator's colour, made readable: as a surface with text on it, and as a text on the page, in both schemes.

const channels = (colour) => [1, 3, 5].map((place) => parseInt(colour.slice(place, place + 2), 16));

/** Relative luminance (WCAG 2.2). */
const luminance = (rgb) => rgb
  .map((value) => value / 255)
  .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
  .reduce((sum, value, place) => sum + value * [0.2126, 0.7152, 0.0722][place], 0);

const contrast = (one, other) => {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
};

/** The colour, mixed with black or white until it has 4.5:1, and a little more, on a surface. */
function readable(rgb, surface, end) {
  for (let part = 0; part < 1; part += 0.04) {
    const mixed = rgb.map((value) => Math.round(value + (end - value) * part));
    if (contrast(mixed, surface) >= 4.7) return mixed;
  }
  return [end, end, end];
}

const white = [255, 255, 255];
const ink = [18, 20, 26];

/** Sets the variables that app.css makes its colours of. */
export function show(colour) {
  if (!/^#[0-9a-f]{6}$/i.test(colour ?? "")) return;
  const rgb = channels(colour);
  const { style } = document.documentElement;
  const set = (name, value) => style.setProperty(name, `rgb(${value.join(" ")})`);
  style.setProperty("--app-colour", colour);
  // The surfaces are the darkest and the lightest on which app.css puts it.
  for (const [scheme, surface, end] of [["light", [236, 238, 243], 0], ["dark", [40, 43, 52], 255]]) {
    const accent = readable(rgb, surface, end);
    set(`--accent-${scheme}`, accent);
    set(`--on-accent-${scheme}`, contrast(white, accent) >= contrast(ink, accent) ? white : ink);
  }
}
