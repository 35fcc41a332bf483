/** A word with a colour that means the same everywhere. */

import { h, write } from "./dom.js";

/** @type {Record<string, string>} */
const TONES = {
  queued: "plain",
  running: "live",
  waiting: "asks",
  pausing: "held",
  paused: "held",
  cancelling: "held",
  completed: "good",
  failed: "bad",
  cancelled: "plain",
  alive: "good",
  lapsed: "held",
  dead: "bad",
  approval: "asks",
  form: "asks",
  external: "live",
  unknown_outcome: "bad",
  budget: "held",
  success: "good",
  succeeded: "good",
  error: "bad",
  denied: "held",
  interrupted: "held",
  unknown: "bad",
  lost: "bad",
  drained: "held",
  deferred: "asks",
};

/**
 * @param {string} word
 * @param {string} [text]
 * @returns {HTMLElement}
 */
export function chip(word, text) {
  const made = h("span", { class: "chip" });
  rechip(made, word, text);
  return made;
}

/**
 * Make a chip say another word.
 * @param {HTMLElement} element
 * @param {string} word
 * @param {string} [text]
 */
export function rechip(element, word, text = word.replace("_", " ")) {
  const tone = TONES[word] ?? "plain";
  if (element.dataset.tone !== tone) element.dataset.tone = tone;
  write(element, text);
}
