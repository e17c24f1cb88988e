// What makes one JSON value of another (RFC 7396).

/** The patch with which `old` becomes `new`; undefined if they are the same. */
export function mergePatch(old, value) {
  if (value === undefined) return old === undefined ? undefined : null;
  if (!isObject(value)) return JSON.stringify(old) === JSON.stringify(value) ? undefined : value;
  const before = isObject(old) ? old : {};
  const patch = {};
  for (const name of new Set([...Object.keys(before), ...Object.keys(value)])) {
    const change = mergePatch(before[name], value[name]);
    if (change !== undefined) patch[name] = change;
  }
  return isObject(old) && !Object.keys(patch).length ? undefined : patch;
}

/** Whether a patch would have to set something to null, which it cannot: there, null removes. */
export const setsNull = (old, value) =>
  isObject(value) ? Object.keys(value).some((name) => setsNull(isObject(old) ? old[name] : undefined, value[name])) : value === null && old !== null;

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
