// Segments: audiences that publishers have saved under a name, for all of them.
import { get, put, query, remove } from "./api.js";
import { countWords, labelOf } from "./audience-names.js";
import { fill, h, icon } from "./dom.js";
import { faultsOf, field, focusOn, showFaults } from "./fields.js";
import { importPeople } from "./import-dialog.js";
import { attempt, confirmed } from "./screen.js";
import { texts } from "./texts.js";

const t = texts.segments;
const path = (name) => `/api/segments/${encodeURIComponent(name)}`;

/** Resolves to the name of the segment that is chosen in a dialog, where they can be changed, too; or to null. */
export function chooseSegment() {
  return new Promise((resolve) => {
    let chosen = null;
    const list = h("ul", { class: "drafts" });
    const more = h("button", { type: "button", hidden: true }, texts.more);
    const read = async (after) => {
      try {
        const { segments, next } = await get(`/api/segments${query({ after })}`);
        if (!after) fill(list, []);
        list.append(...segments.map(entry));
        if (!list.children.length) fill(list, h("li", { class: "quiet" }, t.none));
        more.hidden = next === null;
        more.onclick = () => attempt(more, () => read(next));
      } catch (problem) {
        fill(list, h("li", { class: "problem", role: "alert" }, problem.message));
      }
    };
    const edit = async (saved) => {
      if (await editSegment(saved)) await read();
    };
    const entry = (saved) => {
      const { name, segment } = saved;
      const said = h("p", { class: "problem", role: "alert" });
      const end = async () => {
        if (!(await confirmed(t.removeQuestion(name), t.remove))) return;
        try {
          await remove(path(name));
          await read();
        } catch (problem) {
          said.textContent = problem.message;
        }
      };
      return h("li", { class: "segment" },
        h("button", { type: "button", class: "chosen", on: { click: () => { chosen = name; dialog.close(); } } },
          h("span", {}, h("strong", {}, name), h("small", {}, described(segment)))),
        h("button", { type: "button", "aria-label": `${t.change}: ${name}`, on: { click: () => edit(saved) } }, t.change),
        h("button", { type: "button", class: "plain", "aria-label": `${t.remove}: ${name}`, on: { click: end } }, icon("close")), said);
    };
    const imported = h("p", { class: "hint", role: "status" });
    const close = () => {
      dialog.remove();
      resolve(chosen);
    };
    const dialog = h("dialog", { class: "wide", "aria-labelledby": "segments-title", on: { close } },
      h("form", { method: "dialog" },
        h("div", { class: "head" }, h("h2", { id: "segments-title" }, t.title),
          h("button", { class: "plain", "aria-label": texts.close }, icon("close"))),
        h("p", { class: "quiet" }, t.hint), list, more, imported,
        h("div", { class: "actions" },
          h("button", { type: "button", on: { click: () => importPeople((done) => { imported.textContent = done; }) } }, texts.importing.title),
          h("button", { type: "button", on: { click: () => edit() } }, t.add))));
    document.body.append(dialog);
    dialog.showModal();
    read();
  });
}

/** The conditions in words. */
function described(segment) {
  const { to, attributes = {}, language, platform, lastContact, opened, notOpened } = segment;
  return [
    to && [to].flat().map(labelOf).join(", "), ...Object.entries(attributes).map(([name, value]) => `${name} = ${value}`),
    language && `${t.language}: ${language}`, platform && `${t.platform}: ${texts.platforms[platform] ?? platform}`,
    lastContact && t.within(lastContact), opened !== undefined && labelOf(`opened:${opened}`),
    notOpened !== undefined && labelOf(`notOpened:${notOpened}`),
  ].filter(Boolean).join(" · ");
}

