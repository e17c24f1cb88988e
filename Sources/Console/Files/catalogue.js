// The catalogue: every asset as it is now, and where files are dropped.
import { get, patch, post, query, remove, assetPath } from "./api.js";
import { ask } from "./ask.js";
import { AssetCard } from "./asset-card.js";
import { showAsset } from "./asset-dialog.js";
import { restore, showRemoved } from "./asset-versions.js";
import { fill, h, icon } from "./dom.js";
import { acceptDrops, chooseFiles } from "./drop.js";
import { listen } from "./live.js";
import { byName, matches } from "./search.js";
import { confirmed, Screen } from "./screen.js";
import { texts } from "./texts.js";
import { Uploads } from "./uploads.js";

const key = ({ richType, name }) => `${richType}/${name}`;
const t = texts.catalogue;

/** How the files can be sorted; those of the same time are by name. */
const orders = {
  name: (one, other) => byName(one.name, other.name) || byName(one.richType, other.richType) || (key(one) < key(other) ? -1 : 1),
  newest: (one, other) => (other.modified ?? "").localeCompare(one.modified ?? "") || orders.name(one, other),
  oldest: (one, other) => (one.modified ?? "").localeCompare(other.modified ?? "") || orders.name(one, other),
  largest: (one, other) => other.bytes - one.bytes || orders.name(one, other),
  smallest: (one, other) => one.bytes - other.bytes || orders.name(one, other),
};

/** The order that was chosen in this browser. */
function chosenOrder() {
  // Storage may be forbidden.
  try {
    return Object.keys(orders).find((order) => order === localStorage.getItem("order")) ?? "name";
  } catch {
    return "name";
  }
}

class Catalogue extends Screen {
  /** Every card by its asset's key. */
  cards = new Map();
  next = null;
  /** How many events came, and the number of each asset's last: a page of the list may be older. */
  events = 0;
  lastEvents = new Map();
  /** The keys of the files that are selected; null while none can be. */
  selected = null;
  /** The key of the one that was selected or not last, where a range begins. */
  rangeStart = null;
  /** The keys of the files that are not used, while only these are shown. */
  unused = new Set();

