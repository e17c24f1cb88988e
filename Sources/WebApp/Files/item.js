// One notification in the list: its media, its texts, what can be done with it, and whether it was read.
import { answers } from "./answers.js";
import { clock, dayKey, whole } from "./dates.js";
import { h, icon } from "./dom.js";
import { linkCard, MediaView } from "./media.js";
import { app as words } from "./app-texts.js";

/** How many characters a text has at most that is not folded. */
const longText = 420;

export class Item {
  /** `inbox` is told what the user does: `markRead(item)`, `remove(item)`. */
  constructor(context, notification, inbox) {
    this.inbox = inbox;
    this.element = h("li", { class: "item", tabIndex: -1 });
    this.element.item = this;
    this.context = context;
    this.show(notification);
  }

  get id() { return this.notification.id; }
  get isRead() { return this.notification.read; }
  get time() { return new Date(this.notification.notBefore ?? this.notification.created); }
  get day() { return dayKey(this.time); }

  /** Shows a notification in this place; does nothing if it is shown already. */
  show(notification) {
    const { id, title, subtitle, message, language, link, actions, alt, richType, payload, details, created, notBefore } = notification;
    // Receipts and signed links are others each time; a reply that is being written must not go with them.
    const content = JSON.stringify([title, subtitle, message, language, link, actions, alt, richType, payload, details, created, notBefore]);
    const isSame = content === this.content;
    this.notification = notification;
    if (isSame) return this.showRead();
    this.content = content;
    this.media?.release();
    const used = () => this.inbox.markRead(this);
    this.media = MediaView.of(this.context, notification, used);
    const said = { lang: language, dir: "auto" };
    // What one looks at is seen first, the rest is read first.
    const isAbove = this.media !== null && ["image", "video"].includes(this.media.kind);
    this.mark = h("button", { type: "button", class: "mark", title: words.item.markRead, "aria-label": words.item.markRead, on: { click: (event) => { event.stopPropagation(); used(); } } });
    this.element.replaceChildren(h("article", { "aria-label": title || message.slice(0, 80) || words.item.untitled },
      isAbove ? this.media.element : null,
      h("div", { class: "body" },
        h("div", { class: "meta" },
          this.mark,
          h("time", { dateTime: this.time.toISOString(), title: whole(this.time) }, clock(this.time)),
          h("button", { type: "button", class: "symbol remove", title: words.item.remove, "aria-label": words.item.remove, on: { click: (event) => { event.stopPropagation(); this.inbox.remove(this); } } }, icon("trash"))),
        title ? h("h3", said, title) : null,
        subtitle ? h("p", { ...said, class: "subtitle" }, subtitle) : null,
        message ? this.#text(message, said, used) : null,
        this.media && !isAbove ? this.media.element : null,
        link ? linkCard({ url: link }, () => { used(); this.context.client.report(id, { event: "opened" }).catch(() => {}); }) : null,
        answers(this.context, notification, used))));
    // A notification that is touched was seen.
    this.element.onclick = (event) => { if (!event.target.closest("button, a, input, audio, video")) used(); };
    this.showRead();
    if (this.isNear) this.media?.near(true);
  }

  /** A text; a long one is folded, with a button that shows the rest. */
  #text(message, said, used) {
    const text = h("p", { ...said, class: "text" }, message);
    if (message.length < longText && message.split("\n").length < 10) return text;
    text.classList.add("folded");
    const more = h("button", { type: "button", class: "plain more-text", "aria-expanded": "false", on: { click: () => {
      const isFolded = text.classList.toggle("folded");
      more.setAttribute("aria-expanded", String(!isFolded));
      more.textContent = isFolded ? words.item.more : words.item.less;
      used();
    } } }, words.item.more);
    return [text, more];
  }

  showRead() {
    this.element.classList.toggle("unread", !this.isRead);
    // The focus stays in the notification.
    if (this.isRead && document.activeElement === this.mark) this.element.focus({ preventScroll: true });
    this.mark.hidden = this.isRead;
  }

  near(isNear) {
    this.isNear = isNear;
    this.media?.near(isNear);
  }

  /** Shows the field for a reply. */
  showReply(action) {
    this.element.querySelector(`#reply-${this.id}-${CSS.escape(action)}`)?.dispatchEvent(new Event("show-reply"));
  }
}
