/**
 * Elements made of values.
 *
 * Rule: a value is always text. Nothing here or anywhere in the console parses markup, so what a tool or a model said
 * is shown as it was said.
 */

/** @typedef {Node | string | number | null | undefined | false} Child */

/**
 * Make an element. Props beginning with `on` are listeners, `dataset` is one, true and false add and leave out an
 * attribute, and everything else is an attribute.
 * @param {string} tag
 * @param {Record<string, any>} [props]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElement}
 */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "dataset") Object.assign(element.dataset, value);
    else if (name === "value") /** @type {any} */ (element).value = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  fill(element, ...children);
  return element;
}

/**
 * Replace what is in an element.
 * @param {Element} element
 * @param {...(Child | Child[])} children
 */
export function fill(element, ...children) {
  const nodes = children.flat().filter((child) => child !== null && child !== undefined && child !== false);
  element.replaceChildren(...nodes.map((child) => (child instanceof Node ? child : String(child))));
}

/**
 * Set an element's text, and touch nothing if it is the same.
 * @param {Element} element
 * @param {string} text
 */
export function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** @type {WeakMap<Element, Map<string, HTMLElement>>} */
const KEPT = new WeakMap();

/**
 * Make an element's children those of a list, keeping the ones it has: what is typed or focused in them stays.
 * @template T
 * @param {Element} parent
 * @param {T[]} items
 * @param {(item: T) => string} keyOf
 * @param {(item: T) => HTMLElement} make
 * @param {(element: HTMLElement, item: T) => void} [update]
 */
export function reconcile(parent, items, keyOf, make, update) {
  const known = KEPT.get(parent) ?? new Map();
  const next = new Map();
  for (const item of items) next.set(keyOf(item), known.get(keyOf(item)) ?? make(item));
  for (const [key, element] of known) if (!next.has(key)) element.remove();
  let place = parent.firstElementChild;
  for (const item of items) {
    const element = /** @type {HTMLElement} */ (next.get(keyOf(item)));
    if (element === place) place = place.nextElementSibling;
    else parent.insertBefore(element, place);
    update?.(element, item);
  }
  KEPT.set(parent, next);
}

/**
 * A button.
 * @param {string} label
 * @param {(event: Event) => unknown} act
 * @param {Record<string, any>} [props]
 */
export function button(label, act, props = {}) {
  const { shortcut, ...more } = props;
  const key = shortcut ? h("kbd", { "aria-hidden": "true" }, shortcut) : null;
  return h("button", { type: "button", onclick: act, "aria-keyshortcuts": shortcut, ...more }, h("span", {}, label), key);
}
