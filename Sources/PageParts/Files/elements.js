// Makes elements. Strings become text, never markup, so a name such as <img onerror=…> is shown as it is.

/**
 * An element with its properties and children.
 *
 * `on` has listeners, `data` data attributes; a name with a hyphen and `role`, `for`, `list`, `dir` and `lang` are attributes, all
 * others properties. Children that are null or false are left out.
 */
export function h(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (key === "on") for (const type in value) element.addEventListener(type, value[type]);
    else if (key === "data") Object.assign(element.dataset, value);
    else if (key === "class") element.className = value;
    else if (key.includes("-") || ["role", "for", "list", "dir", "lang"].includes(key)) element.setAttribute(key, value);
    else element[key] = value;
  }
  element.append(...present(children));
  return element;
}

/** Replaces what an element contains. */
export function fill(element, ...children) {
  element.replaceChildren(...present(children));
  return element;
}

const present = (children) => children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false && child !== "");

/** An element of a drawing. */
export function svgElement(name, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}
