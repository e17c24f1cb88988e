// What a device that is set up shows: the head with its filters, and by the address the inbox or the settings; live while it is seen.
import { fill, h, icon, style } from "./dom.js";
import { installCard } from "./install.js";
import * as notifications from "./notifications.js";
import { needsHomeScreen, platform } from "./platform.js";
import { pushCard } from "./push-card.js";
import "./sign-out.js";
import { app as words } from "./app-texts.js";

/** What the address names: `#7`, `#reply/7/answer`, `#unread`, `#subject/news`, `#search/words`, `#settings`. */
function place() {
  const [name, first, second] = location.hash.slice(1).split("/").map((part) => { try { return decodeURIComponent(part); } catch { return part; } });
  if (/^\d+$/.test(name)) return { id: Number(name) };
  if (name === "reply" && /^\d+$/.test(first)) return { id: Number(first), action: second };
  return { unread: name === "unread", settings: name === "settings", subject: name === "subject" ? first : undefined, search: name === "search" ? first : undefined };
}

export class Inside {
  #context;
  #inbox;
  #stream;
  #life = new AbortController();

  constructor(context) {
    this.#context = context;
    const listen = (target, type, act) => target.addEventListener(type, act, { signal: this.#life.signal });
    listen(window, "install-changed", () => this.#banners());
    listen(window, "online", () => this.refresh());
    listen(document, "visibilitychange", () => this.#see());
    // The stream, which waits ever longer for the server, need not wait any more.
    Object.assign(context, { showUnread, isKept: (id) => this.#inbox?.isKept(id) ?? false, isBack: () => this.#listen() });
  }

  /** Shows everything; pushes are seen to afterwards, because their service may be slow, or out of reach. */
  async open() {
    Device.saveWords(words.worker);
    await style("inside.css");
    this.#context.frame(this.#header());
    const { Inbox } = await import("./inbox.js");
    if (this.#life.signal.aborted) return;
    this.#inbox = new Inbox(this.#context);
    const shown = this.#show();
    this.#listen();
    await shown;
    await this.#seeToPushes();
  }

  /** Ends what goes on by itself. */
  end() {
    this.#life.abort();
    this.#stream?.abort();
    this.#inbox?.end();
  }

  /** Something has changed: the inbox is fetched, if it is what one looks at. */
  refresh() {
    if (this.#inbox?.element.isConnected && !this.#life.signal.aborted) this.#inbox.refresh();
  }

  /** Goes where the address leads. */
  async move() {
    await this.#show();
    if (place().id === undefined && document.activeElement?.id !== "search") this.#context.main.querySelector("h1")?.focus({ preventScroll: true });
  }

  async #show() {
    const { main } = this.#context;
    const { settings: isSettings, action, ...filter } = place();
    const hash = location.hash.slice(1);
    document.body.className = isSettings ? "in-settings" : filter.search !== undefined ? "searching" : "";
    for (const link of document.querySelectorAll("[data-hash]")) {
      if (link.dataset.hash === hash || (link.dataset.hash === "" && filter.id !== undefined)) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    document.querySelector(".filters [aria-current]")?.scrollIntoView({ inline: "nearest", block: "nearest" });
    const field = document.getElementById("search");
    if (field && document.activeElement !== field) field.value = filter.search ?? "";
    if (isSettings) {
      const { settings } = await import("./settings.js");
      if (place().settings) fill(main, settings(this.#context));
      scrollTo(0, 0);
      return;
    }
    // A notification of the list that is shown is shown there.
    const isShown = filter.id !== undefined && this.#inbox.element.isConnected && this.#inbox.reveal(filter.id);
    if (!isShown) {
      fill(main, this.#inbox.element);
      await this.#inbox.open(filter);
      if (filter.id !== undefined) this.#inbox.reveal(filter.id);
    }
    if (action) this.#inbox.showReply(filter.id, action);
  }

  /** The head of the page, which stands beside the inbox where there is room. */
  #header() {
    const { app, device } = this.#context;
    const { form, open } = this.#search();
    const link = (hash, name, symbol) => h("a", { href: `#${hash}`, data: { hash } }, icon(symbol), h("span", { dir: "auto" }, name), hash === "" && h("b", { class: "badge", hidden: true }));
    return h("header", { class: "side" },
      h("a", { class: "brand", href: "#" }, h("img", { src: "icon-192.png", alt: "", width: 32, height: 32 }), h("span", { dir: "auto" }, app.name)), open,
      h("a", { class: "symbol to-settings", href: "#settings", "aria-label": words.settings.title }, icon("settings")), form,
      h("nav", { class: "filters", "aria-label": words.filters },
        link("", words.inbox.title, "inbox"), link("unread", words.inbox.unread, "unread"),
        app.subjects.map(({ tag, name }) => link(`subject/${encodeURIComponent(tag)}`, name, "subject"))),
      h("a", { class: "account", href: "#settings", data: { hash: "settings" } }, icon("settings"), h("span", {}, words.settings.title, h("small", { dir: "auto" }, device.user))));
  }

  /** The field, and where there is no room for it the button that shows it. */
  #search() {
    const field = h("input", { type: "search", id: "search", placeholder: words.search, "aria-label": words.search, enterKeyHint: "search", autocomplete: "off", maxLength: 200 });
    const form = h("form", { class: "search", role: "search" }, icon("search"), field);
    let timer;
    const search = () => {
      clearTimeout(timer);
      const wanted = field.value.trim();
      if (wanted === (place().search ?? "")) return;
      const hash = wanted ? `#search/${encodeURIComponent(wanted)}` : "#";
      if (place().search === undefined || !wanted) {
        location.hash = hash;
        return;
      }
      // What is typed on is no further step to go back.
      history.replaceState(null, "", hash);
      this.#show();
    };
    form.addEventListener("submit", (event) => { event.preventDefault(); search(); field.blur(); });
    field.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(search, 350); });
    const open = h("button", { type: "button", class: "symbol opens-search", "aria-label": words.search, "aria-expanded": "false", on: { click: () => {
      const isOpen = document.body.classList.toggle("searching");
      open.setAttribute("aria-expanded", String(isOpen));
      if (isOpen) field.focus();
      else if (place().search !== undefined) location.hash = "";
    } } }, icon("search"));
    return { form, open };
  }

  /** Hears of news as long as the page is seen. */
  #listen() {
    this.#stream?.abort();
    if (document.visibilityState !== "visible" || this.#life.signal.aborted) return;
    this.#stream = new AbortController();
    let timer;
    const refresh = () => {
      clearTimeout(timer);
      timer = setTimeout(() => this.refresh(), 120);
    };
    // What came since the inbox was fetched last sends nothing when the stream opens.
    this.#context.client.stream({ signal: this.#stream.signal, onPush: refresh, onLost: refresh, onOpen: refresh })
      .catch((problem) => { if (problem.status === 401) this.#context.signedOut("ended"); });
  }

  #see() {
    if (document.visibilityState !== "visible") return this.#stream?.abort();
    this.#listen();
    this.refresh();
  }

  async #seeToPushes() {
    const context = this.#context;
    // Firefox would ask the user.
    if (platform.browser !== "Firefox") navigator.storage?.persist?.().catch(() => {});
    const { signal } = this.#life;
    await this.#banners();
    if (!signal.aborted) await notifications.keepOn(context);
    if (!signal.aborted && context.device.waiting) await this.#seeWhetherApproved().catch(() => {});
    await this.#banners();
    setTimeout(() => { if (!signal.aborted) this.#inbox.keep().catch(() => {}); }, 2000);
  }

  /** Who has signed up has subjects as soon as somebody has approved it. */
  async #seeWhetherApproved() {
    const { app, client, setDevice } = this.#context;
    const { devices } = await client.devices();
    if (devices.some(({ tags }) => app.subjects.some(({ tag }) => tags.includes(tag)))) await setDevice({ waiting: undefined });
  }

  /** What should be known above the inbox: one thing at a time. */
  async #banners() {
    if (this.#life.signal.aborted || !this.#inbox) return;
    const context = this.#context;
    const { name } = await notifications.state(context);
    if (this.#life.signal.aborted) return;
    const hidden = JSON.parse(localStorage.getItem("hints") ?? "[]");
    const again = () => this.#banners();
    const hide = (key) => () => { localStorage.setItem("hints", JSON.stringify([...hidden, key])); again(); };
    const isToBeSaid = ["ask", "taken", "unreachable", "refused"].includes(name) && !hidden.includes(name);
    const card = isToBeSaid ? await pushCard(context, again, hide(name))
      : !hidden.includes("install") && (platform.isPhone || needsHomeScreen) && installCard(hide("install"));
    if (this.#life.signal.aborted) return;
    fill(this.#inbox.banner, card,
      context.device.waiting && h("section", { class: "card-note" }, icon("check"), h("div", { class: "grow" }, h("h2", {}, words.waiting.title), h("p", {}, words.waiting.text))));
  }
}

/** The count of unread notifications, in the list of filters, the title, and on the app's icon. */
function showUnread(unread) {
  const badge = document.querySelector(".badge");
  if (badge) {
    badge.hidden = !unread;
    badge.textContent = unread > 99 ? "99+" : unread;
  }
  document.title = document.title.replace(/^(\(\d+\) )?/, unread ? `(${unread}) ` : "");
  (unread ? navigator.setAppBadge?.(unread) : navigator.clearAppBadge?.())?.catch(() => {});
}
