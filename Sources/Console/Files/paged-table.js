// <paged-table>: a table that shows more on request. What is added comes below, and the focus stays where it is.
import { fill, h } from "./dom.js";
import { table, tableRow } from "./screen.js";
import { texts } from "./texts.js";

/** As many rows as one request can have. */
const most = 500;
const first = 50;

class PagedTable extends HTMLElement {
  /** Shows the first page; once it was shown, as many rows as there are. */
  async show(count = first) {
    const turn = (this.turn = (this.turn ?? 0) + 1);
    const { rows, next } = await this.load(undefined, Math.min(most, Math.max(first, count)));
    // A later question has been answered, or will be.
    if (turn !== this.turn) return;
    this.next = next;
    this.button = h("button", { on: { click: () => this.more() } }, texts.more);
    fill(this, table(this.words, this.columns, rows, this.empty), this.button);
    this.button.hidden = !this.hasMore;
  }

  /** Shows the first page of another question; what goes wrong is said. */
  async restart() {
    await this.show().catch((problem) => this.tell(problem));
  }

  /** Reads again what is shown, unless somebody is using it. */
  async refresh() {
    const body = this.querySelector("tbody");
    const count = body?.rows.length ?? 0;
    if (count <= most && !this.isLoading && !body?.contains(document.activeElement) && document.activeElement !== this.button) await this.show(count);
  }

  async more() {
    if (this.isLoading) return;
    this.isLoading = true;
    const { turn } = this;
    try {
      const { rows, next } = await this.load(this.next, 100);
      // Another question was asked meanwhile.
      if (turn !== this.turn) return;
      const body = this.querySelector("tbody");
      const added = rows.map((row) => tableRow(this.columns, row, { tabIndex: -1 }));
      body.append(...added);
      this.next = next;
      this.button.hidden = !this.hasMore;
      // The button stays below the rows; without it, one goes on at the first new row.
      if (!this.hasMore) added[0]?.focus();
    } catch (problem) {
      this.tell(problem);
    } finally {
      this.isLoading = false;
    }
  }

  tell(problem) {
    this.closest("main > *")?.say(problem.message, true);
  }

  get hasMore() {
    return this.next !== null && this.next !== undefined;
  }
}

customElements.define("paged-table", PagedTable);

/**
 * A table of pages.
 *
 * `load(after, limit)` resolves to `rows`, arrays of cells, and `next`, which the next page has as `after`.
 */
export const pagedTable = (words, columns, empty, load) =>
  Object.assign(document.createElement("paged-table"), { words, columns, empty, load });
