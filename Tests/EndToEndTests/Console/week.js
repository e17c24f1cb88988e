// What a content team does in a week, in any browser: each step is a function that uses the page as people do.
(() => {
  const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
  /** What `find` gives, once it gives something. */
  const until = async (what, find) => {
    for (let turn = 0; turn < 1200; turn += 1) {
      const found = find();
      if (found) return found;
      await pause(25);
    }
    throw new Error(`there is no ${what} in: ${top().innerText}`);
  };
  const isShown = (element) => element.getClientRects().length > 0;
  /** The dialog above all others, or the page. */
  const top = () => [...document.querySelectorAll("dialog[open]")].at(-1) ?? document.body;
  const find = (selector, is) => () => [...top().querySelectorAll(selector)].find((element) => isShown(element) && is(element));
  const press = async (name) => (await until(`button “${name}”`, find("button, a", (element) =>
    [element.getAttribute("aria-label"), element.textContent].some((text) => text?.trim() === name) && !element.disabled))).click();
  /** What is listed under a name. */
  const listed = (name) => until(`“${name}” in a list`, find("li button.chosen", (button) => button.querySelector("strong").textContent === name));
  const field = (label) => until(`field “${label}”`, find("input, select, textarea", (element) =>
    [element.getAttribute("aria-label"), ...[...(element.labels ?? [])].map((one) => one.textContent)]
      .some((text) => text?.trim().startsWith(label))));
  const enter = async (label, value) => {
    const control = await field(label);
    control.focus();
    if (control.type === "checkbox") {
      if (control.checked !== value) control.click();
      return;
    }
    control.value = value;
    for (const kind of ["input", "change"]) control.dispatchEvent(new Event(kind, { bubbles: true }));
  };
  const says = (text) => until(`“${text}”`, () => top().innerText.includes(text));
  const show = async (screen) => {
    location.hash = screen;
    await until(screen, () => location.hash === `#${screen}` && document.querySelector("main h1"));
  };
  /** Presses what sends; the number of the notification. */
  const send = async (verb) => {
    await press(verb);
    await until("question", () => document.querySelector("dialog[open]"));
    await press(verb);
    const [, number] = await until("notification", () => location.hash.match(/^#sent\/(\d+)$/));
    await until("its page", find("h1", () => document.querySelector(".facts-list, .ended")));
    return Number(number);
  };

  window.week = {
    signIn: async (user) => {
      localStorage.setItem("undo", "0");
      await until("sign-in", find("input[name=username]", () => true));
      await enter("Name", user);
      await enter("Password", user);
      await press("Sign in");
      await until("navigation", () => document.querySelector("nav"));
    },
    /** Imports a table; what it says of the lines, and of those that are left out. */
    importPeople: async (table) => {
      await show("compose");
      await enter("Kind of recipients", "segment");
      await press("All segments");
      await press("Import what is known of people (CSV)");
      const file = await field("CSV file");
      const files = new DataTransfer();
      files.items.add(new File([table], "people.csv", { type: "text/csv" }));
      file.files = files.files;
      file.dispatchEvent(new Event("change", { bubbles: true }));
      const found = await until("report", () => top().querySelector("[role=status]").textContent.includes("will change") && top().innerText);
      top().querySelector("button.main").click();
      await says("3 people changed, 1 line left out.");
      await press("Close");
      return found;
    },
    /** Saves those with an attribute; what it says of how many they are. */
    saveSegment: async (name, attribute) => {
      await show("compose");
      await enter("Kind of recipients", "segment");
      await press("All segments");
      await press("New segment");
      await enter("Name of the segment", name);
      await enter("What is known of the person", attribute);
      const count = await until("count", () => top().querySelector("[role=status]").textContent);
      await press("Save");
      await listed(name);
      await press("Close");
      return count;
    },
    keepDraft: async (name, message, isTemplate) => {
      await show("compose");
      await press("Start over");
      await enter("Message", message);
      await press("Keep as a draft");
      await enter("Name", name);
      await enter("A template", isTemplate);
      await press("Keep as a draft");
      await says(isTemplate ? "The template is kept" : "kept for all publishers");
    },
    /** Goes on with a draft of another, for a segment at a local time. */
    finishDraft: async (name, message, segment, at) => {
      await show("compose");
      await press("Drafts");
      (await listed(name)).click();
      await until("message", () => document.querySelector("console-compose textarea").value);
      await enter("Message", message);
      await enter("Kind of recipients", "segment");
      await enter("Recipients", segment);
      await enter("Send at", at);
      await enter("In each recipient’s local time", true);
      await until("count", () => !document.querySelector("console-compose .fault:not([hidden])"));
      return send("Schedule");
    },
    /** Sends what a template says to people, at once. */
    useTemplate: async (name, people) => {
      await show("compose");
      await press("Start over");
      await press("Drafts");
      (await listed(name)).click();
      await until("message", () => document.querySelector("console-compose textarea").value);
      await enter("Kind of recipients", "people");
      await enter("Recipients", people);
      return send("Send");
    },
    withdraw: async (number) => {
      await show(`sent/${number}`);
      await press("Withdraw");
      await press("Withdraw");
      await until("list", () => location.hash === "#sent");
    },
    /** The numbers of people by step that the page has, in its bars and in its chart; waits until one is as expected. */
    numbers: async (number, step, count) => {
      await show(`sent/${number}`);
      const people = () => Object.fromEntries([...document.querySelectorAll(".funnel [data-part]")]
        .map((part) => [part.dataset.part, Number(part.querySelector("strong")?.textContent ?? NaN)]));
      await until(`${count} ${step}`, () => people()[step] === count);
      const chart = document.querySelector("line-chart desc")?.textContent ?? "";
      return { people: people(), chart, page: document.querySelector("main").innerText };
    },
    /** The file that “Export” saves. */
    exported: async () => {
      const make = URL.createObjectURL;
      const saved = new Promise((done) => { URL.createObjectURL = (blob) => { done(blob.text()); return make.call(URL, blob); }; });
      await press("Export");
      return saved;
    },
  };
})()
