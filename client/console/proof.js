/** Whether a session is as it was written. */

import { look, ownerOf } from "./api.js";
import { pathOfSession } from "./commands.js";
import { h } from "./dom.js";

/** All of a session is read before anything is answered. */
const READ_MS_MAX = 600_000;

/**
 * What of a session is not as it was written; one that could not be read is not proven. Null: there is no such session.
 * @param {import("./router.js").SessionKey} key
 * @returns {Promise<{threads: number, entries: number, erased: number, findings: any[]} | null>}
 */
export async function proofIn(key) {
  try {
    return await look(`${pathOfSession(key)}/proof`, ownerOf(key), READ_MS_MAX);
  } catch (problem) {
    const { status, message } = /** @type {any} */ (problem);
    return status === 404 ? null : { threads: 0, entries: 0, erased: 0, findings: [{ check: "read", problem: message }] };
  }
}

/**
 * @param {import("./router.js").SessionKey} key
 * @returns {Promise<HTMLElement>}
 */
export async function proofOf(key) {
  const proof = await proofIn(key);
  return proof ? proven(proof, key.session) : h("p", { class: "wrong" }, `There is no session ${key.session} any more.`);
}

/** @type {(proof: any, name: string) => HTMLElement} */
function proven({ threads, entries, erased, findings }, name) {
  const read = `${entries.toLocaleString("en")} entries of ${threads} ${threads === 1 ? "log" : "logs"}${erased ? `, ${erased} erased` : ""}`;
  if (!findings.length) return h("p", { class: "proven" }, `✓ ${name} is whole: ${read}.`);
  const list = findings.map((/** @type {any} */ one) => h("li", {}, h("code", {}, `${one.check}${one.seq ? ` at ${one.seq}` : ""}`), ` ${one.problem}`));
  return h("div", { class: "wrong" }, h("p", {}, `${name} is not as it was written (${read}):`), h("ul", {}, ...list));
}
