// Composing a notification: everything is checked by the server, and shown, before anything is stored.
import { assetPath, get, post } from "./api.js";
import { chooseAsset } from "./asset-picker.js";
import { enteredNotification, sentBefore } from "./again.js";
import { facts } from "./asset-card.js";
import { audienceField } from "./audience.js";
import { contentFields } from "./content-fields.js";
import { contentTypes, filledRows } from "./content-types.js";
import { fill, h, icon } from "./dom.js";
import { chooseDraft, endDraft, nameDraft, storeDraft } from "./drafts.js";
import { acceptDrops, chooseFiles } from "./drop.js";
import { faultsOf, field, focusOn, showFaults } from "./fields.js";
import { apiTime, zone } from "./format.js";
import { keepDraft, keptDraft, mayReplace } from "./kept-draft.js";
import { languageTabs } from "./language-tabs.js";
import { messageFields, usualForm } from "./message-fields.js";
import { mediaView } from "./media-view.js";
import { showPreviews } from "./previews.js";
import { Screen } from "./screen.js";
import { confirmSending, quietUntil } from "./send-dialog.js";
import { texts } from "./texts.js";
import { delayQuery } from "./undo.js";
import { Uploads } from "./uploads.js";

const t = texts.compose;
const longestMessage = 16_384;
/** So long ago a time may be: choosing it takes a while, and clocks differ. In milliseconds. */
const tolerance = 60_000;

class Compose extends Screen {
  /** The asset that is sent; without one, what was filled in, a link that was typed, or none. */
  content = null;
  /** Whether everything that is missing is shown: once sending was tried. */
  isTried = false;
  /** What the server says about members of the notification, until they are changed. */
  refused = {};

