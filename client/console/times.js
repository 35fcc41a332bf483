/**
 * Times and amounts for people.
 *
 * Rule: the store's clock is in microseconds. An age on the page grows by itself, and its width does not jump.
 */

const UNITS = /** @type {[number, string][]} */ ([[86_400, "d"], [3_600, "h"], [60, "m"], [1, "s"]]);

/**
 * Such as `0.4 s`, `12 s`, `3 m 5 s`, `2 h`.
 * @param {number} us
 */
export function duration(us) {
  const seconds = Math.max(0, us) / 1e6;
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  let left = Math.round(seconds);
  const parts = [];
  for (const [size, unit] of UNITS) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count) parts.push(`${count} ${unit}`);
    else if (parts.length) break;
  }
  return parts.slice(0, 2).join(" ");
}

/**
 * How long ago, in one unit: it is read at a glance.
 * @param {number} us
 */
export function age(us) {
  const seconds = Math.max(0, Math.floor((Date.now() * 1000 - us) / 1e6));
  for (const [size, unit] of UNITS) if (seconds >= size) return `${Math.floor(seconds / size)} ${unit}`;
  return "now";
}

/**
 * The time of day, with the date if it was another day.
 * @param {number} us
 */
export function clock(us) {
  const at = new Date(us / 1000);
  const time = at.toLocaleTimeString("en-GB");
  return at.toDateString() === new Date().toDateString() ? time : `${at.toLocaleDateString("en-CA")} ${time}`;
}

/**
 * An element whose text follows the clock.
 * @param {number} us
 * @param {"age" | "until"} [kind]
 * @returns {HTMLTimeElement}
 */
export function ticking(us, kind = "age") {
  const element = document.createElement("time");
  retime(element, us, kind);
  return element;
}

/**
 * Give a ticking element another time.
 * @param {HTMLElement} element
 * @param {number} us
 * @param {"age" | "until"} [kind]
 */
export function retime(element, us, kind = "age") {
  element.dataset.us = String(us);
  element.dataset.kind = kind;
  element.title = new Date(us / 1000).toISOString();
  tick(element);
}

/** @param {HTMLElement} element */
function tick(element) {
  const us = Number(element.dataset.us);
  const text = element.dataset.kind === "until" ? duration(us - Date.now() * 1000) : age(us);
  if (element.textContent !== text) element.textContent = text;
}

setInterval(() => {
  if (!document.hidden) document.querySelectorAll("time[data-us]").forEach((one) => tick(/** @type {any} */ (one)));
}, 1000);

/**
 * A number that stays short, such as `1,204` or `1.2 M`.
 * @param {number} number
 */
export function amount(number) {
  if (number < 100_000) return number.toLocaleString("en");
  return number < 1e6 ? `${(number / 1e3).toFixed(0)} k` : `${(number / 1e6).toFixed(1)} M`;
}

/** @param {number} bytes */
export function size(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  const units = ["kB", "MB", "GB", "TB"];
  const power = Math.min(Math.floor(Math.log2(bytes) / 10), units.length);
  return `${(bytes / 1024 ** power).toFixed(1)} ${units[power - 1]}`;
}

/** @param {number} microusd */
export function dollars(microusd) {
  return `$${(microusd / 1e6).toFixed(microusd < 10_000 ? 4 : 2)}`;
}
