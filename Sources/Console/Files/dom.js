// The elements that all pages have, and the console's symbols.
import { svgElement } from "./elements.js";
export { fill, h, svgElement } from "./elements.js";

const paths = {
  status: "M2 10h4l2-5 4 10 2-5h4",
  catalogue: "M3 3h6v6H3zM11 3h6v6h-6zM3 11h6v6H3zM11 11h6v6h-6z",
  compose: "M3 17l1-4 9-9 3 3-9 9zM11.500 5.500l3 3",
  sent: "M17 3 3 9l5 2.500L11 17zM17 3 8 11.500",
  services: "M3 4h14v5H3zM3 11h14v5H3zM6 6.500h.01M6 13.500h.01M10 6.500h4M10 13.500h4",
  plugins: "M7 3v4M13 3v4M5 7h10v3a5 5 0 0 1-10 0zM10 15v3",
  people: "M10 9a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM4 17a6 6 0 0 1 12 0",
  ready: "M4 10.500l4 4 8-9",
  refused: "M10 3l8 14H2zM10 8v4M10 14.500v.01",
  preparing: "M10 3a7 7 0 1 1-7 7M10 6v4l2.500 2",
  upload: "M10 13V4M6 7.500 10 3.500l4 4M4 13v4h12v-4",
  search: "M9 15a6 6 0 1 0 0-12 6 6 0 0 0 0 12zM13.500 13.500 18 18",
  close: "M5 5l10 10M15 5 5 15",
  link: "M8.500 11.500a3 3 0 0 0 4.500 0l2.500-2.500a3 3 0 0 0-4.500-4.500L10 5.500M11.500 8.500a3 3 0 0 0-4.500 0L4.500 11a3 3 0 0 0 4.500 4.500l1-1",
  sound: "M3 8v4h3l4 4V4L6 8zM13 7.500a4 4 0 0 1 0 5M15 5a7 7 0 0 1 0 10",
  film: "M3 4h14v12H3zM8.500 7.500l4 2.500-4 2.500z",
  file: "M5 2.500h7l3.500 3.500v11.500H5zM12 2.500V6h3.500",
};

/** A drawn symbol, which says nothing to a screen reader. */
export const icon = (name) => svgElement("svg", { viewBox: "0 0 20 20", "aria-hidden": "true", class: "icon" },
  svgElement("path", { d: paths[name] ?? paths.file }));