  async load() {
    const changed = () => this.changed();
    this.chosen = h("button", { type: "button", class: "chosen", on: { click: () => this.choose() } });
    this.removeContent = h("button", { type: "button", on: { click: () => {
      this.content = null;
      this.changed();
      this.chosen.focus();
    } } }, t.removeContent);
    this.url = h("input", { type: "url", placeholder: "https://", on: { input: () => {
      if (this.url.value.trim()) this.filled.clear();
      changed();
    } } });
    this.urlDetails = h("details", {}, h("summary", {}, t.orLink), h("label", {}, t.url, this.url));
    this.filled = contentFields(changed, () => {
      this.content = null;
      this.url.value = "";
    });
    await this.filled.load();
    this.said = messageFields(changed);
    this.message = h("textarea", { rows: 4, on: { input: changed } });
    this.length = h("span", { class: "hint" });
    this.languages = languageTabs(() => ({ ...this.said.value, message: this.message.value }), changed);
    this.audience = audienceField(this.session, (isOther) => this.changed(isOther));
    this.form = h("select", { on: { change: changed } }, Object.keys(t.forms).map((form) => h("option", { value: form }, t.forms[form])));
    this.formHint = h("span", { class: "hint" });
    this.badge = h("input", { type: "checkbox", on: { change: changed } });
    this.skip = h("input", { type: "checkbox", on: { change: changed } });
    this.notBefore = h("input", { type: "datetime-local", on: { input: changed } });
    this.local = h("input", { type: "checkbox", on: { change: changed } });
    this.localChoice = h("label", { class: "check" }, this.local, t.local);
    this.quiet = h("span", { class: "hint", "aria-live": "polite" });
    this.perMinute = h("input", { type: "number", min: 1, max: 1_000_000, step: 1, inputMode: "numeric", on: { input: changed } });
    this.expires = h("input", { type: "datetime-local", on: { input: changed } });
    this.problem = h("p", { class: "problem", role: "alert" });
    this.test = h("button", { type: "button", on: { click: () => this.attempt(this.test, () => this.sendTest()) } }, t.test);
    this.store = h("button", { type: "button", on: { click: () => this.attempt(this.store, () => this.keepForAll()) } }, texts.drafts.keep);
    this.open = h("button", { type: "button", on: { click: () => this.attempt(this.open, () => this.goOn()) } }, texts.drafts.title);
    this.send = h("button", { class: "main" }, icon("sent"), h("span", {}, t.send));
    this.previews = h("section", { class: "previews", tabIndex: 0, "aria-label": t.previews });
    this.uploads = new Uploads();
    this.own = Object.fromEntries(
      Object.entries({ content: this.chosen, message: this.message, to: this.audience.input, notBefore: this.notBefore, localTime: this.local, perMinute: this.perMinute, expires: this.expires, form: this.form })
        .map(([name, control]) => [name, field(control, name)]));
    const submit = (event) => {
      event.preventDefault();
      this.attempt(this.send, () => this.publish());
    };
    const { content, message, to, notBefore, localTime, perMinute, expires, form } = this.own;
    this.frame(texts.screens.compose, [this.open, h("button", { on: { click: () => this.startOver() } }, t.startOver)],
      h("div", { class: "compose" },
        h("form", { class: "panel", noValidate: true, on: { submit } },
          h("fieldset", { class: "field" }, h("legend", {}, t.optional), this.chosen, this.removeContent, content.words),
          this.uploads,
          this.filled.element,
          this.urlDetails,
          this.said.above,
          h("div", { class: "field" }, h("label", {}, t.message, this.message, this.length), message.words),
          this.said.below,
          this.languages.element,
          h("div", { class: "field" }, this.audience.element, to.words),
          h("div", { class: "field" }, h("label", {}, t.notBefore, this.notBefore), notBefore.words, this.localChoice, localTime.words, this.quiet),
          h("div", { class: "field" }, h("label", {}, t.perMinute, this.perMinute), perMinute.words),
          h("div", { class: "field" }, h("label", {}, t.expires, this.expires), expires.words, h("span", { class: "hint" }, t.zone(zone()))),
          h("div", { class: "field" }, h("label", {}, t.form, this.form), form.words, this.formHint),
          h("label", { class: "check" }, this.badge, t.badge),
          h("label", { class: "check" }, this.skip, t.skip),
          this.problem,
          h("div", { class: "actions" }, this.send, this.test, this.store)),
        this.previews));
    acceptDrops(this, t.drop, (files) => this.take(files));
    const [richType, name, rest] = this.parameters;
    const draft = keptDraft(this.session.username);
    const wasSent = richType === "again";
    const isAgain = wasSent && (await mayReplace(draft));
    const kept = isAgain ? await sentBefore(name) : draft;
    if (isAgain && rest === "rest") kept.to = { kind: "notOpened", text: name };
    this.fillIn(kept);
    // From now on it is a draft like any other.
    if (wasSent) history.replaceState(null, "", "#compose");
    if (!name || wasSent) return this.useKept(kept);
    this.use(await get(assetPath({ richType, name })));
  }

  /** Uses the asset of kept values, if it is still there. */
  async useKept(kept) {
    if (kept?.filled && !this.filled.has(kept.filled.richType)) this.say(texts.contentFields.gone, true);
    if (!kept?.content) return;
    try {
      this.use(await get(assetPath(kept.content)));
      this.keep(kept.key);
    } catch (problem) {
      this.say(problem.message, true);
    }
  }

  /** Keeps what is written for all publishers, to be finished by any of them. */
  async keepForAll() {
    const named = await nameDraft(this.kept);
    if (!named) return;
    const { to, ...draft } = this.draft();
    const all = { ...draft, ...(this.audience.value.length && { to }) };
    const kept = await storeDraft(all, named, this.kept);
    if (!kept) return;
    const { id, version, name, template } = kept;
    this.kept = { id, version, name, template };
    this.keep(this.key);
    this.say(template ? texts.drafts.keptTemplate : texts.drafts.kept);
  }

