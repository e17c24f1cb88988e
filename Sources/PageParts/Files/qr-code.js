// A QR code as a drawing.
import { svgElement } from "./elements.js";

/** The drawing of rows of modules, where 1 is dark: black on white in every theme, with the quiet zone that readers need. */
export function qrCode(rows, label) {
  const size = rows.length + 8;
  const modules = rows.flatMap((row, y) => [...row.matchAll(/1+/g)].map((run) => `M${run.index + 4} ${y + 4}h${run[0].length}v1h-${run[0].length}z`));
  return svgElement("svg", { class: "qr-code", viewBox: `0 0 ${size} ${size}`, role: "img", "aria-label": label, "shape-rendering": "crispEdges" },
    svgElement("rect", { width: size, height: size, fill: "#fff" }), svgElement("path", { d: modules.join(""), fill: "#000" }));
}
