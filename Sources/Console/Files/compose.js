// Composing a notification: everything is checked by the server, and shown, before anything is stored.
import { assetPath, get, post } from "./api.js";
import { chooseAsset } from "./asset-picker.js";
import { facts } from "./asset-card.js";
import { audienceField } from "./audience.js";
import { fill, h, icon } from "./dom.js";
import { acceptDrops, chooseFiles } from "./drop.js";
import { number } from "./format.js";
import { mediaView } from "./media-view.js";
import { showPreviews } from "./previews.js";
import { confirmed, Screen } from "./screen.js";
import { texts } from "./texts.js";
import { Uploads } from "./uploads.js";

const t = texts.compose;
const longestMessage = 16_384;

class Compose extends Screen {
  /** The asset that is sent, or a link that was typed. */
  content = null;

  async load() {
    const changed = () => this.changed();
    this.chosen = h("button", { type: "button", class: "chosen", on: { click: () => this.choose() } });
    this.link = h("input", { type: "url", placeholder: "https://", on: { input: changed } });
    this.message = h("textarea", { rows: 4, required: true, on: { input: changed } });
    this.length = h("span", { class: "hint" });
    this.audience = audienceField(changed);
    this.form = h("select", { on: { change: changed } }, Object.keys(t.forms).map((form) =>
      h("option", { value: form, selected: form === "alert" }, t.forms[form])));
    this.formHint = h("span", { class: "hint" });
    this.badge = h("input", { type: "checkbox" });
    this.notBefore = h("input", { type: "datetime-local", on: { input: changed } });
    this.expires = h("input", { type: "datetime-local", on: { input: changed } });
    this.problem = h("p", { class: "problem", role: "alert", hidden: true });
    this.test = h("button", { type: "button", on: { click: () => this.attempt(this.test, () => this.sendTest()) } }, t.test);
    this.send = h("button", { class: "main" }, icon("sent"), h("span", {}, t.send));
    this.previews = h("section", { class: "previews", "aria-label": t.previews });
    this.uploads = new Uploads();
    const submit = (event) => {
      event.preventDefault();
      this.attempt(this.send, () => this.publish());
    };
    this.frame(texts.screens.compose, [],
      h("div", { class: "compose" },
        h("form", { class: "panel", on: { submit } },
          h("fieldset", {}, h("legend", {}, t.content), this.chosen),
          this.uploads,
          h("details", {}, h("summary", {}, t.orLink), h("label", {}, t.link, this.link)),
          h("label", {}, t.message, this.message, this.length),
          this.audience.element,
          h("div", { class: "pair" }, h("label", {}, t.notBefore, this.notBefore), h("label", {}, t.expires, this.expires)),
          h("label", {}, t.form, this.form, this.formHint),
          h("label", { class: "check" }, this.badge, t.badge),
          this.problem,
          h("div", { class: "actions" }, this.send, this.test)),
        this.previews));
    acceptDrops(this, t.drop, (files) => this.take(files));
    const [richType, name] = this.parameters;
    if (name) this.content = await get(assetPath({ richType, name }));
    this.changed();
  }

  async choose() {
    const chosen = await chooseAsset();
    if (chosen === "upload") return this.take(await chooseFiles(false));
    if (chosen) this.use(chosen);
  }

  async take(files) {
    const [asset] = await this.uploads.add(files);
    if (!asset) return;
    this.uploads.hidden = true;
    this.use(asset);
  }

  use(asset) {
    this.content = asset;
    this.link.value = "";
    this.changed();
  }

  /** The notification as the API takes it; `to` replaces the recipients. */
  draft(to = this.audience.value) {
    const link = this.link.value.trim();
    const date = (input) => input.value && new Date(input.value).toISOString().replace(/\.\d+Z/, "Z");
    const draft = {
      message: this.message.value,
      richType: link ? "url" : this.content?.richType,
      payload: link || this.content?.name,
      to: to.length ? to : [`username:${this.session.username}`],
      form: this.form.value,
      notBefore: date(this.notBefore) || undefined,
      expires: date(this.expires) || undefined,
    };
    if (this.badge.checked && this.form.value !== "silent") draft.badge = true;
    return draft;
  }

  /** Shows what was entered, and asks the server for the rest a moment later. */
  changed() {
    const { content } = this;
    fill(this.chosen, content
      ? [h("span", { class: "picture" }, mediaView(content)), h("span", {}, h("strong", {}, content.name), h("small", {}, facts(content)))]
      : [h("span", { class: "picture" }, icon("catalogue")), h("span", {}, h("strong", {}, t.choose), h("small", {}, t.chooseHint))]);
    const used = new TextEncoder().encode(this.message.value).length;
    this.length.textContent = t.length(number(used), number(longestMessage));
    this.length.classList.toggle("problem", used > longestMessage);
    this.formHint.textContent = t.formHints[this.form.value];
    this.badge.disabled = this.form.value === "silent";
    this.send.lastChild.textContent = this.notBefore.value ? t.schedule : t.send;
    this.send.disabled = this.test.disabled = true;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.check(), 350);
  }

  /** One check at a time; what changed meanwhile is checked afterwards. */
  async check() {
    if (this.checking) return (this.again = true);
    const draft = this.draft();
    if (!draft.payload) return showPreviews(this.previews, null);
    this.checking = true;
    // Pictures can be seen before there are words.
    const hasMessage = draft.message.trim() !== "";
    if (!hasMessage) draft.message = t.sample;
    try {
      const result = await post("/api/notifications?dry-run", draft);
      this.result = result;
      this.problem.hidden = true;
      showPreviews(this.previews, result, this.content?.name === draft.payload ? this.content : { richType: "url", url: draft.payload });
      this.test.disabled = !hasMessage;
      this.send.disabled = !hasMessage || !this.audience.value.length;
    } catch (problem) {
      this.problem.textContent = problem.message;
      this.problem.hidden = false;
    } finally {
      this.checking = false;
      if (this.again) {
        this.again = false;
        this.changed();
      }
    }
  }

  async sendTest() {
    await post("/api/notifications", { ...this.draft([]), notBefore: undefined });
    this.say(t.tested(this.session.username));
  }

  async publish() {
    const draft = this.draft();
    const { users, devices } = await this.audience.count();
    if (!(await confirmed(t.question(number(users), number(devices), Boolean(draft.notBefore)), this.send.textContent))) return;
    // A second press of the button after a lost response creates nothing more.
    this.key ??= crypto.randomUUID();
    const { id } = await post("/api/notifications", { ...draft, idempotencyKey: this.key });
    location.hash = `#sent/${id}`;
  }
}

customElements.define("console-compose", Compose);
