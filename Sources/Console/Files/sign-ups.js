// Those who have signed up by themselves and wait for an administrator.
import { get, post, query, remove } from "./api.js";
import { fill, h } from "./dom.js";
import { time } from "./format.js";
import { pagedTable } from "./paged-table.js";
import { confirmed } from "./screen.js";
import { texts } from "./texts.js";

const t = texts.signUps;

/** A section of a screen with those who wait, which is empty if nobody does; `changed` is called after each decision. */
export function signUps(screen, changed) {
  const section = h("section", { class: "line-up" });
  const row = (one) => {
    const path = `/api/sign-ups/${encodeURIComponent(one.user)}`;
    const decide = (button, send) => screen.attempt(button, async () => {
      await send(path);
      await Promise.all([section.show(), changed()]);
    });
    const approve = h("button", { class: "main", "aria-label": `${t.approve}: ${one.user}`, on: { click: () => decide(approve, post) } }, t.approve);
    const refuse = h("button", { class: "danger", "aria-label": `${t.refuse}: ${one.user}`, on: { click: async () => {
      if (await confirmed(t.refuseQuestion(one.name ?? one.user), t.refuse)) await decide(refuse, remove);
    } } }, t.refuse);
    return [h("strong", {}, one.user), one.name ?? "–", one.subjects.join(", "), time(one.created), h("div", { class: "actions" }, approve, refuse)];
  };
  const rows = pagedTable(t.title, [t.user, t.device, t.subjects, t.since, t.actions], t.nobody, async (after, limit) => {
    const { signUps: found, next } = await get(`/api/sign-ups${query({ after, limit })}`);
    return { rows: found.map(row), next };
  });
  section.show = async () => {
    const { signUps: found } = await get("/api/sign-ups?limit=1");
    section.hidden = !found.length;
    fill(section, found.length > 0 && [h("h2", {}, t.title), rows]);
    if (found.length) await rows.show();
  };
  return section;
}
