// A dialog in which a phone is added by a code, without a password: for oneself or, for administrators, for anybody.
import { get, post, query, remove } from "./api.js";
import { fill, h } from "./dom.js";
import { time } from "./format.js";
import { qrCode } from "./qr-code.js";
import { table } from "./screen.js";
import { texts } from "./texts.js";

const t = texts.pairing;

/** Shows the dialog of a screen with a new code for a user; nobody means oneself. `done` is called when it is closed. */
export async function pair(screen, user, done) {
  const problem = h("p", { class: "problem", role: "alert" });
  const current = h("div", { class: "pairing" });
  const open = h("div", {});
  let shown;

  const make = async () => {
    problem.textContent = "";
    try {
      shown = await post("/api/pairings", user && { user });
      const link = h("input", { value: shown.link, readOnly: true, on: { focus: () => link.select() } });
      const copy = h("button", { type: "button", on: { click: async () => {
        // Without https there is no clipboard.
        link.select();
        await navigator.clipboard?.writeText(shown.link);
        screen.say(navigator.clipboard ? t.copied : t.selected);
      } } }, t.copy);
      fill(current, qrCode(shown.qrCode, t.qrCode), h("p", {}, t.scan),
        h("label", {}, t.link, link), h("div", { class: "actions" }, copy),
        h("p", {}, t.type, " ", h("strong", { class: "short-code" }, `${shown.shortCode.slice(0, 4)}-${shown.shortCode.slice(4)}`)),
        h("p", { class: "quiet" }, t.expires, " ", time(shown.expires)));
    } catch (error) {
      problem.textContent = error.message;
    }
    await list();
  };
  const list = async () => {
    const { pairings } = await get(`/api/pairings${query({ user })}`);
    if (shown && new Date(shown.expires) > new Date() && !pairings.some(({ id }) => id === shown.id)) {
      shown = undefined;
      fill(current, h("p", { role: "status" }, t.used));
    }
    if (open.contains(document.activeElement)) return;
    fill(open, pairings.length > 0 && [h("h3", {}, t.open), table(t.open, [t.made, t.until, t.actions], pairings.map((one) => {
      const revoke = h("button", { type: "button", "aria-label": `${t.revoke}: ${one.id}`, on: { click: () => screen.attempt(revoke, async () => {
        await remove(`/api/pairings/${one.id}`);
        if (one.id === shown?.id) {
          shown = undefined;
          fill(current);
        }
        revoke.blur();
        await list();
      }) } }, t.revoke);
      return [time(one.created), time(one.expires), revoke];
    }), "")]);
  };
  // A phone that has used the code is seen soon.
  const timer = setInterval(() => list().catch(() => {}), 3000);
  const close = () => {
    clearInterval(timer);
    dialog.remove();
    done?.();
  };
  const dialog = h("dialog", { class: "small", "aria-labelledby": "pairing-title", on: { close } },
    h("form", { method: "dialog" }, h("h2", { id: "pairing-title" }, user ? t.titleOf(user) : t.title), current, problem, open,
      h("div", { class: "actions" }, h("button", {}, texts.close), h("button", { type: "button", on: { click: make } }, t.another))));
  document.body.append(dialog);
  dialog.showModal();
  await make();
}
