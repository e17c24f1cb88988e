// What was sent, newest first.
import { get, query } from "./api.js";
import { countsBar } from "./counts-bar.js";
import { fill, h, icon } from "./dom.js";
import { time } from "./format.js";
import { Screen, state } from "./screen.js";
import { texts } from "./texts.js";

const t = texts.sent;

class Sent extends Screen {
  async load() {
    this.list = h("ul", { class: "sent-list" });
    this.more = h("button", { hidden: true, on: { click: () => this.attempt(this.more, () => this.page()) } }, texts.more);
    this.all = h("input", { type: "checkbox", on: { change: () => this.restart() } });
    this.frame(texts.screens.sent,
      [this.session.role === "admin" && h("label", { class: "check" }, this.all, t.ofAll), h("a", { class: "button main", href: "#compose" }, icon("compose"), texts.screens.compose)],
      this.list, this.more);
    await this.page();
  }

  async restart() {
    this.list.replaceChildren();
    this.next = undefined;
    await this.page();
  }

  async page() {
    const { notifications, next } = await get(`/api/notifications${query({ sent: true, before: this.next, sender: this.all.checked ? "*" : "" })}`);
    const added = notifications.map((one) => this.entry(one));
    const isFirst = !this.list.children.length;
    this.list.append(...added);
    this.next = next ?? undefined;
    this.more.hidden = this.next === undefined;
    // Without the button, one goes on at the first of the new ones.
    if (this.more.hidden && !isFirst) added[0]?.querySelector("a").focus();
    if (!this.list.children.length) {
      fill(this.list, h("li", { class: "empty" }, t.empty));
    }
  }

  entry(one) {
    return h("li", {},
      h("div", {},
        h("a", { href: `#sent/${one.id}` }, one.message || t.noMessage),
        h("p", { class: "line quiet" }, state(one.state), texts.richTypes[one.richType] ?? one.richType, time(one.notBefore ?? one.created),
          t.to(recipients(one.audience)), this.all.checked && t.by(one.sender ?? t.removedUser))),
      countsBar(one));
  }
}

/** The recipients as one would say them. */
export const recipients = (tags = []) => tags.map((tag) => tag.replace(/^username:/, "")).join(", ");

customElements.define("console-sent", Sent);
