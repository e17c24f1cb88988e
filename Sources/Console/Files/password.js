// A dialog in which people change their own password.
import { put } from "./api.js";
import { h } from "./dom.js";
import { texts } from "./texts.js";

const t = texts.password;

/** Shows the dialog; calls `done` once the password is another. */
export function changePassword(username, done) {
  const [old, first, second] = ["current-password", "new-password", "new-password"].map((autocomplete) =>
    h("input", { type: "password", autocomplete, required: true }));
  const problem = h("p", { class: "problem", role: "alert" });
  const save = h("button", { class: "main" }, t.change);
  const submit = async (event) => {
    event.preventDefault();
    if (first.value !== second.value) {
      problem.textContent = t.differ;
      return second.select();
    }
    save.disabled = true;
    try {
      await put("/api/password", { old: old.value, new: first.value });
      dialog.close();
      await done();
    } catch (error) {
      problem.textContent = error.message;
      save.disabled = false;
    }
  };
  const dialog = h("dialog", { class: "small", "aria-labelledby": "password-title", on: { close: () => dialog.remove() } },
    h("form", { on: { submit } }, h("h2", { id: "password-title" }, t.change), h("p", { class: "quiet" }, t.hint),
      // For programs that keep passwords.
      h("input", { class: "hidden", tabIndex: -1, "aria-hidden": "true", autocomplete: "username", value: username, readOnly: true }),
      h("label", {}, t.old, old), h("label", {}, t.new, first), h("label", {}, t.again, second), problem,
      h("div", { class: "actions" }, h("button", { type: "button", on: { click: () => dialog.close() } }, texts.cancel), save)));
  document.body.append(dialog);
  dialog.showModal();
  old.focus();
}
