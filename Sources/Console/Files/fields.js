// Fields of a form, with what is wrong with each beside it.
import { h } from "./dom.js";
import { current } from "./texts.js";

let number = 0;

/** A control with the place of the sentences that say what is wrong with it. */
export function field(control, name = `${++number}`) {
  const words = h("p", { class: "fault", id: `fault-${name}`, hidden: true });
  control.setAttribute("aria-describedby", words.id);
  return { control, words };
}

/** Shows what is wrong, by the names of fields; returns the fields with faults, in their order. */
export function showFaults(fields, faults) {
  for (const [name, { control, words }] of Object.entries(fields)) {
    words.textContent = faults[name] ?? "";
    words.hidden = !faults[name];
    control.setAttribute("aria-invalid", Boolean(faults[name]));
  }
  return Object.keys(fields).filter((name) => faults[name]);
}

/** Puts the focus on a field, wherever it is folded away. */
export function focusOn({ control }) {
  for (let outer = control.closest("details"); outer; outer = outer.parentElement.closest("details")) outer.open = true;
  control.focus();
}

/** All that the server says is wrong, by the names of fields; a fault of no field is shown at `other`. */
export function faultsOf(problem, fields, other) {
  const faults = {};
  const errors = problem.errors?.length ? problem.errors : [{ member: "", detail: problem.message }];
  for (const { member, detail } of errors) {
    // Of “actions/1/link”, the field is that of the link, or of the button, or of all buttons.
    const path = member.split(/[./[\]]+/).filter(Boolean);
    // The sentence begins with the member, as in “actions[1].link is …”; here, with what its field is called.
    const called = path.join(".").replace(/\.(\d+)/g, "[$1]");
    const label = fields[path.join(".")]?.control.labels?.[0]?.firstChild.textContent;
    while (path.length && !fields[path.join(".")]) path.pop();
    const name = path.join(".") || other;
    // An English sentence takes no other label.
    const words = label && current === "en" && detail.startsWith(`${called} `) ? label + detail.slice(called.length) : detail;
    faults[name] = faults[name] ? `${faults[name]} ${words}` : words;
  }
  return faults;
}
