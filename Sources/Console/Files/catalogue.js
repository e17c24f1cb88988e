// The catalogue: every asset as it is now, and where files are dropped.
import { get, query, remove, assetPath } from "./api.js";
import { AssetCard } from "./asset-card.js";
import { showAsset } from "./asset-dialog.js";
import { fill, h, icon } from "./dom.js";
import { acceptDrops, chooseFiles } from "./drop.js";
import { listen } from "./live.js";
import { confirmed, Screen } from "./screen.js";
import { texts } from "./texts.js";
import { Uploads } from "./uploads.js";

const key = ({ richType, name }) => `${richType}/${name}`;
const t = texts.catalogue;

class Catalogue extends Screen {
  /** Every card by its asset's key. */
  cards = new Map();
  next = null;
  /** How many events came, and the number of each asset's last: a page of the list may be older. */
  events = 0;
  lastEvents = new Map();

  async load() {
    this.search = h("input", {
      type: "search", placeholder: t.search, "aria-label": t.search, on: { input: () => this.search.value && this.loadAll() },
    });
    this.search.addEventListener("input", () => this.filter());
    this.types = h("select", { "aria-label": t.type, on: { change: () => this.filter() } });
    this.states = h("select", { "aria-label": t.state, on: { change: () => this.filter() } },
      h("option", { value: "" }, t.everyState),
      ["ready", "preparing", "refused"].map((state) => h("option", { value: state }, texts.states[state])));
    this.summary = h("p", { class: "quiet", role: "status" });
    this.grid = h("ul", { class: "cards", "aria-label": texts.screens.catalogue, on: { keydown: (event) => this.move(event) } });
    this.more = h("button", { hidden: true, on: { click: () => this.loadPage() } }, texts.more);
    this.hint = h("div");
    this.uploads = new Uploads((folder) => this.uploadType(folder));
    const choose = h("button", { class: "main", on: { click: async () => this.uploads.add(await chooseFiles()) } },
      icon("upload"), t.upload);
    this.frame(texts.screens.catalogue, [choose],
      this.hint,
      h("div", { class: "filters" },
        h("label", { class: "search" }, icon("search"), this.search), this.types, this.states, this.summary),
      this.uploads, this.grid, this.more);
    acceptDrops(this, t.drop, (files) => this.uploads.add(files));
    listen(this, "asset", (asset) => this.update(asset));
    // What was removed meanwhile sends no event.
    listen(this, "open", () => this.cards.size && this.reload());
    addEventListener("keydown", this.shortcut);
    await this.reload();
  }

  disconnectedCallback() {
    removeEventListener("keydown", this.shortcut);
  }

  /** `/` goes to the search, as in many catalogues. */
  shortcut = (event) => {
    if (event.key !== "/" || event.target.closest("input, textarea, select, dialog")) return;
    event.preventDefault();
    this.search.focus();
  };

  async reload() {
    const before = new Set(this.cards.keys());
    this.next = null;
    await this.loadPage(before);
    if (!this.next) for (const gone of before) this.drop(gone);
  }

  async loadPage(before) {
    const { events } = this;
    const isNewer = (name) => this.lastEvents.get(name) > events;
    const page = await get(`/api/assets${query({ limit: 500, after: this.next })}`);
    for (const asset of page.assets) {
      before?.delete(key(asset));
      if (!isNewer(key(asset))) this.put(asset);
    }
    for (const name of before ?? []) if (isNewer(name)) before.delete(name);
    this.next = page.next;
    this.counts = page.counts ?? this.counts;
    this.filter();
  }

  /** A search is for all names, so all have to be here. */
  async loadAll() {
    while (this.next && this.isConnected) await this.loadPage();
  }

  update(asset) {
    this.lastEvents.set(key(asset), ++this.events);
    if (asset.state === "removed") return this.drop(key(asset));
    this.put(asset);
    this.filter();
  }

  /** Adds the asset where its name belongs, or shows its new state. */
  put(asset) {
    const known = this.cards.get(key(asset));
    if (known) return (known.asset = asset);
    const card = new AssetCard();
    card.asset = asset;
    card.addEventListener("click", (event) => event.target.closest("button") && this.open(card.asset));
    this.cards.set(key(asset), card);
    const after = [...this.grid.children].find((other) => key(other.asset) > key(asset));
    this.grid.insertBefore(card, after ?? null);
  }

  drop(name) {
    this.cards.get(name)?.remove();
    this.cards.delete(name);
    this.filter();
  }

  filter() {
    const found = [...new Set([...this.cards.values()].map((card) => card.asset.richType))].sort();
    const chosen = this.types.value;
    fill(this.types, h("option", { value: "" }, t.everyType),
      found.map((type) => h("option", { value: type, selected: type === chosen }, texts.richTypes[type] ?? type)));
    const words = this.search.value.toLowerCase().split(/\s+/);
    let shown = 0;
    for (const card of this.cards.values()) {
      const { asset } = card;
      card.hidden = !(
        (!this.types.value || asset.richType === this.types.value) &&
        (!this.states.value || asset.state === this.states.value) &&
        words.every((word) => key(asset).toLowerCase().includes(word)));
      shown += !card.hidden;
    }
    this.summary.textContent = t.shown(shown, this.cards.size, Boolean(this.next));
    this.more.hidden = !this.next;
    fill(this.hint, this.cards.size === 0 && h("section", { class: "welcome" },
      h("h2", {}, t.welcome), h("ol", {}, (matchMedia("(any-pointer: fine)").matches ? t.firstSteps : [t.touchStep, ...t.firstSteps.slice(1)]).map((step) => h("li", {}, step)))));
  }

  /** The rich type of one's own plugin that a folder's name or the filter tells; the content tells the others. */
  uploadType(folder) {
    const own = [...this.types.options].map(({ value }) => value)
      .filter((type) => /^[a-z]/.test(type) && type !== "outbox" && !(type in texts.richTypes));
    return own.find((type) => type === folder) ?? own.find((type) => type === this.types.value);
  }

  async open(asset) {
    const outcome = await showAsset(asset, this.session);
    if (outcome === "remove") await this.removeAsset(asset);
    if (outcome === "replace") {
      const [file] = await chooseFiles(false);
      if (file) this.uploads.add([{ file: file.file, richType: asset.richType, name: asset.name, replace: true }]);
    }
    this.cards.get(key(asset))?.querySelector("button")?.focus();
  }

  async removeAsset(asset) {
    if (!(await confirmed(t.removeQuestion(asset.name), texts.remove))) return;
    try {
      await remove(assetPath(asset));
      this.drop(key(asset));
      this.say(t.removed(asset.name));
    } catch (problem) {
      this.say(problem.message, true);
    }
  }

  /** The arrow keys move between cards, Delete removes one. */
  move(event) {
    const card = event.target.closest("asset-card");
    const shown = [...this.grid.children].filter((other) => !other.hidden);
    const index = shown.indexOf(card);
    if (index < 0) return;
    const columns = shown.filter((other) => other.offsetTop === shown[0].offsetTop).length;
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns }[event.key];
    if (step && shown[index + step]) {
      event.preventDefault();
      shown[index + step].querySelector("button").focus();
    }
    if (event.key === "Delete") this.removeAsset(card.asset);
  }
}

customElements.define("console-catalogue", Catalogue);