/** A dialog in which a segment is made or changed, and counted while one types; resolves to whether it was saved. */
function editSegment(saved) {
  return new Promise((resolve) => {
    const { to, attributes = {}, language, platform, lastContact, opened, notOpened } = saved?.segment ?? {};
    const input = (value, properties) => h("input", { value: `${value ?? ""}`, autocomplete: "off", autocapitalize: "none", spellcheck: false, on: { input: changed }, ...properties });
    const whole = (value, max) => input(value, { type: "number", min: 0, max, step: 1 });
    const controls = {
      name: input(saved?.name, { placeholder: "german-customers", maxLength: 50, readOnly: Boolean(saved) }),
      to: input(to && [to].flat().join(", "), { placeholder: texts.audience.placeholders.tags }),
      attributes: h("textarea", { rows: 2, placeholder: "plan = gold", value: Object.entries(attributes).map((pair) => pair.join(" = ")).join("\n"), on: { input: changed } }),
      language: input(language, { placeholder: "de", maxLength: 35 }),
      platform: h("select", { on: { change: changed } }, h("option", { value: "" }, t.any),
        Object.entries(texts.platforms).map(([name, words]) => h("option", { value: name }, `${words} (${name})`))),
      lastContact: whole(lastContact, 3650), opened: whole(opened), notOpened: whole(notOpened),
    };
    controls.platform.value = platform ?? "";
    const fields = Object.fromEntries(Object.entries(controls).map(([name, control]) => [name, field(control, `segment-${name}`)]));
    const count = h("p", { class: "hint", role: "status" });
    const problem = h("p", { class: "problem", role: "alert" });
    let timer;
    let version = saved?.version;
    let asked = 0;
    let isSaved = false;

    /** The conditions as the API takes them. */
    function value() {
      const segment = {};
      const said = controls.to.value.trim();
      if (said) segment.to = /[!&|()]/.test(said) ? said : said.split(/[\s,]+/).filter(Boolean);
      const lines = controls.attributes.value.split("\n").map((line) => line.trim()).filter(Boolean);
      if (lines.length) {
        segment.attributes = Object.fromEntries(lines.map((line) => {
          const [, name, is] = line.match(/^([^=]*?)\s*=\s*(.*)$/) ?? [null, line, ""];
          return [name, is];
        }));
      }
      for (const name of ["language", "platform"]) if (controls[name].value.trim()) segment[name] = controls[name].value.trim();
      for (const name of ["lastContact", "opened", "notOpened"]) if (controls[name].value !== "") segment[name] = Number(controls[name].value);
      return segment;
    }

    /** What is no number, which its field would give as if nothing were there. */
    const noNumbers = () => Object.fromEntries(Object.keys(controls).filter((name) => controls[name].validity.badInput).map((name) => [name, texts.contentFields.noNumber]));

    function changed() {
      clearTimeout(timer);
      timer = setTimeout(counted, 300);
    }

    async function counted() {
      const segment = value();
      const own = (asked += 1);
      const wrong = showFaults(fields, noNumbers());
      problem.textContent = "";
      if (wrong.length || !Object.keys(segment).length) return (count.textContent = "");
      try {
        const { users, devices, unknown } = await put(`${path("new")}?dry-run`, segment);
        if (own !== asked) return undefined;
        count.textContent = users ? countWords(users, devices) : texts.audience.nobody;
        if (unknown.length) count.append(" ", texts.audience.unknown(unknown));
      } catch (error) {
        if (own === asked) refuse(error);
      }
      return undefined;
    }

    function refuse(error) {
      count.textContent = "";
      const faults = faultsOf(error, fields, "");
      showFaults(fields, faults);
      problem.textContent = faults[""] ?? "";
      return Object.keys(fields).find((name) => faults[name]);
    }

    async function save(event) {
      event.preventDefault();
      button.disabled = true;
      // A count that is on its way would take away what is said now.
      clearTimeout(timer);
      asked += 1;
      const name = controls.name.value.trim();
      try {
        if (!/^[A-Za-z0-9][A-Za-z0-9_.-]{0,49}$/.test(name)) {
          showFaults(fields, { name: t.wrongName });
          return focusOn(fields.name);
        }
        const [wrong] = showFaults(fields, noNumbers());
        if (wrong) return focusOn(fields[wrong]);
        // One of that name is somebody else's.
        if (!saved && (await get(path(name)).catch(() => null)) && !(await confirmed(t.replaceQuestion(name), texts.drafts.replace))) return undefined;
        await put(path(name), value(), version === undefined ? {} : { "If-Match": `"${version}"` });
        isSaved = true;
        dialog.close();
      } catch (error) {
        if (error.status === 412 && (await confirmed(error.message, texts.drafts.replace))) {
          version = undefined;
          return save(event);
        }
        const first = refuse(error);
        if (first) focusOn(fields[first]);
      } finally {
        button.disabled = false;
      }
      return undefined;
    }
    const labelled = (name) => h("div", { class: "field" }, h("label", {}, t[name], controls[name]), fields[name].words);
    const button = h("button", { class: "main" }, texts.people.save);
    const close = () => {
      clearTimeout(timer);
      dialog.remove();
      resolve(isSaved);
    };
    const dialog = h("dialog", { class: "small", "aria-labelledby": "segment-title", on: { close } },
      h("form", { noValidate: true, on: { submit: save } },
        h("h2", { id: "segment-title" }, saved ? t.change : t.add), h("p", { class: "quiet" }, t.all),
        Object.keys(controls).map(labelled), count, problem,
        h("div", { class: "actions" }, h("button", { type: "button", on: { click: () => dialog.close() } }, texts.cancel), button)));
    document.body.append(dialog);
    dialog.showModal();
    if (saved) counted();
  });
}
