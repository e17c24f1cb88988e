// A client of a richpush server, in one classic script, which defines RichPush: for pages, for workers (importScripts), for programs.
//
//   const client = new RichPush({ server: "https://push.example", token });
//   const { unread, notifications, next } = await client.inbox({ limit: 30 });
//   const picture = await (await client.media(7, { profile: "web", width: 800 })).blob();
//   client.stream({ onPush: (push) => console.log(push.richId), signal });
"use strict";

(() => {
  /** What the server refused: its sentence as `message`, `status` (0 if it was not reached), `code`, `retryAfter` in seconds. */
  class Problem extends Error {
    constructor(status, { detail, code, errors } = {}, retryAfter) {
      super(detail ?? (status ? `The server answered ${status}.` : "The server cannot be reached."));
      Object.assign(this, { name: "RichPushProblem", status, code, errors, retryAfter });
    }
  }

  const pause = (seconds, signal) => new Promise((resolve) => {
    const timer = setTimeout(resolve, seconds * 1000);
    signal?.addEventListener("abort", () => { clearTimeout(timer); resolve(); }, { once: true });
  });
  const base64 = (bytes) => btoa(String.fromCharCode(...bytes));
  const query = (values) => {
    const pairs = Object.entries(values).filter(([, value]) => value !== undefined && value !== null && value !== "" && value !== false);
    return pairs.length ? `?${new URLSearchParams(pairs)}` : "";
  };

  class RichPush {
    /**
     * A client with the token of a device, with a user's name and password, or with neither.
     *
     * `server` is the server's address, with a path if a proxy puts it below one; without it the page's own host is asked.
     * `fetch` replaces the platform's own.
     */
    constructor({ server = "/", token, user, password, fetch } = {}) {
      this.server = new URL(server, self.location?.href);
      if (!this.server.pathname.endsWith("/")) this.server.pathname += "/";
      this.fetch = fetch ?? ((...request) => self.fetch(...request));
      if (token) this.authorization = `Bearer ${token}`;
      else if (user !== undefined) this.authorization = `Basic ${base64(new TextEncoder().encode(`${user}:${password}`))}`;
    }

    /**
     * Sends a request below /api/; returns the response, or what `read` makes of it in the same time, or throws a Problem. All other
     * calls are made of this one.
     */
    async send(method, path, { body, headers, signal, seconds = 30, read } = {}) {
      const end = new AbortController();
      const timer = seconds && setTimeout(() => end.abort(), seconds * 1000);
      const abort = () => end.abort();
      if (signal?.aborted) abort();
      signal?.addEventListener("abort", abort);
      let isOpen = false;
      try {
        const response = await this.fetch(new URL(`api/${path}`, this.server), {
          method, signal: end.signal, cache: "no-store", credentials: "omit",
          body: body === undefined ? undefined : JSON.stringify(body),
          headers: {
            Accept: "application/json, */*;q=0.5", ...(body !== undefined && { "Content-Type": "application/json" }),
            ...(this.authorization && { Authorization: this.authorization }), ...headers,
          },
        });
        if (response.ok) {
          // Who reads the body later can still abort that.
          isOpen = !read;
          return read ? await read(response) : response;
        }
        const wait = Number(response.headers.get("Retry-After")) || undefined;
        throw new Problem(response.status, await response.json().catch(() => undefined), wait);
      } catch (problem) {
        throw problem instanceof Problem ? problem : new Problem(0);
      } finally {
        clearTimeout(timer);
        if (!isOpen) signal?.removeEventListener("abort", abort);
      }
    }

    #json(method, path, options) {
      return this.send(method, path, { ...options, read: (response) => (response.status === 204 ? null : response.json()) });
    }

    // Before anybody is signed in.

    /** What the server says to anybody: name, colour, subjects, whether one can sign up, the key of Web Push. */
    app() { return this.#json("GET", "app"); }

    /** Redeems a pairing code: `{code, name, language, timeZone}` gives `{registration, user, token}`. */
    pair(request) { return this.#json("POST", "pair", { body: request }); }

    /** Ends a pairing code and returns another one for the same user, for the Home Screen app of an iPhone. */
    forward(code) { return this.#json("POST", "pair/forward", { body: { code } }); }

    /** Signs up for subjects: `{subjects, name, language, timeZone, webpush}` gives `{registration, user, token, waiting}`. */
    signUp(request) { return this.#json("POST", "sign-up", { body: request }); }

    // The inbox.

    /** A page, newest first: `{unread, notifications, next}`; `next`, if there is one, goes to `nextPage`. */
    inbox({ subject, search, unread, limit, before, signal } = {}) {
      return this.#json("GET", `notifications${query({ subject, search, unread, limit, before })}`, { signal });
    }

    /** The page that `next` of another one names. */
    nextPage(next, { signal } = {}) { return this.#json("GET", next.replace(/^.*?\/api\//, ""), { signal }); }

    /** All notifications, page by page: `for await (const notification of client.all())`. */
    async *all(options) {
      for (let page = await this.inbox(options); ; page = await this.nextPage(page.next)) {
        yield* page.notifications;
        if (!page.next) return;
      }
    }

    /** A notification with its signed links. */
    notification(id) { return this.#json("GET", `notifications/${id}/details`); }

    /** The media of a notification as a Response: the original, or with `{profile, width, height, dpr, …}`. The device's receipt. */
    media(id, options = {}, { signal, seconds = 120 } = {}) {
      return this.send("GET", `notifications/${id}${query(options)}`, { signal, seconds });
    }

    /** Marks a notification as read. */
    markRead(id) { return this.send("PUT", `notifications/${id}/read`); }

    /** Marks everything as read up to a notification; gives `{unread}`. */
    markAllRead(until) { return this.#json("POST", "notifications/read", { body: { until } }); }

    /** Removes a notification from the user's inbox, on all devices; `unhide` brings it back. */
    hide(id) { return this.send("PUT", `notifications/${id}/hidden`); }
    unhide(id) { return this.send("DELETE", `notifications/${id}/hidden`); }

    /**
     * Reports `{event: "displayed" | "opened" | "dismissed"}`, `{event: "action", action}` or `{event: "reply", action, text}`.
     *
     * Tries again for a few seconds while the server is away. A reply without a `key` gets one, so that it arrives once.
     */
    async report(id, interaction) {
      const body = interaction.event === "reply" ? { key: RichPush.key(), ...interaction } : interaction;
      for (const seconds of [1, 4, 0]) {
        try {
          return await this.send("POST", `notifications/${id}/interactions`, { body });
        } catch (problem) {
          if (!seconds || problem.status && problem.status < 500) throw problem;
          await pause(seconds);
        }
      }
    }

    /** A name for a reply, which no other has. */
    static key() {
      return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    }

    // Devices.

    /** The user's devices; with a device's token that one, and `others`. */
    devices() { return this.#json("GET", "registrations"); }

    /** Registers a device under an ID of one's own: `{platform, handle, keys, name, tags, language, timeZone, quietHours}`. */
    register(id, device) {
      return this.#json("PUT", `register/${encodeURIComponent(id)}`, { body: device, headers: { Accept: "application/json" } });
    }

    /** Changes what is given of `{name, tags, language, timeZone, quietHours, platform}`; null removes one. */
    update(id, changes) { return this.#json("PATCH", `register/${encodeURIComponent(id)}`, { body: changes }); }

    /** Ends a registration, and with it the device's token. */
    unregister(id) { return this.send("DELETE", `register/${encodeURIComponent(id)}`, { seconds: 10 }); }

    /** A token for a device; needs the password. */
    newToken(id) { return this.#json("POST", `register/${encodeURIComponent(id)}/token`); }

    /** A one-time code for another device: `{code, shortCode, link, qrCode, expires}`; needs the password. */
    pairing(user) { return this.#json("POST", "pairings", { body: user === undefined ? {} : { user } }); }

    /** Takes a code back. */
    endPairing(id) { return this.send("DELETE", `pairings/${id}`); }

    /** Registers this browser for Web Push under an ID, and returns what the server says about it. */
    async registerBrowser(worker, id, { key, ...device } = {}) {
      const vapidKey = key ?? (await this.#json("GET", "push/vapid")).key;
      const { endpoint, keys } = (await RichPush.subscription(worker, vapidKey)).toJSON();
      return this.register(id, { platform: "webpush", handle: endpoint, keys, ...device });
    }

    /**
     * The subscription of a service worker's registration with the server's key; permission must have been given.
     *
     * Throws after some seconds if the browser's push service is out of reach.
     */
    static async subscription(worker, key) {
      const has = await worker.pushManager.getSubscription();
      const keyOf = (subscription) => base64(new Uint8Array(subscription.options.applicationServerKey ?? []))
        .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
      if (has && keyOf(has) === key) return has;
      // A subscription with another key stands in the way of a new one.
      await has?.unsubscribe();
      const ask = (seconds) => {
        const asked = worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
        asked.catch(() => {});
        return Promise.race([asked, pause(seconds)]);
      };
      // Firefox may never answer the first request of a new profile, and no browser if its service is out of reach.
      const found = await ask(5) ?? await ask(15);
      if (!found) throw Object.assign(new Problem(0, { detail: "The push service of this browser cannot be reached." }), { code: "push-service" });
      return found;
    }

    // Live.

    /**
     * Calls `onPush` with each push of the user until `signal` aborts, connecting again by itself.
     *
     * `onOpen` is called at each connection, `onLost` when one ends. Rejects with a Problem if the credentials have ended.
     */
    async stream({ onPush, onOpen, onLost, signal, lastEventID } = {}) {
      let failures = 0;
      while (!signal?.aborted) {
        try {
          const headers = { Accept: "text/event-stream", ...(lastEventID !== undefined && { "Last-Event-ID": lastEventID }) };
          const response = await this.send("GET", "push/stream", { headers, signal, seconds: 0 });
          failures = 0;
          onOpen?.();
          for await (const event of RichPush.#events(response.body.getReader(), signal)) {
            lastEventID = event.id ?? lastEventID;
            if (event.data) onPush?.(JSON.parse(event.data));
          }
        } catch (problem) {
          if (problem.status === 401 || problem.status === 403) throw problem;
        }
        if (signal?.aborted) return;
        onLost?.();
        failures += 1;
        await pause(Math.min(30, 2 ** (failures - 1)) * (0.5 + Math.random() / 2), signal);
      }
    }

    /** Server-sent events from a body. The server sends something every 15 seconds: silence means a dead connection. */
    static async *#events(reader, signal) {
      const decoder = new TextDecoder();
      let text = "";
      let event = {};
      const cancel = () => reader.cancel().catch(() => {});
      signal?.addEventListener("abort", cancel, { once: true });
      try {
        for (;;) {
          const part = await Promise.race([reader.read(), pause(60).then(() => ({ done: true }))]);
          if (part.done) return;
          text += decoder.decode(part.value, { stream: true });
          const lines = text.split(/\r\n|\n|\r/);
          text = lines.pop();
          for (const line of lines) {
            const [, name, value] = /^(\w*): ?(.*)$/s.exec(line) ?? [];
            if (name === "id") event.id = value;
            else if (name === "data") event.data = event.data === undefined ? value : `${event.data}\n${value}`;
            else if (!line) {
              yield event;
              event = {};
            }
          }
        }
      } finally {
        signal?.removeEventListener("abort", cancel);
        cancel();
      }
    }
  }

  RichPush.Problem = Problem;
  globalThis.RichPush = RichPush;
})();