  /** Goes on with a draft, or begins with a template. */
  async goOn() {
    const chosen = await chooseDraft();
    if (!chosen || !(await mayReplace(this.values))) return;
    const { id, version, name, template, notification } = chosen;
    const values = { ...enteredNotification(notification), kept: { id, version, name, template } };
    this.fillIn(values);
    this.changed();
    await this.useKept(values);
  }

  async choose() {
    const chosen = await chooseAsset();
    if (chosen === "upload") return this.take(await chooseFiles(false));
    if (chosen) this.use(chosen);
  }

  async take(files) {
    this.uploads.hidden = false;
    const accepted = await this.uploads.add(files);
    if (!accepted.length) return;
    // What was refused stays to be read.
    this.uploads.hidden = accepted.length === files.length;
    this.use(accepted[0]);
  }

  use(asset) {
    this.content = asset;
    this.url.value = "";
    this.filled.clear();
    this.changed();
  }

  /** The values of the form, to be kept. */
  get values() {
    return {
      content: this.content && { richType: this.content.richType, name: this.content.name }, url: this.url.value, filled: this.filled.kept,
      message: this.message.value, said: this.said.kept, languages: this.languages.kept, to: this.audience.kept, form: this.form.value, badge: this.badge.checked, skip: this.skip.checked,
      notBefore: this.notBefore.value, local: this.local.checked, perMinute: this.perMinute.value, expires: this.expires.value, key: this.key, kept: this.kept,
    };
  }

  /** Shows kept values; without any, an empty form. */
  fillIn(kept = {}) {
    this.content = null;
    this.url.value = kept.url ?? "";
    this.urlDetails.open = Boolean(kept.url);
    this.filled.kept = kept.filled;
    this.message.value = kept.message ?? "";
    this.said.kept = kept.said;
    this.languages.kept = kept.languages;
    this.form.value = kept.form ?? "";
    this.badge.checked = kept.badge ?? false;
    this.skip.checked = kept.skip ?? false;
    this.notBefore.value = kept.notBefore ?? "";
    this.local.checked = kept.local ?? false;
    this.perMinute.value = kept.perMinute ?? "";
    this.expires.value = kept.expires ?? "";
    this.isTried = false;
    this.audience.kept = kept.to;
    this.key = kept.key;
    this.kept = kept.kept;
    // The asset that was kept with it is not here yet.
    keepDraft(this.session.username, kept);
  }

  /** Keeps what was entered, with the key of a request whose response may have been lost. */
  keep(key) {
    this.key = key;
    keepDraft(this.session.username, this.values);
  }

  startOver() {
    this.fillIn();
    keepDraft(this.session.username, null);
    history.replaceState(null, "", "#compose");
    this.chosen.focus();
  }

  /** The notification as the API takes it; `to` replaces the recipients. */
  draft(to = this.audience.value) {
    const url = this.url.value.trim();
    const filled = this.filled.value;
    const draft = {
      ...this.said.value,
      ...this.languages.value,
      message: this.message.value,
      richType: filled?.richType ?? (url ? "url" : this.content?.richType),
      payload: filled?.payload ?? (url || this.content?.name),
      to: to.length ? to : [`username:${this.session.username}`],
      form: this.form.value || undefined,
      ...(this.isLocal
        ? { localTime: { at: this.notBefore.value, zone: Intl.DateTimeFormat().resolvedOptions().timeZone } }
        : { notBefore: apiTime(time(this.notBefore)) }),
      perMinute: this.perMinute.value ? Number(this.perMinute.value) : undefined,
      expires: apiTime(time(this.expires)),
      onMissing: this.skip.checked ? "skip" : undefined,
    };
    if (this.badge.checked && formOf(draft) !== "silent") draft.badge = true;
    return draft;
  }

  /** Whether the time is by the clock of each recipient. */
  get isLocal() {
    return this.local.checked && Boolean(this.notBefore.value);
  }

