/**
 * What tools and models said, as text: arguments, results, whole objects.
 *
 * Rule: a value is shown whole or says how much of it is left out, and what is long waits until it is wanted.
 */

import { button, h } from "./dom.js";
import { mediaOf } from "./media.js";

const LONG_CHARACTERS = 1200;
const FIELDS_MAX = 40;

/**
 * An object's fields in a table: short ones beside their names, others below.
 * @param {Record<string, any>} object
 * @returns {HTMLElement}
 */
export function fieldsOf(object) {
  const names = Object.keys(object);
  if (!names.length) return h("p", { class: "faint" }, "nothing");
  const rows = names.slice(0, FIELDS_MAX).map((name) => [h("dt", {}, name), h("dd", {}, valueOf(object[name]))]);
  const left = names.length - FIELDS_MAX;
  return h("dl", { class: "fields" }, ...rows, left > 0 && h("dd", { class: "faint" }, `and ${left} more`));
}

/**
 * @param {any} value
 * @returns {HTMLElement}
 */
export function valueOf(value) {
  if (typeof value === "string") return textOf(value);
  if (value === null || typeof value !== "object") return h("code", {}, String(value));
  return textOf(JSON.stringify(value, null, 2), "code");
}

/**
 * A text of any length; a long one begins folded.
 * @param {string} text
 * @param {"words" | "code"} [kind]
 * @returns {HTMLElement}
 */
export function textOf(text, kind = "words") {
  if (text.length <= LONG_CHARACTERS) return h("div", { class: `text ${kind}`, dir: "auto" }, text);
  const body = h("div", { class: `text ${kind}`, dir: "auto" }, text.slice(0, LONG_CHARACTERS));
  const more = button(`${(text.length - LONG_CHARACTERS).toLocaleString("en")} more characters`, () => {
    body.textContent = text;
    more.remove();
  }, { class: "quiet small" });
  return h("div", {}, body, more);
}

/**
 * Blocks of a message or a result, one after the other; calls are for the reader of the conversation.
 * @param {any[]} blocks
 * @returns {HTMLElement[]}
 */
export function blocksOf(blocks) {
  return blocks.map((block) => {
    switch (block.type) {
      case "text":
        return textOf(block.text);
      case "thinking":
        return h("details", { class: "thinking" }, h("summary", {}, "Thinking"), textOf(block.text));
      case "tool_call":
        return h("p", { class: "faint" }, "calls ", h("code", {}, block.name));
      case "media":
        return mediaOf(block);
      default:
        return textOf(JSON.stringify(block, null, 2), "code");
    }
  });
}
