/**
 * What changed from one value to another, as paths with what was and what is.
 *
 * Rule: lists of things that have an id, or are entries' own, are compared by it, so one more message at the front is
 * one change and not a hundred.
 */

/** @typedef {{path: string, was: any, is: any}} Change `undefined`: it was not there */

const CHANGES_MAX = 500;

/**
 * @param {any} was
 * @param {any} is
 * @returns {Change[]}
 */
export function differences(was, is) {
  /** @type {Change[]} */
  const found = [];
  compare("", was, is, found);
  return found;
}

/** @type {(path: string, was: any, is: any, found: Change[]) => void} */
function compare(path, was, is, found) {
  if (found.length >= CHANGES_MAX || Object.is(was, is)) return;
  if (!isTree(was) || !isTree(is) || Array.isArray(was) !== Array.isArray(is)) {
    if (JSON.stringify(was) !== JSON.stringify(is)) found.push({ path, was, is });
    return;
  }
  const old = partsOf(was);
  const now = partsOf(is);
  const dot = path && !Array.isArray(was) ? "." : "";
  for (const name of new Set([...old.keys(), ...now.keys()])) {
    const at = Array.isArray(was) ? `${path}[${name}]` : `${path}${dot}${name}`;
    compare(at, old.get(name), now.get(name), found);
  }
}

/** @param {any} value */
function isTree(value) {
  return value !== null && typeof value === "object";
}

/**
 * @param {any} tree
 * @returns {Map<string, any>}
 */
function partsOf(tree) {
  if (!Array.isArray(tree)) return new Map(Object.entries(tree));
  return new Map(tree.map((one, i) => [nameOf(one) ?? String(i), one]));
}

/** @param {any} one */
function nameOf(one) {
  if (!isTree(one)) return null;
  if (one.seq && one.role) return `#${one.seq} ${one.role}`;
  return one.id ?? (one.tool ? [one.tool, one.pattern].filter(Boolean).join(" ") : null);
}