  async load() {
    this.search = h("input", {
      type: "search", placeholder: t.search, "aria-label": t.search, on: { input: () => this.search.value && this.loadAll() },
    });
    this.search.addEventListener("input", () => this.filter());
    this.types = h("select", { "aria-label": t.type, on: { change: () => this.filter() } });
    this.states = h("select", { "aria-label": t.state, on: { change: () => this.findUnused() } },
      h("option", { value: "" }, t.everyState),
      ["ready", "preparing", "refused", "unused"].map((state) => h("option", { value: state }, texts.states[state])));
    this.labels = h("select", { "aria-label": t.label, hidden: true, on: { change: () => this.findLabelled() } });
    this.order = h("select", { "aria-label": t.order, on: { change: () => this.sort() } },
      Object.keys(orders).map((order) => h("option", { value: order }, t.orders[order])));
    this.order.value = chosenOrder();
    this.removed = h("button", { on: { click: () => showRemoved((asset) => this.showRestored(asset)) } }, texts.versions.removed);
    this.select = h("button", { "aria-pressed": "false", on: { click: () => this.startSelecting(!this.selected) } }, t.select);
    this.removeSelected = h("button", { class: "danger", hidden: true, on: { click: () => this.attempt(this.removeSelected, () => this.removeAll()) } });
    this.labelSelected = h("button", { hidden: true, on: { click: () => this.attempt(this.labelSelected, () => this.labelAll()) } });
    this.summary = h("p", { class: "quiet", role: "status" });
    this.grid = h("ul", { class: "cards", "aria-label": texts.screens.catalogue, on: { keydown: (event) => this.move(event) } });
    this.more = h("button", { hidden: true, on: { click: () => this.attempt(this.more, () => this.loadPage()) } }, texts.more);
    this.hint = h("div");
    this.results = h("section", { class: "results" });
    this.uploads = new Uploads((folder) => this.uploadType(folder));
    const choose = h("button", { class: "main", on: { click: async () => this.uploads.add(await chooseFiles()) } },
      icon("upload"), t.upload);
    this.frame(texts.screens.catalogue, [choose],
      this.hint,
      h("div", { class: "filters" },
        h("label", { class: "search" }, icon("search"), this.search), this.types, this.states, this.labels, this.order, this.select, this.labelSelected, this.removeSelected, this.removed, this.summary),
      this.uploads, this.results, this.grid, this.more);
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
    const sort = this.order.value;
    const page = await get(`/api/assets${query({ limit: 500, sort, after: this.next })}`);
    // Another order was chosen meanwhile.
    if (sort !== this.order.value) return;
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

  /** Finds what is not used, if only that is to be shown. */
  async findUnused() {
    const isWanted = this.states.value === "unused";
    try {
      const found = new Set();
      for (let after; isWanted && after !== null;) {
        const page = await get(`/api/assets${query({ limit: 1000, unused: 1, after })}`);
        for (const asset of page.assets) found.add(key(asset));
        after = page.next;
      }
      this.unused = found;
      if (isWanted) await this.loadAll();
    } catch (problem) {
      this.say(problem.message, true);
    }
    this.filter();
  }

  /** Shows what has a label; all files have to be here. */
  async findLabelled() {
    this.filter();
    try {
      if (this.labels.value) await this.loadAll();
    } catch (problem) {
      this.say(problem.message, true);
    }
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
    if (known) {
      known.asset = asset;
      return this.mark(known);
    }
    const card = new AssetCard();
    card.asset = asset;
    card.addEventListener("click", (event) => event.target.closest("button") && this.use(card, event.shiftKey));
    this.cards.set(key(asset), card);
    this.grid.insertBefore(card, this.firstAfter(asset));
    this.mark(card);
  }

  /** The first card that comes after an asset, or null; found by halving, as there may be thousands. */
  firstAfter(asset) {
    const { children } = this.grid;
    const order = orders[this.order.value];
    let [low, high] = [0, children.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (order(children[middle].asset, asset) < 0) low = middle + 1;
      else high = middle;
    }
    return children[low] ?? null;
  }

  /** Shows the files in the chosen order; if not all are here, the first are other ones. */
  async sort() {
    try {
      localStorage.setItem("order", this.order.value);
    } catch {
      // It holds until the page is left.
    }
    this.grid.append(...[...this.cards.values()].sort((one, other) => orders[this.order.value](one.asset, other.asset)));
    if (!this.next) return;
    try {
      await this.reload();
    } catch (problem) {
      this.say(problem.message, true);
    }
  }

  drop(name) {
    this.cards.get(name)?.remove();
    this.cards.delete(name);
    this.selected?.delete(name);
    this.filter();
  }

  /** Opens a file or, while files are selected, selects it or not, or all from the last one on. */
  use(card, isRange) {
    if (!this.selected) return this.open(card.asset);
    const shown = this.shown();
    const [from, to] = [shown.indexOf(this.cards.get(this.rangeStart)), shown.indexOf(card)].sort((one, other) => one - other);
    this.choose(isRange && from >= 0 ? shown.slice(from, to + 1) : [card], !this.selected.has(key(card.asset)));
    this.rangeStart = key(card.asset);
  }

  /** Selects cards, or not. */
  choose(cards, isSelected) {
    for (const card of cards) {
      if (isSelected) this.selected.add(key(card.asset));
      else this.selected.delete(key(card.asset));
      this.mark(card);
    }
    this.showSelected();
  }

  shown() {
    return [...this.grid.children].filter((card) => !card.hidden);
  }

  startSelecting(isSelecting) {
    this.selected = isSelecting ? new Set() : null;
    this.select.setAttribute("aria-pressed", isSelecting);
    this.select.textContent = isSelecting ? t.selectNone : t.select;
    for (const card of this.cards.values()) this.mark(card);
    this.showSelected();
  }

  /** Shows whether a card is selected. */
  mark(card) {
    const isSelected = this.selected?.has(key(card.asset)) ?? false;
    card.classList.toggle("selected", isSelected);
    const button = card.querySelector("button");
    if (this.selected) button?.setAttribute("aria-pressed", isSelected);
    else button?.removeAttribute("aria-pressed");
  }

  showSelected() {
    this.removeSelected.hidden = !this.selected;
    this.removeSelected.disabled = !this.selected?.size;
    this.removeSelected.textContent = t.removeSelected(this.selected?.size ?? 0);
    this.labelSelected.hidden = !this.selected;
    this.labelSelected.disabled = !this.selected?.size;
    this.labelSelected.textContent = t.labelSelected(this.selected?.size ?? 0);
  }

  /** Removes what is selected; what cannot be removed stays selected. */
  async removeAll() {
    const names = [...this.selected];
    if (!(await confirmed(t.removeAllQuestion(names.length), t.removeSelected(names.length)))) return;
    const [removed, failed] = [[], []];
    for (const name of names) {
      const { asset } = this.cards.get(name) ?? {};
      if (!asset) continue;
      try {
        await remove(assetPath(asset));
      } catch (problem) {
        if (problem.status !== 404) {
          failed.push([asset, problem.message]);
          continue;
        }
      }
      removed.push(asset);
      this.drop(name);
    }
    if (failed.length) this.showSelected();
    else this.startSelecting(false);
    this.showResults(removed, failed);
  }

  /** Gives what is selected one more label. */
  async labelAll() {
    const names = [...this.selected];
    const { labels } = await get("/api/asset-labels");
    const label = await ask(t.labelSelected(names.length), { label: t.label, verb: texts.description.save, suggestions: labels.map((one) => one.label) });
    if (!label) return;
    const failed = [];
    for (const name of names) {
      const { asset } = this.cards.get(name) ?? {};
      if (!asset || asset.labels?.includes(label)) continue;
      try {
        dispatchEvent(new CustomEvent("live:asset", { detail: await patch(assetPath(asset), { labels: [...asset.labels, label] }) }));
      } catch (problem) {
        failed.push(`${asset.name}: ${problem.message}`);
      }
    }
    this.say(failed[0] ?? t.labelled(names.length), failed.length > 0);
  }

  /** Says what became of several files: what was not removed comes first. */
  showResults(removed, failed) {
    const back = h("button", { hidden: !removed.length, on: { click: () => this.attempt(back, () => this.restoreAll(removed)) } }, t.bringAllBack);
    fill(this.results,
      h("div", { class: "head" },
        h("p", { role: "status" }, [failed.length && t.notRemoved(failed.length), removed.length && t.removedAll(removed.length)].filter(Boolean).join(" ")),
        h("div", { class: "actions" }, back, h("button", { class: "plain", on: { click: () => fill(this.results) } }, texts.uploads.clear))),
      failed.length > 0 && h("ul", {}, failed.map(([{ name }, reason]) => h("li", { class: "bad" }, h("strong", {}, name), h("p", {}, icon("refused"), reason)))));
  }

  async restoreAll(assets) {
    const failed = [];
    for (const asset of assets) {
      try {
        dispatchEvent(new CustomEvent("live:asset", { detail: await restore(asset, asset.sha256) }));
      } catch (problem) {
        failed.push(`${asset.name}: ${problem.message}`);
      }
    }
    fill(this.results, failed.length > 0 && h("ul", {}, failed.map((words) => h("li", { class: "bad" }, h("p", {}, icon("refused"), words)))));
    this.say(t.broughtBack(assets.length - failed.length));
  }

  filter() {
    const found = [...new Set([...this.cards.values()].map((card) => card.asset.richType))].sort();
    const chosen = this.types.value;
    fill(this.types, h("option", { value: "" }, t.everyType),
      found.map((type) => h("option", { value: type, selected: type === chosen }, texts.richTypes[type] ?? type)));
    const labels = [...new Set([...this.cards.values()].flatMap((card) => card.asset.labels ?? []))].sort(byName);
    const label = labels.find((one) => one === this.labels.value) ?? "";
    fill(this.labels, h("option", { value: "" }, t.everyLabel), labels.map((one) => h("option", { value: one, selected: one === label }, one)));
    this.labels.hidden = !labels.length;
    const words = this.search.value.trim();
    let shown = 0;
    for (const card of this.cards.values()) {
      const { asset } = card;
      card.hidden = !(
        (!this.types.value || asset.richType === this.types.value) &&
        (!this.states.value || (this.states.value === "unused" ? this.unused.has(key(asset)) : asset.state === this.states.value)) &&
        (!label || asset.labels?.includes(label)) &&
        (!words || matches(words, key(asset))));
      shown += !card.hidden;
    }
    this.summary.textContent = t.shown(shown, this.cards.size, Boolean(this.next));
    this.more.hidden = !this.next;
    const isFiltered = words || this.types.value || this.states.value || label;
    fill(this.hint, isFiltered && !shown && !this.next && this.cards.size > 0 && h("p", { class: "empty quiet" },
      words ? t.nothingFound(words) : t.nothingLike, " ", h("button", { on: { click: () => this.showAll() } }, t.showAll)),
    this.cards.size === 0 && h("section", { class: "welcome" },
      h("h2", {}, t.welcome), h("ol", {}, (matchMedia("(any-pointer: fine)").matches ? t.firstSteps : [t.touchStep, ...t.firstSteps.slice(1)]).map((step) => h("li", {}, step)))));
  }

  /** The rich type of one's own plugin that a folder's name or the filter tells; the content tells the others. */
  uploadType(folder) {
    const own = [...this.types.options].map(({ value }) => value)
      .filter((type) => /^[a-z]/.test(type) && type !== "outbox" && !(type in texts.richTypes));
    return own.find((type) => type === folder) ?? own.find((type) => type === this.types.value);
  }

  /** Removes all filters. */
  showAll() {
    for (const filter of [this.search, this.types, this.states, this.labels]) filter.value = "";
    this.filter();
    this.search.focus();
  }

  async open(asset) {
    const outcome = await showAsset(asset, this.session);
    if (outcome === "rename") await this.rename(asset);
    if (outcome === "remove") await this.removeAsset(asset);
    if (outcome === "replace") {
      const [file] = await chooseFiles(false);
      if (file) this.uploads.add([{ file: file.file, richType: asset.richType, name: asset.name, replace: true }]);
    }
    this.cards.get(key(asset))?.querySelector("button")?.focus();
  }

  async rename(asset) {
    try {
      const { drafts } = await get(assetPath(asset, "/uses"));
      const name = await ask(texts.asset.rename, {
        label: texts.asset.newName, verb: texts.asset.rename, value: asset.name, hint: texts.asset.renameHint(drafts.map((draft) => draft.name || texts.drafts.nameless)),
      });
      if (!name || name === asset.name) return;
      const renamed = await post(assetPath(asset, "/rename"), { name });
      this.drop(key(asset));
      dispatchEvent(new CustomEvent("live:asset", { detail: renamed }));
    } catch (problem) {
      this.say(problem.message, true);
    }
  }

  async removeAsset(asset) {
    if (!(await confirmed(t.removeQuestion(asset.name), texts.remove))) return;
    try {
      await remove(assetPath(asset));
      this.drop(key(asset));
      const undo = h("button", { on: { click: () => this.attempt(undo, async () => this.showRestored(await restore(asset))) } }, texts.versions.restore);
      this.say([t.removed(asset.name), " ", undo]);
    } catch (problem) {
      this.say(problem.message, true);
    }
  }

  showRestored(asset) {
    dispatchEvent(new CustomEvent("live:asset", { detail: asset }));
    this.say(texts.versions.isBack(asset.name));
  }

  /** The arrow keys move between cards, Delete removes one. */
  move(event) {
    const card = event.target.closest("asset-card");
    const shown = this.shown();
    const index = shown.indexOf(card);
    if (index < 0) return;
    const columns = shown.filter((other) => other.offsetTop === shown[0].offsetTop).length;
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns }[event.key];
    if (step && shown[index + step]) {
      event.preventDefault();
      shown[index + step].querySelector("button").focus();
    }
    if (this.selected && event.key === "Escape") this.startSelecting(false);
    if (this.selected && event.key === "a" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      this.choose(shown, true);
    }
    if (event.key !== "Delete") return;
    if (this.selected?.size) this.attempt(this.removeSelected, () => this.removeAll());
    else this.removeAsset(card.asset);
  }
}

customElements.define("console-catalogue", Catalogue);