  /** When it is sent, or will have been sent everywhere. */
  get lastTime() {
    const last = time(this.notBefore);
    // The last clocks are twelve hours behind UTC.
    return this.isLocal ? new Date(Date.parse(`${this.notBefore.value}Z`) + 12 * 3_600_000) : last;
  }

  /** All fields by the names of the API's members, in the order of the form. */
  get fields() {
    const { content, message, ...more } = this.own;
    const [above, below] = this.said.fields;
    return { content, ...this.filled.fields, ...above, message, ...below, languages: this.languages.field, ...more };
  }

  /** All that is wrong or missing, by field; what is only missing is no fault before sending was tried. */
  faults() {
    const faults = {};
    const say = (field, isWrong, words) => { if (isWrong) faults[field] ??= words; };
    const { richType, message, title } = this.draft();
    const url = this.url.value.trim();
    const hasText = Boolean(message.trim() || title);
    const [now, notBefore, expires] = [Date.now(), this.lastTime, time(this.expires)];
    say("content", url && !/^https?:\/\/[^\s/]+/i.test(url), t.faults.url);
    say("message", this.isTried && !hasText && !richType, t.faults.nothing);
    say("message", this.isTried && !hasText && ["alert", "hybrid"].includes(formOf(this.draft())), t.faults.message);
    say("message", this.excess > 0, t.faults.length(this.excess));
    say("to", this.isTried && !this.audience.value.length, t.faults.to);
    say("to", this.audience.problem, this.audience.problem);
    for (const [name, value] of [["notBefore", notBefore], ["expires", expires]]) {
      say(name, this[name].validity.badInput, t.faults.incomplete);
      say(name, value && value < now - tolerance, t.faults[name]);
    }
    say("perMinute", !this.perMinute.validity.valid, t.faults.perMinute);
    say("expires", expires && expires <= (notBefore ?? now), t.faults.order);
    return { ...this.refused, ...this.filled.faults(this.isTried), ...this.said.faults(this.isTried), ...faults };
  }

  /** How many characters the message has too many, about: the limit is in bytes. */
  get excess() {
    const used = new TextEncoder().encode(this.message.value).length;
    return Math.ceil(Math.max(0, used - longestMessage) / (used / (this.message.value.length || 1) || 1));
  }

  /** Shows what is wrong; returns the fields with faults, in the order of the form. */
  showFaults() {
    const wrong = showFaults(this.fields, this.faults());
    this.problem.textContent = this.isTried && wrong.length ? t.notSent(wrong.length) : "";
    return wrong;
  }

