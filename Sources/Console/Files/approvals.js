// What is for so many people that another publisher has to approve it.
import { get, post } from "./api.js";
import { recipients } from "./audience-names.js";
import { h } from "./dom.js";
import { listen } from "./live.js";
import { state } from "./screen.js";
import { texts } from "./texts.js";

const t = texts.approvals;

/** What awaits the approval of this user, newest first, and whether there is more. */
async function awaiting(session) {
  const { notifications, next } = await get("/api/approvals");
  return { found: notifications.filter(({ sender }) => sender !== session.username), isMore: next !== null };
}

/** Marks the link to what was sent with the number of notifications that await the approval of this user. */
export async function markAwaiting(session) {
  const { found, isMore } = await awaiting(session).catch(() => ({ found: [] }));
  const link = document.querySelector("nav a[data-name=sent]");
  link?.querySelector(".mark")?.remove();
  if (found.length) link?.append(h("b", { class: "mark" }, `${found.length}${isMore ? "+" : ""}`, h("span", { class: "hidden" }, ` ${t.title}`)));
}

/** A list of what awaits the approval of this user, which is not there while nothing does. */
export function awaitingList(session) {
  const list = h("ul", { class: "awaiting" });
  const section = h("section", { class: "panel", hidden: true }, h("h2", {}, t.title), list);
  const load = async () => {
    const { found } = await awaiting(session);
    list.replaceChildren(...found.map((one) => h("li", {},
      h("a", { href: `#sent/${one.id}` }, one.title ?? (one.message || texts.sent.noMessage)),
      h("span", { class: "quiet" }, t.wanted(one.sender ?? texts.sent.aRemovedUser, one.approval.people), " ", texts.sent.to(recipients(one.audience))))));
    section.hidden = !found.length;
  };
  listen(section, "approval", () => load().catch(() => {}));
  load().catch(() => {});
  return section;
}

/** What a notification's page says of its approval; none if it needs none. */
export function approvalNote({ approval }, session) {
  if (approval?.state === "refused") return h("p", { class: "ended" }, t.refused(approval.user ?? texts.sent.aRemovedUser), " ", h("q", {}, approval.reason));
  if (approval?.state !== "awaiting") return null;
  const isOwn = approval.sender === session.username;
  return h("p", { class: "ended" }, state("awaiting"), " ", isOwn ? t.ownWaits(approval.people) : t.wanted(approval.sender ?? texts.sent.aRemovedUser, approval.people));
}

/** Approves what is shown. */
export const approve = (path, { approval }) => post(`${path}/approval`, { approved: true, version: approval.version });

/** Asks why a notification is refused, and refuses it; resolves to whether it was. */
export function refuse(path) {
  return new Promise((resolve) => {
    let isRefused = false;
    const reason = h("textarea", { rows: 3, required: true, maxLength: 500 });
    const problem = h("p", { class: "problem", role: "alert" });
    const send = h("button", { class: "danger" }, t.refuse);
    const submit = async (event) => {
      event.preventDefault();
      problem.textContent = "";
      if (!reason.value.trim()) {
        problem.textContent = t.noReason;
        return reason.focus();
      }
      send.disabled = true;
      try {
        await post(`${path}/approval`, { approved: false, reason: reason.value.trim() });
        isRefused = true;
        dialog.close();
      } catch (error) {
        problem.textContent = error.message;
        send.disabled = false;
      }
      return undefined;
    };
    const dialog = h("dialog", { class: "small", "aria-labelledby": "refuse-title", on: { close } },
      h("form", { noValidate: true, on: { submit } },
        h("h2", { id: "refuse-title" }, t.refuse),
        h("div", { class: "field" }, h("label", {}, t.reason, reason)), problem,
        h("div", { class: "actions" },
          h("button", { type: "button", on: { click: () => dialog.close() } }, texts.cancel), send)));
    function close() {
      dialog.remove();
      resolve(isRefused);
    }
    document.body.append(dialog);
    dialog.showModal();
  });
}
