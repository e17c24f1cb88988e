// The list of a device's notifications: what it says, when, whether it was read, and its media.

/// What each notification is shown as, by its ID.
const items = new Map();

/// Shows the newest notifications; what is shown already, and may be playing, stays.
async function list(device) {
  const page = await (await call(bearer(device), "GET", "notifications?limit=20")).json();
  const shown = page.notifications.map(notification => current(device, notification));
  // What was loaded below the first page stays, unless it is not a recipient's any more.
  const last = page.notifications.at(-1)?.id ?? Infinity;
  const older = [...items].filter(([id]) => page.next && id < last).map(([, item]) => item.element);
  for (const [id, { element }] of items) {
    if (!shown.includes(element) && !older.includes(element)) items.delete(id);
  }
  const inbox = document.getElementById("inbox");
  const wanted = [...shown, ...older];
  if (wanted.some((element, index) => inbox.children[index] !== element)
    || inbox.children.length !== wanted.length) inbox.replaceChildren(...wanted);
  document.getElementById("empty").hidden = wanted.length > 0;
  if (!older.length) goOn(device, page.next);
}

/// Offers the next page, whose path on the server is known.
function goOn(device, next) {
  const more = document.getElementById("more");
  more.hidden = !next;
  more.onclick = () => attempt(async () => {
    more.disabled = true;
    try {
      const page = await (await call(bearer(device), "GET", next.replace(/^\/api\//, ""))).json();
      const added = page.notifications.map(notification => current(device, notification));
      document.getElementById("inbox").append(...added);
      goOn(device, page.next);
    } finally {
      more.disabled = false;
    }
  });
}

/// The element of a notification: the one that is shown, if nothing of it has changed.
function current(device, notification) {
  const { id, read } = notification;
  const content = JSON.stringify({ ...notification, read: null });
  const known = items.get(id);
  if (known?.content === content) {
    if (read) known.element.showRead();
    return known.element;
  }
  const element = item(device, notification);
  items.set(id, { content, element });
  return element;
}

function make(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

function item(device, notification) {
  const time = new Date(notification.notBefore ?? notification.created);
  const { title, subtitle, message, link, actions = [] } = notification;
  const texts = [title, subtitle, message].filter(Boolean).map(textContent => make("p", { textContent, className: "said" }));
  const links = [link && { url: link }, ...actions.filter(({ link }) => link).map(({ link, label }) => ({ url: link, title: label }))];
  const item = make("li", {}, ...texts, make("small", {},
    make("time", { dateTime: time.toISOString(), textContent: time.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" }) })),
    ...links.filter(Boolean).map(card).filter(Boolean), ...actions.map(action => answer(device, notification.id, action)).filter(Boolean));
  item.showRead = () => {
    item.classList.remove("unread");
    item.querySelector(".mark")?.remove();
  };
  if (!notification.read) {
    item.className = "unread";
    const mark = () => attempt(async () => {
      await markRead(device, notification.id);
      item.showRead();
    });
    item.querySelector("small").append(make("button", { type: "button", className: "mark", textContent: "Mark as read", onclick: mark }));
    item.addEventListener("click", event => event.target.className === "mark" || mark(), { once: true });
  }
  if (notification.richType) show().then(shown => shown && item.append(shown)).catch(() => {});
  return item;

  async function show() {
    const type = notification.details?.contentType ?? "";
    // A film is large: its poster, until somebody wants to see it.
    if (type.startsWith("video/")) return film(device, notification);
    return view(await media(device, notification.id), described(notification));
  }
}

/// What a button of a notification is on the page: a button that tells the publisher, or a field for a reply; null for one
/// that only closes the notification or has a link.
function answer(device, id, { id: action, label, link, input, dismiss }) {
  if (link !== undefined || dismiss) return null;
  const button = make("button", { textContent: label });
  const said = make("small", { role: "status" });
  const send = async interaction => {
    button.disabled = true;
    try {
      await report(device, id, interaction);
      said.textContent = "Sent.";
    } catch (error) {
      said.textContent = error.message;
      throw error;
    } finally {
      button.disabled = false;
    }
  };
  if (input === undefined) {
    button.type = "button";
    button.onclick = () => attempt(() => send({ event: "action", action }));
    return make("div", {}, button, said);
  }
  const field = make("input", { required: true, maxLength: 1024, placeholder: input, ariaLabel: input });
  const form = make("form", { className: "reply", id: `reply/${id}/${action}` }, field, button, said);
  let sent;
  form.onsubmit = event => {
    event.preventDefault();
    const text = field.value;
    // The same key if the same text is sent once more, because the answer to the first request was lost.
    if (sent?.text !== text) sent = { text, key: crypto.randomUUID() };
    attempt(async () => {
      await send({ event: "reply", action, ...sent });
      sent = undefined;
      if (field.value === text) field.value = "";
    });
  };
  return form;
}

/// Shows the field for the reply that a notification asked for when its button was pressed.
async function showReply(device) {
  const place = location.hash.slice(1);
  const id = Number(place.match(/^reply\/(\d+)\//)?.[1]);
  if (!place.startsWith("reply/")) return;
  history.replaceState(null, "", location.pathname);
  if (!items.has(id)) {
    const notification = await (await call(bearer(device), "GET", `notifications/${id}/details`)).json();
    document.getElementById("inbox").prepend(current(device, notification));
  }
  document.getElementById(place)?.querySelector("input").focus();
}

/// What media shows, in words.
const described = ({ alt, message, title }) => alt ?? (message || title || "");

/// A film's poster with a button, which brings the film.
async function film(device, notification) {
  const { id } = notification;
  const words = described(notification);
  const button = make("button", { type: "button", textContent: "Play the film" });
  const place = make("div", {}, button);
  button.onclick = () => attempt(async () => {
    button.disabled = true;
    try {
      const player = await view(await media(device, id), words);
      place.replaceChildren(player);
      player.play?.().catch(() => {});
    } finally {
      button.disabled = false;
    }
  });
  const poster = await media(device, id, "view=poster&width=640").then(blob => view(blob, words)).catch(() => null);
  if (poster && !place.querySelector("video")) place.prepend(poster);
  return place;
}

/// What shows some media: a picture, a player, a link or a text; null for anything else.
async function view(blob, words) {
  const [family, kind] = blob.type.split(";")[0].split("/");
  if (kind === "json") return card(JSON.parse(await blob.text()));
  if (family === "text" && kind === "plain") return make("p", { className: "text", textContent: (await blob.text()).slice(0, 4000) });
  if (family === "image" && kind !== "svg+xml") {
    const picture = make("img", { alt: words, src: URL.createObjectURL(blob) });
    picture.onload = picture.onerror = () => URL.revokeObjectURL(picture.src);
    return picture;
  }
  if (family !== "audio" && family !== "video") return null;
  return make(family, { controls: true, playsInline: true, ariaLabel: words, src: URL.createObjectURL(blob) });
}

/// A link with its title; only to the web.
function card({ url, title, description }) {
  const address = URL.canParse(url) ? new URL(url) : null;
  if (!["http:", "https:"].includes(address?.protocol)) return null;
  const link = make("a", { href: address.href, target: "_blank", rel: "noopener noreferrer", textContent: title || address.href });
  return make("p", { className: "link" }, link, make("small", { textContent: address.host }),
    ...(description ? [make("span", { textContent: description })] : []));
}