  /** Shows what was entered and keeps it; if something is other than before, asks the server a moment later. */
  changed(isOther = true) {
    if (!isOther) return this.showFaults();
    const { content } = this;
    fill(this.chosen, content
      ? [h("span", { class: "picture" }, mediaView(content)), h("span", {}, h("strong", {}, content.name), h("small", {}, facts(content)))]
      : [h("span", { class: "picture" }, icon("catalogue")), h("span", {}, h("strong", {}, t.choose),
        h("small", {}, matchMedia("(any-pointer: fine)").matches ? t.chooseHint : t.touchHint))]);
    this.removeContent.hidden = !content;
    this.length.textContent = t.length([...this.message.value].length);
    this.showQuietHours();
    const form = formOf(this.draft());
    this.formHint.textContent = this.form.value ? t.formHints[form] : t.usual(t.forms[form], t.formHints[form]);
    this.badge.disabled = form === "silent";
    this.local.disabled = !this.notBefore.value;
    this.send.lastChild.textContent = this.notBefore.value ? t.schedule : t.send;
    // Another notification than the one that may have been sent already.
    this.keep(undefined);
    this.refused = {};
    this.showFaults();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.check(), 350);
  }

  /** Shows the previews, one check at a time; what changed meanwhile is checked afterwards. */
  async check() {
    if (this.checking) return (this.again = true);
    // For oneself, so that other recipients need not be right yet.
    const draft = { ...this.draft([]), ...atOnce };
    const hasText = Boolean(draft.message.trim() || draft.title);
    if (!draft.payload && !hasText || this.faults().content || this.filled.isIncomplete) return showPreviews(this.previews, null);
    this.checking = true;
    // Pictures can be seen before there are words.
    if (!hasText) draft.message = t.sample;
    const isFilled = Boolean(this.filled.value);
    const content = !draft.payload ? null : isFilled ? { richType: draft.richType } : draft.richType === "url" && !this.content ? { richType: "url", url: draft.payload } : this.content;
    try {
      const result = await post("/api/notifications?dry-run", draft);
      showPreviews(this.previews, result, content, draft, this.languages.shown);
      this.quietHours = result.audience.quietHours;
      this.showQuietHours();
    } catch (problem) {
      // What may pass by itself is nobody's fault.
      if (problem.status >= 400 && problem.status < 500 && problem.status !== 429) this.refuse(problem);
      else this.say(problem.message, true);
    } finally {
      this.checking = false;
      if (this.again) {
        this.again = false;
        this.check();
      }
    }
  }

  /** Says until when pushes wait, if that is so at the chosen time. */
  showQuietHours() {
    const until = quietUntil(this.quietHours, this.draft());
    this.quiet.textContent = until && texts.sendDialog.quiet(until);
  }

  /** Shows what the server refuses: at the fields that it names, else at the content. */
  refuse(problem) {
    this.refused = faultsOf(problem, this.fields, "content");
    this.showFaults();
  }

  /** Whether it can be sent; else all that is wrong is shown, and the first of it has the focus. */
  isRight(isTest) {
    this.isTried = true;
    const [first] = this.showFaults().filter((name) => !isTest || !["to", "notBefore", "localTime", "perMinute", "expires"].includes(name));
    if (!first) return true;
    focusOn(this.fields[first]);
    return false;
  }

  async sendTest() {
    if (!this.isRight(true)) return;
    const { reach } = await this.post({ ...this.draft([]), ...atOnce });
    this.isTried = false;
    this.showFaults();
    this.say(reach.devices ? t.tested(reach.devices, reach.devicesWithoutLane) : t.testedNowhere);
  }

  async publish() {
    const counted = await this.audience.count();
    if (!this.isRight()) return;
    if (!counted) throw new Error(t.changedMeanwhile);
    const draft = this.draft();
    // Who they are, and when they get it, is known before it is sent.
    const { skipped, times } = draft.onMissing || draft.localTime || draft.perMinute ? await this.post(draft, "?dry-run") : {};
    const isSure = await confirmSending({ skipped,
      filled: filledRows(await contentTypes(), draft), content: this.url.value.trim() ? { richType: "url", url: draft.payload } : this.content, message: draft,
      recipients: this.audience.entered, counted, notBefore: time(this.notBefore), times, expires: time(this.expires),
      verb: this.send.textContent,
    });
    // A dialog can be open for long.
    if (!isSure || !this.isRight()) return;
    // A second press of the button after a lost response creates nothing more, also after a reload.
    this.keep(this.key ?? crypto.randomUUID());
    const { id } = await this.post({ ...draft, idempotencyKey: this.key }, delayQuery(draft));
    keepDraft(this.session.username, null);
    await endDraft(this.kept);
    location.hash = `#sent/${id}`;
  }

  async post(draft, query = "") {
    try {
      return await post(`/api/notifications${query}`, draft);
    } catch (problem) {
      if (problem.errors?.length) this.refuse(problem);
      throw problem;
    }
  }
}

/** The form of a push as it will be. */
const formOf = (draft) => draft.form ?? usualForm(draft, Boolean(draft.richType));

/** What is left out of a notification that is not for its recipients yet. */
const atOnce = { notBefore: undefined, localTime: undefined, perMinute: undefined, expires: undefined };

/** The time in a field; undefined if there is none. */
const time = (input) => (input.value ? new Date(input.value) : undefined);

customElements.define("console-compose", Compose);
