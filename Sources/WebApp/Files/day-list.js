// Items under a heading for each day, changed in place: what stays where it is goes on playing.
import { day } from "./dates.js";
import { h } from "./dom.js";

export class DayList {
  #sections = new Map();
  element = h("div", { class: "days" });

  /** Shows items in this order; each has an `element`, a `time` and the `day` of it. */
  show(items) {
    const days = [];
    for (const item of items) {
      if (days.at(-1)?.day !== item.day) days.push({ day: item.day, items: [] });
      days.at(-1).items.push(item);
    }
    const used = new Set();
    place(this.element, days.map(({ day: key, items: those }) => {
      // A notification that was scheduled can stand between two of another day.
      let name = `${key}`;
      while (used.has(name)) name += "+";
      used.add(name);
      let section = this.#sections.get(name);
      if (!section) this.#sections.set(name, (section = h("section", {}, h("h2", {}), h("ol", { class: "items" }))));
      section.firstChild.textContent = day(those[0].time);
      place(section.lastChild, those.map(({ element }) => element));
      return section;
    }));
    for (const name of this.#sections.keys()) if (!used.has(name)) this.#sections.delete(name);
  }
}

/** Makes these the children of an element, in this order, moving only those that are elsewhere. */
function place(parent, wanted) {
  const kept = new Set(wanted);
  for (const child of [...parent.children]) if (!kept.has(child)) child.remove();
  wanted.forEach((child, index) => { if (parent.children[index] !== child) parent.insertBefore(child, parent.children[index] ?? null); });
}
