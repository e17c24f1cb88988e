// The public API of the server, with the session's cookie. Nothing else here sends requests, except uploads.
import { texts } from "./texts.js";

/**
 * A response that is not a success: the server's sentence, its code and its status.
 *
 * `errors` tells what is wrong with each member of the request, `location` which asset an upload would replace.
 */
export class Problem extends Error {
  constructor(status, { detail, code, errors = [] } = {}, location) {
    super(detail ?? `${status}`);
    Object.assign(this, { status, code, location });
    this.errors = errors.map((error) => ({ member: error.pointer.slice(2), detail: error.detail }));
  }
}

// Relative to /console/, so that a proxy may put the server below a path.
export const address = (path) => new URL(`..${path}`, document.baseURI).href;

/** The path of an asset, and of what is below it. */
export const assetPath = ({ richType, name }, below = "") =>
  `/api/assets/${encodeURIComponent(richType)}/${encodeURIComponent(name)}${below}`;

/** The address of an asset as a device gets it, or of what it had before, by its digest. */
export const assetMedia = (asset, query, version) =>
  address(assetPath(asset, `${version ? `/versions/${version}` : ""}/media${query ? `?${query}` : ""}`));

/** What is thrown while the server is out of reach, which the page also shows. */
function away() {
  dispatchEvent(new Event("server-away"));
  return new Problem(0, { detail: texts.noResponse });
}

async function send(method, path, body, headers) {
  let response;
  try {
    response = await fetch(address(path), {
      method,
      headers: { Accept: "application/json", ...(body && { "Content-Type": "application/json" }), ...headers },
      body: body instanceof Blob ? body : body && JSON.stringify(body),
    });
  } catch {
    throw away();
  }
  if (!response.ok) {
    const said = await response.json().catch(() => null);
    // A proxy answers in the server's place.
    if (!said && [502, 503, 504].includes(response.status)) throw away();
    const problem = new Problem(response.status, said ?? {});
    if (path !== "/api/session") tellSignedOut(problem);
    throw problem;
  }
  if (response.status === 204) return null;
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function tellSignedOut({ status }) {
  if (status === 401) dispatchEvent(new Event("signed-out"));
}

export const get = (path) => send("GET", path);
/** A table as text, as comma-separated values. */
export const download = (path) => send("GET", path, undefined, { Accept: "text/csv, application/problem+json" });
/** A table as text, a line of JSON for each row. */
export async function downloadLines(path) {
  const lines = await send("GET", path, undefined, { Accept: "application/x-ndjson, application/problem+json" });
  // One line alone is JSON.
  return typeof lines === "string" ? lines : `${JSON.stringify(lines)}\n`;
}
export const post = (path, body) => send("POST", path, body);
/** Sends a file of comma-separated values; with `isTable`, the answer is one, too. */
export const postTable = (path, file, isTable = false) => send("POST", path, file,
  { "Content-Type": "text/csv", ...(isTable && { Accept: "text/csv, application/problem+json" }) });
export const put = (path, body, headers) => send("PUT", path, body, headers);
export const patch = (path, body) => send("PATCH", path, body);
export const remove = (path) => send("DELETE", path);

/** A query without the values that are empty. */
export function query(values) {
  const pairs = Object.entries(values).filter(([, value]) => value !== "" && value !== undefined && value !== null);
  return pairs.length ? `?${new URLSearchParams(pairs)}` : "";
}

/**
 * Uploads a file as an asset; without a rich type, the server decides that by the content.
 *
 * `progress` gets the part sent, from 0 to 1; `signal` cancels it. Unless `replace` is true, the problem has the status
 * 412 and a location if there is such an asset.
 */
export function upload(file, { richType, name, replace }, progress, signal) {
  return new Promise((resolve, reject) => {
    // fetch does not tell the progress of a body.
    const request = new XMLHttpRequest();
    request.open(richType ? "PUT" : "POST", address(richType ? assetPath({ richType, name }) : `/api/assets${query({ name })}`));
    if (!replace) request.setRequestHeader("If-None-Match", "*");
    request.responseType = "json";
    request.upload.onprogress = (event) => progress(event.total ? event.loaded / event.total : 1);
    request.onload = () => {
      if (request.status < 300) return resolve(request.response);
      const problem = new Problem(request.status, request.response ?? {}, request.getResponseHeader("Location"));
      reject(problem);
      tellSignedOut(problem);
    };
    request.onerror = () => reject(new Problem(0, { detail: texts.uploads.brokeOff }));
    request.onabort = () => reject(signal.reason);
    signal.addEventListener("abort", () => request.abort());
    request.send(file);
  });
}
