// The buttons of a notification: links, answers for the publisher, and fields for a reply.
import { attempt, h, icon, say } from "./dom.js";
import { app as words } from "./app-texts.js";

/** The row of buttons, or null if there is none. A button that would only close the notification has nothing to close here. */
export function answers(context, { id, actions = [] }, used) {
  const buttons = actions.filter(({ dismiss }) => !dismiss).map((action) => answer(context, id, action, used)).filter(Boolean);
  return buttons.length ? h("div", { class: "answers" }, buttons) : null;
}

function answer({ client }, id, { id: action, label, link, input, destructive }, used) {
  const report = (interaction) => client.report(id, { action, ...interaction });
  if (link !== undefined) {
    const follow = () => { used(); report({ event: "action" }).catch(() => {}); };
    return safeLink(link) && h("a", { class: "button", href: link, target: "_blank", rel: "noopener noreferrer", dir: "auto", on: { click: follow } }, label);
  }
  if (input !== undefined) return reply(id, { action, label, input }, report, used);
  const button = h("button", { type: "button", dir: "auto", class: destructive ? "danger" : "", on: { click: () => attempt(button, async () => {
    await report({ event: "action" });
    used();
    sent(button);
  }) } }, label);
  return button;
}

/** Links of the web, and those that the operator has allowed; none that is a script. */
const safeLink = (link) => /^[a-z][a-z0-9+.-]*:/i.test(link) && !/^(javascript|data|blob|vbscript|file):/i.test(link);

function sent(button) {
  button.classList.add("done");
  button.prepend(icon("check"));
  say(words.answers.sent, { seconds: 2 });
}

/** A button that opens a field; the notification's button leads there, too, by the address `#reply/7/answer`. */
function reply(id, { action, label, input }, report, used) {
  const field = h("input", { required: true, maxLength: 1024, placeholder: input, "aria-label": input, dir: "auto", autocomplete: "off", enterKeyHint: "send" });
  const send = h("button", { class: "main" }, words.answers.send);
  const said = h("p", { class: "quiet" });
  const form = h("form", { class: "reply", hidden: true }, field, send, said);
  const button = h("button", { type: "button", dir: "auto", "aria-expanded": "false", on: { click: () => show(form.hidden) } }, label);
  const show = (isShown) => {
    form.hidden = !isShown;
    button.setAttribute("aria-expanded", String(isShown));
    if (isShown) field.focus();
  };
  let tried;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = field.value.trim();
    if (!text) return;
    // The same key if the same text is sent once more, because the answer to the first request was lost.
    if (tried?.text !== text) tried = { text, key: RichPush.key() };
    attempt(send, async () => {
      await report({ event: "reply", ...tried });
      tried = undefined;
      field.value = "";
      said.textContent = words.answers.replied(text);
      say(words.answers.sent, { seconds: 2 });
      used();
    });
  });
  const whole = h("div", { class: "reply-part", id: `reply-${id}-${action}` }, button, form);
  whole.addEventListener("show-reply", () => show(true));
  return whole;
}
