// The elements that all pages have, and what the app's screens share: symbols, what is said, buttons, dialogs.
import { fill, h, svgElement } from "./elements.js";
export { fill, h } from "./elements.js";

const paths = {
  search: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM16 16l4.500 4.500",
  settings: "M4 7h9M17 7h3M4 17h3M11 17h9M15 9.500a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5zM9 19.500a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5z",
  inbox: "M4 13l2.500-8h11L20 13v6H4zM4 13h5l1.500 2.500h3L15 13h5",
  unread: "M12 17a5 5 0 1 0 0-10 5 5 0 0 0 0 10z",
  subject: "M9.500 4 8 20M16 4l-1.500 16M4.500 9H20M4 15h15.500",
  check: "M5 12.500l4.500 4.500L19 7",
  checks: "M2.500 12.500 7 17l9-10M11.500 15.500 13 17l8.500-10",
  trash: "M5 7h14M10 7V4.500h4V7M7 7l.8 12.500h8.400L17 7M10.500 11v5M13.500 11v5",
  close: "M6 6l12 12M18 6 6 18",
  back: "M20 12H5M11 6l-6 6 6 6",
  out: "M8 7h9v9M17 7 6.500 17.500",
  play: "M8 5.500v13l10.500-6.500z",
  bell: "M6 16.500V11a6 6 0 0 1 12 0v5.500l1.500 1.500h-15zM10 20.500h4",
  phone: "M7.500 3h9v18h-9zM11 18h2",
  share: "M12 14.500V3.500M8 7l4-4 4 4M7 11H5v9.500h14V11h-2",
  add: "M12 5v14M5 12h14",
  offline: "M4 4l16 16M8.500 14.500a5 5 0 0 1 5.500-1M5 11a10 10 0 0 1 4-2.500M13 8.200A10 10 0 0 1 19 11M12 18.500h.01",
  link: "M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1.500 1.500M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1.500-1.500",
  up: "M12 19V5M6 11l6-6 6 6",
};

/** A drawn symbol, which says nothing to a screen reader. */
export function icon(name) {
  const svg = svgElement("svg", { viewBox: "0 0 24 24", "aria-hidden": "true", class: `icon icon-${name}` });
  svg.append(svgElement("path", { d: paths[name] }));
  return svg;
}

/** Loads a style sheet beside those of the page, once; resolves when it counts. */
export const style = (href) => document.querySelector(`link[href="${href}"]`) ? undefined : new Promise((done) => {
  document.head.append(h("link", { rel: "stylesheet", href, on: { load: done, error: done } }));
});

/** Says something to a screen reader, and shows it for a moment; `action` is a button, {label, act}. The page has one such place. */
export function say(text, { action, seconds = 6 } = {}) {
  const toast = document.getElementById("said");
  // Behind a dialog nothing is seen or heard.
  const host = document.querySelector("dialog[open]") ?? document.body;
  if (toast.parentNode !== host) host.append(toast);
  clearTimeout(toast.timer);
  const end = () => toast.replaceChildren();
  fill(toast, text && h("p", {}, text), action && h("button", { type: "button", class: "plain", on: { click: () => { end(); action.act(); } } }, action.label));
  // Who is at the button gets the time to press it.
  toast.timer = setTimeout(function wait() {
    if (toast.contains(document.activeElement)) toast.timer = setTimeout(wait, 1000);
    else end();
  }, seconds * 1000);
}

/** Does something for a button, once at a time, and says what went wrong. */
export async function attempt(button, act) {
  const hadFocus = document.activeElement === button;
  button?.setAttribute("aria-busy", "true");
  if (button) button.disabled = true;
  try {
    return await act();
  } catch (problem) {
    say(problem.message, { seconds: 10 });
    console.debug(problem);
  } finally {
    if (button) button.disabled = false;
    button?.removeAttribute("aria-busy");
    // A disabled button loses it.
    if (hadFocus && document.activeElement === document.body) button.focus();
  }
}

/** A dialog, which is shown at once and removed when it is closed; a click beside it closes it, too. */
export function dialog(label, properties, ...content) {
  const element = h("dialog", { "aria-label": label, ...properties }, ...content);
  element.addEventListener("close", () => {
    document.body.append(document.getElementById("said"));
    element.remove();
  });
  element.addEventListener("click", (event) => { if (event.target === element) element.close(); });
  document.body.append(element);
  element.showModal();
  return element;
}
