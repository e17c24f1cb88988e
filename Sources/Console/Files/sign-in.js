// Name and password, for a session.
import { post } from "./api.js";
import { fill, h } from "./dom.js";
import { texts } from "./texts.js";

/**
 * Shows the form in place of everything; calls `then` when the session has begun.
 *
 * In a demonstration it says which name and password to use.
 */
export function signIn(body, then, { problem, signOut, isDemo } = {}) {
  const message = h("p", { class: "problem", role: "alert" }, problem?.message);
  const name = h("input", { name: "username", autocomplete: "username", required: true, autocapitalize: "none" });
  const password = h("input", { name: "password", type: "password", autocomplete: "current-password", required: true });
  const button = h("button", { class: "main" }, texts.signIn.button);
  async function submit(event) {
    event.preventDefault();
    button.disabled = true;
    try {
      await post("/api/session", { username: name.value, password: password.value });
      password.value = "";
      await then();
    } catch (problem) {
      message.textContent = problem.status === 401 ? texts.signIn.wrong : problem.message;
      button.disabled = false;
      password.select();
    }
  }
  document.title = `${texts.signIn.title} · richpush`;
  fill(body,
    h("main", { class: "sign-in" },
      h("form", { on: { submit } },
        h("img", { src: "icon.svg", alt: "", width: 48, height: 48 }),
        h("h1", {}, texts.signIn.title),
        h("p", { class: "quiet" }, texts.signIn.explanation),
        isDemo && h("p", { class: "demo" }, texts.signIn.demo),
        h("label", {}, texts.signIn.name, name),
        h("label", {}, texts.signIn.password, password),
        message,
        button,
        signOut && h("button", { type: "button", class: "plain", on: { click: signOut } }, texts.signOut))));
  name.focus();
}
