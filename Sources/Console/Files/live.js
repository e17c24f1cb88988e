// One stream of events for the page: changes of assets, counts of notifications, and what awaits approval.
import { address } from "./api.js";

let source;

/** Opens the stream; the browser opens it again, after the last event, where it breaks off. */
export function connect() {
  close();
  source = new EventSource(address("/api/events/stream?counts"));
  for (const type of ["asset", "counts", "approval"]) {
    source.addEventListener(type, (event) =>
      dispatchEvent(new CustomEvent(`live:${type}`, { detail: JSON.parse(event.data) })));
  }
  // The stream is the first to notice, also while nobody does anything.
  source.onerror = () => dispatchEvent(new Event("server-away"));
  source.onopen = () => dispatchEvent(new Event("live:open"));
}

/** Opens the stream again if the browser has given it up, as it does after an answer that is no stream. */
export function reconnect() {
  if (!source || source.readyState === EventSource.CLOSED) connect();
}

export function close() {
  source?.close();
  source = undefined;
}

/** Calls a function for events of a type for as long as an element is in the document. */
export function listen(element, type, handler) {
  const listener = (event) => {
    if (element.isConnected) handler(event.detail);
    else removeEventListener(`live:${type}`, listener);
  };
  addEventListener(`live:${type}`, listener);
}
