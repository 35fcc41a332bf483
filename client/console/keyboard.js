/**
 * Keys of the page that is open.
 *
 * Rule: a key does something only while nothing is being typed and no dialog is open, and each is on the page that `?`
 * shows. The only one while something is typed is Ctrl (or ⌘) and Enter: a text of several lines is sent with it.
 */

import { h } from "./dom.js";
import { openDialog } from "./dialog.js";

/** @typedef {{key: string, label: string, act: (event: KeyboardEvent) => unknown}} Shortcut */

/** @type {Shortcut[]} */
const everywhere = [];
/** @type {Shortcut[]} */
let ofPage = [];

/** @param {Shortcut[]} shortcuts */
export function bindEverywhere(shortcuts) {
  everywhere.push(...shortcuts);
}

/**
 * The keys of the page; those of the page before are gone.
 * @param {Shortcut[]} shortcuts
 */
export function bindPage(shortcuts) {
  ofPage = shortcuts;
}

/** Show all keys. */
export function showKeys() {
  const typing = { key: "Ctrl Enter", label: "send what is typed" };
  const rows = [...ofPage, ...everywhere, typing].map(({ key, label }) => [
    h("dt", {}, h("kbd", {}, key === " " ? "space" : key)),
    h("dd", {}, label),
  ]);
  openDialog("Keys", h("dl", { class: "keys" }, ...rows));
}

/** @param {KeyboardEvent} event */
function typed(event) {
  const target = /** @type {HTMLElement} */ (event.target);
  const typing = target.closest("input:not([type=checkbox]), textarea, select") !== null;
  if (typing && event.key === "Escape") target.blur();
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && target instanceof HTMLTextAreaElement && target.form) {
    event.preventDefault();
    target.form.requestSubmit();
  }
  if (typing || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  // A button that has the focus is pressed by its own keys.
  if ((event.key === "Enter" || event.key === " ") && target.closest("button, a, summary")) return;
  const found = [...ofPage, ...everywhere].find((one) => one.key === event.key);
  if (!found) return;
  event.preventDefault();
  found.act(event);
}

document.addEventListener("keydown", typed);
