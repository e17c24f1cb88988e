// Name and password, or a provider, for a session.
import { address, post } from "./api.js";
import { fill, h } from "./dom.js";
import { texts } from "./texts.js";

/**
 * Shows the form in place of everything; calls `then` when the session has begun.
 *
 * In a demonstration it says which name and password to use. With a provider, its button is first; without passwords for
 * everybody their fields are behind a link.
 */
export function signIn(body, then, { problem, signOut, isDemo, singleSignOn, passwords = true } = {}) {
  const message = h("p", { class: "problem", role: "alert" }, passwords && problem?.message);
  const name = h("input", { name: "username", autocomplete: "username", required: true, autocapitalize: "none" });
  const password = h("input", { name: "password", type: "password", autocomplete: "current-password", required: true });
  const button = h("button", { class: singleSignOn ? "" : "main" }, texts.signIn.button);
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
  const elsewhere = singleSignOn && h("button", { type: "button", class: "main", on: { click: () => {
    sessionStorage.setItem("place", location.hash);
    location.assign(address("/auth/sign-in?to=console"));
  } } }, texts.signIn.with(singleSignOn));
  const fields = [h("label", {}, texts.signIn.name, name), h("label", {}, texts.signIn.password, password), message, button];
  document.title = `${texts.signIn.title} · richpush`;
  fill(body,
    h("main", { class: "sign-in" },
      h("form", { on: { submit } },
        h("img", { src: "icon.svg", alt: "", width: 48, height: 48 }),
        h("h1", {}, texts.signIn.title),
        h("p", { class: "quiet" }, texts.signIn.explanation),
        isDemo && h("p", { class: "demo" }, texts.signIn.demo),
        elsewhere,
        passwords ? fields : [problem && h("p", { class: "problem", role: "alert" }, problem.message),
          h("details", {}, h("summary", {}, texts.signIn.usePassword), h("div", { class: "fields" }, fields))],
        signOut && h("button", { type: "button", class: "plain", on: { click: signOut } }, texts.signOut))));
  (elsewhere ?? name).focus();
}
