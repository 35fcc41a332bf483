/** What workers are called: entries name a presence, people know a label. */

import { look } from "./api.js";

const FRESH_MS = 30_000;
/** @type {Map<string, string>} */
const names = new Map();
let lookedMs = -Infinity;

/**
 * @param {string} presence
 * @returns {string}
 */
export function workerName(presence) {
  return names.get(presence) ?? presence;
}

/** Learn the names, if the reader may see the machinery. */
workerName.load = async () => {
  if (performance.now() - lookedMs < FRESH_MS) return;
  lookedMs = performance.now();
  await look("/system").then(keepNames).catch(() => undefined);
};

/** @param {any} system */
export function keepNames(system) {
  for (const one of system.workers) if (one.label) names.set(one.presence_id, one.pid ? `${one.label} ${one.pid}` : one.label);
}
