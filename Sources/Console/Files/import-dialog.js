// Attributes of people from a CSV file: first what it would change and which lines are wrong, then the import.
import { postTable } from "./api.js";
import { fill, h } from "./dom.js";
import { save } from "./export.js";
import { number } from "./format.js";
import { table } from "./screen.js";
import { texts } from "./texts.js";

const t = texts.importing;
const path = "/api/attributes/import";
const largest = 16 << 20;

/** Asks for a file and imports it; `done` is called with a sentence about that. */
export function importPeople(done) {
  let content;
  let checks = 0;
  const input = h("input", { type: "file", accept: ".csv,text/csv", required: true, on: { change: () => check(input.files[0]) } });
  const found = h("div", {});
  const status = h("p", { role: "status" });
  const problem = h("p", { class: "problem", role: "alert" });
  const report = h("button", { type: "button", hidden: true, on: { click: saveReport } }, t.report);
  const submit = h("button", { class: "main" });
  const dialog = h("dialog", { class: "import", "aria-labelledby": "import-title", on: { close: () => dialog.remove() } },
    h("form", { on: { submit: run } }, h("h2", { id: "import-title" }, t.title), h("p", { class: "quiet" }, t.hint),
      h("label", {}, t.file, input), status, problem, found,
      h("div", { class: "actions" },
        h("button", { type: "button", on: { click: () => dialog.close() } }, texts.cancel), report, submit)));

  /** Shows what the server says of the file, or that it was not asked yet. */
  function show(result) {
    const { changed = 0, unchanged, refused, lines = [], more } = result ?? {};
    report.hidden = !result;
    submit.disabled = !changed;
    submit.textContent = t.submit(changed);
    status.textContent = result ? t.found(changed, unchanged, refused) : "";
    fill(found, lines.length > 0 && table(t.reason, [t.line, t.name, t.reason],
      lines.map(({ line, username, reason }) => [number(line), username || "–", reason])),
    more > 0 && h("p", { class: "quiet" }, t.more(more)));
  }

  async function check(file) {
    const turn = (checks += 1);
    problem.textContent = "";
    show();
    if (!file) return;
    status.textContent = t.checking;
    let result;
    try {
      if (file.size > largest) throw new Error(t.tooLarge);
      // What was checked is imported, even if the file is changed meanwhile.
      const read = new Blob([await file.arrayBuffer().catch(() => { throw new Error(t.unreadable); })]);
      result = await postTable(`${path}?dry-run`, read);
      if (turn === checks) content = read;
    } catch (error) {
      if (turn === checks) problem.textContent = error.message;
    }
    if (turn === checks) show(result);
  }

  async function saveReport() {
    report.disabled = true;
    try {
      const name = input.files[0]?.name.replace(/\.csv$/i, "") ?? "import";
      save(`${name}-report.csv`, await postTable(`${path}?dry-run`, content, true));
    } catch (error) {
      problem.textContent = error.message;
    }
    report.disabled = false;
  }

  async function run(event) {
    event.preventDefault();
    problem.textContent = "";
    input.disabled = submit.disabled = true;
    const before = status.textContent;
    status.textContent = t.running;
    try {
      const { changed, refused } = await postTable(path, content);
      dialog.close();
      done(t.done(changed, refused));
    } catch (error) {
      problem.textContent = error.message;
      status.textContent = before;
    }
    input.disabled = submit.disabled = false;
  }

  show();
  document.body.append(dialog);
  dialog.showModal();
}
