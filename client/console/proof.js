/** Whether a session is as it was written. */

import { look, ownerOf } from "./api.js";
import { pathOfSession } from "./commands.js";
import { h } from "./dom.js";

/**
 * @param {import("./router.js").SessionKey} key
 * @returns {Promise<HTMLElement>}
 */
export async function proofOf(key) {
  try {
    return proven(await look(`${pathOfSession(key)}/proof`, ownerOf(key)), key.session);
  } catch (problem) {
    return h("p", { class: "wrong" }, /** @type {Error} */ (problem).message);
  }
}

/** @type {(proof: any, name: string) => HTMLElement} */
function proven({ threads, entries, erased, findings }, name) {
  const read = `${entries.toLocaleString("en")} entries of ${threads} ${threads === 1 ? "log" : "logs"}${erased ? `, ${erased} erased` : ""}`;
  if (!findings.length) return h("p", { class: "proven" }, `✓ ${name} is whole: ${read}.`);
  const list = findings.map((/** @type {any} */ one) => h("li", {}, h("code", {}, `${one.check}${one.seq ? ` at ${one.seq}` : ""}`), ` ${one.problem}`));
  return h("div", { class: "wrong" }, h("p", {}, `${name} is not as it was written (${read}):`), h("ul", {}, ...list));
}
