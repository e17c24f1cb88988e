// What the catalogue says of an asset: the text for those who do not see it, the point that crops keep, and its labels.
import { assetMedia, assetPath, patch } from "./api.js";
import { h } from "./dom.js";
import { faultsOf, field, showFaults } from "./fields.js";
import { memberLabel, texts } from "./texts.js";

const t = texts.description;
const centre = [0.5, 0.5];
const moves = { ArrowLeft: [-0.02, 0], ArrowRight: [0.02, 0], ArrowUp: [0, -0.02], ArrowDown: [0, 0.02] };
const part = (value) => Math.round(Math.min(1, Math.max(0, value)) * 1000) / 1000;

/** The fields of an asset, with the button that saves them. */
export function assetDescription(asset) {
  let focus = asset.focus?.split(",").map(Number);
  const alt = h("textarea", { rows: 2, value: asset.alt ?? "" });
  // Enter would close the dialog.
  const labels = h("input", { autocomplete: "off", on: { keydown: (event) => event.key === "Enter" && (event.preventDefault(), send()) } });
  // A named focus is no other rendition for each point.
  const picture = asset.richType === "img" && h("img", { alt: "", src: assetMedia(asset, "width=640&focus=0.5,0.5") });
  const mark = h("i");
  const point = h("button", { type: "button", class: "point", "aria-label": t.point, on: { click: pick, keydown: move } }, picture, mark);
  const where = h("span", { role: "status" });
  const reset = h("button", { type: "button", class: "plain", on: { click: () => show() } }, t.centre);
  const fields = { alt: field(alt), labels: field(labels) };
  const said = h("span", { role: "status" });
  const save = h("button", { type: "button", on: { click: send } }, t.save);

  const words = () => labels.value.split(",").map((word) => word.trim()).filter(Boolean);
  /** What differs from the asset: a file beside it may say the rest. */
  const changes = () => ({
    ...((alt.value.trim() || null) !== (asset.alt || null) && { alt: alt.value.trim() || null }),
    ...(picture && (focus?.join() ?? null) !== asset.focus && { focus: focus?.join() ?? null }),
    ...(words().join() !== asset.labels.join() && { labels: words() }),
  });
  const showLabels = () => (labels.value = asset.labels.join(", "));
  function show(next) {
    focus = next;
    const [x, y] = focus ?? centre;
    Object.assign(mark.style, { left: `${100 * x}%`, top: `${100 * y}%` });
    where.textContent = focus ? t.where(x, y) : t.none;
    said.textContent = "";
  }
  function pick(event) {
    // Enter clicks nowhere.
    if (!event.detail) return;
    const { left, top, width, height } = picture.getBoundingClientRect();
    show([part((event.clientX - left) / width), part((event.clientY - top) / height)]);
  }
  function move(event) {
    const direction = moves[event.key];
    if (!direction) return;
    event.preventDefault();
    show((focus ?? centre).map((value, axis) => part(value + direction[axis])));
  }
  async function send() {
    save.disabled = true;
    said.textContent = "";
    let faults = {};
    try {
      Object.assign(asset, await patch(assetPath(asset), changes()));
      showLabels();
      said.textContent = t.saved;
    } catch (problem) {
      faults = faultsOf(problem, fields, "alt");
    }
    showFaults(fields, faults);
    save.disabled = false;
    save.focus();
  }
  show(focus);
  showLabels();
  return h("div", { class: "columns" },
    picture && h("div", { class: "field" }, point, h("p", { class: "hint" }, where, " ", t.hint, " ", reset)),
    h("div", { class: "field" }, h("label", {}, memberLabel("alt"), alt), fields.alt.words,
      h("label", {}, t.labels, labels), fields.labels.words, h("p", { class: "hint" }, t.labelsHint), h("p", { class: "line" }, save, said)));
}
