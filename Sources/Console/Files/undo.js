// How long a notification waits before it goes, in which it can be undone.
import { get, remove } from "./api.js";
import { enteredNotification } from "./again.js";
import { h } from "./dom.js";
import { keepDraft, keptDraft, mayReplace } from "./kept-draft.js";
import { texts } from "./texts.js";

const t = texts.undo;
const choices = [0, 5, 10, 30];

/** The seconds that were chosen in this browser; 0 for none. */
function delay() {
  // Storage may be forbidden.
  try {
    return choices.find((seconds) => `${seconds}` === localStorage.getItem("undo")) ?? 10;
  } catch {
    return 10;
  }
}

/** The query that has a notification wait; none for what has a time of its own, or takes the place of another one. */
export const delayQuery = ({ notBefore, localTime, replaces }) => (notBefore || localTime || replaces || !delay() ? "" : `?delay=${delay()}`);

/** The choice of those seconds. */
export function delayChoice() {
  const choice = h("select", { on: { change: () => localStorage.setItem("undo", choice.value) } },
    choices.map((seconds) => h("option", { value: seconds }, seconds ? t.choice(seconds) : t.none)));
  choice.value = delay();
  return h("label", { class: "check" }, t.title, choice);
}

/** Whether a notification goes within a minute, which nobody has chosen as its time. */
export const goesSoon = ({ notBefore, localTime }) => Boolean(notBefore) && !localTime && new Date(notBefore) - Date.now() < 60_000;

/** Counts down until a notification goes, and then calls `gone` until the element is removed. */
export function countdown({ created, notBefore }, gone) {
  const [whole, end] = [new Date(notBefore) - new Date(created), new Date(notBefore)];
  const left = h("strong", {});
  const element = h("p", { class: "ended" }, t.goesOut, " ", left);
  const tick = () => {
    // This computer's clock may be another one than the server's.
    const seconds = Math.ceil(Math.max(0, Math.min(whole, end - Date.now())) / 1000);
    left.textContent = t.choice(seconds);
    if (!seconds) gone();
    setTimeout(() => { if (element.isConnected) tick(); }, seconds ? 250 : 1000);
  };
  tick();
  return element;
}

/** Takes a notification back that is not sent yet, to be written on; the sentence that says so, or none if it stays. */
export async function takeBack(user, path, details) {
  if (!(await mayReplace(keptDraft(user)))) return undefined;
  const { notBefore, ...rest } = details;
  await remove(path);
  keepDraft(user, enteredNotification(goesSoon(details) ? rest : details));
  const { counts } = await get(`${path}/details`);
  return counts.sent || counts.fetched ? t.tooLate : t.takenBack;
}
