// For administrators: the lanes of the push services, and what the outbox has given up.
import { get, post, query, remove } from "./api.js";
import { fill, h } from "./dom.js";
import { number, time } from "./format.js";
import { pagedTable } from "./paged-table.js";
import { confirmed, Screen, state, table } from "./screen.js";
import { texts } from "./texts.js";

const t = texts.services;
const period = 3000;

class Services extends Screen {
  async load() {
    this.readiness = h("section", { class: "line-up", "aria-label": t.readiness });
    this.lanes = h("section", { class: "line-up" });
    this.jobs = pagedTable(t.outbox, [t.job, t.notification, t.lane, t.state, t.attempts, t.reason, t.actions], t.noJobs, (after, limit) => this.showJobs(after, limit));
    this.lane = h("select", { "aria-label": t.lane, on: { change: () => this.jobs.restart() } }, h("option", { value: "" }, t.everyLane));
    this.state = h("select", { "aria-label": t.state, on: { change: () => this.jobs.restart() } },
      ["failed", "queued", "sent"].map((name) => h("option", { value: name }, texts.states[name])));
    this.replayAll = h("button", { on: { click: () => this.replayLane() } }, t.replayAll);
    this.frame(texts.screens.services, [], this.readiness, this.lanes,
      h("div", { class: "head" }, h("h2", {}, t.outbox), h("div", { class: "actions" }, this.lane, this.state, this.replayAll)), h("section", { class: "line-up" }, this.jobs));
    await this.showLanes();
    await this.jobs.show();
    this.timer = setInterval(() => document.hidden || this.lanes.contains(document.activeElement) || this.showLanes().catch(() => {}), period);
  }

  disconnectedCallback() {
    clearInterval(this.timer);
  }

  async showReadiness() {
    const [{ sentence }, { attention }, ...ready] = await Promise.all([import("./attention-texts.js"), get("/api/status"), ...Object.keys(t.ready).map(async (purpose) => {
      const isReady = await get(`/readyz${query({ for: purpose })}`).then(() => true, () => false);
      return h("p", {}, state(isReady ? "ready" : "problem"), " ", t.ready[purpose]);
    })]);
    fill(this.readiness, ready, attention.filter(({ code, level }) => level === "problem" || /^(certificate|lane)\./.test(code))
      .map((one) => h("p", {}, state(one.level), " ", h("span", { class: "quiet" }, sentence(one)))));
  }

  async showLanes() {
    await this.showReadiness();
    const { lanes } = await get("/api/lanes");
    for (const { name } of lanes) {
      if (![...this.lane.options].some((option) => option.value === name)) this.lane.append(h("option", { value: name }, name));
    }
    fill(this.lanes, table(t.lanes, [t.lane, t.state, t.queued, t.oldest, t.sent, t.failed],
      lanes.map((lane) => [h("strong", {}, lane.name),
        [state(lane.state), " ", lane.state === "paused" && this.resume(lane.name), lane.reason && h("div", { class: "quiet" }, lane.reason, lane.until && [" ", t.until, " ", time(lane.until)])],
        number(lane.queued), lane.oldestWaiting ? time(lane.oldestWaiting) : "–", number(lane.sent), number(lane.failed)]), t.noLanes));
  }

  resume(name) {
    const button = h("button", { "aria-label": `${t.resume}: ${name}`, on: { click: () => this.attempt(button, async () => {
      await post(`/api/lanes/resume${query({ lane: name })}`);
      await this.showLanes();
    }) } }, t.resume);
    return button;
  }

  async showJobs(after, limit) {
    const { jobs, next } = await get(`/api/outbox${query({ lane: this.lane.value, state: this.state.value, after, limit })}`);
    if (after === undefined) this.replayAll.disabled = this.state.value !== "failed" || !jobs.length;
    return { rows: jobs.map((job) => this.row(job)), next };
  }

  row(job) {
    return [
      `${job.id}`, job.notification === null || job.notification === undefined ? "–" : h("a", { href: `#sent/${job.notification}` }, `${job.notification}`), job.lane, state(job.state),
      number(job.attempts), job.reason ?? "–", h("div", { class: "actions" },
        job.state === "failed" && this.button(t.replay, () => post(`/api/outbox/${job.id}/replay`)),
        ["failed", "queued"].includes(job.state) && this.button(t.cancel, () => remove(`/api/outbox/${job.id}`)))];
  }

  button(words, action) {
    const button = h("button", { on: { click: () => this.attempt(button, async () => {
      await action();
      await this.jobs.show();
    }) } }, words);
    return button;
  }

  async replayLane() {
    if (!(await confirmed(t.replayQuestion, t.replayAll))) return;
    await this.attempt(this.replayAll, async () => {
      await post(`/api/outbox/replay${query({ lane: this.lane.value })}`);
      await this.jobs.show();
    });
  }
}

customElements.define("console-services", Services);
