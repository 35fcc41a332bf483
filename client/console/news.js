/** What just happened, said once and read out, in a corner of the page. */

import { h } from "./dom.js";

const SHOWN_MS = 6000;
const SHOWN_MAX = 4;

/**
 * @param {string} text
 * @param {"good" | "bad" | "plain"} [kind]
 */
export function tell(text, kind = "plain") {
  const place = /** @type {HTMLElement} */ (document.getElementById("news"));
  const item = h("p", { class: `news-item ${kind}` }, text);
  place.append(item);
  while (place.childElementCount > SHOWN_MAX) place.firstElementChild?.remove();
  setTimeout(() => item.remove(), kind === "bad" ? SHOWN_MS * 2 : SHOWN_MS);
}

/**
 * Do something, and say how it went; false, if it did not.
 * @param {string} done
 * @param {() => Promise<unknown>} act
 */
export async function telling(done, act) {
  try {
    await act();
    tell(done, "good");
    return true;
  } catch (error) {
    tell(error instanceof Error ? sentence(error.message) : String(error), "bad");
    return false;
  }
}

/** @param {string} text */
function sentence(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
