/**
 * A list of which only the rows in sight exist, however long it is.
 *
 * Rule: a row has one height, and an element is used again for another row. The cursor is a row's key, so it stays on
 * its row when others come above it.
 */

import { h } from "./dom.js";

const SPARE_ROWS = 6;

/** @template T */
export class Rows {
  /** @type {T[]} */
  items = [];
  /** @type {string | null} */
  cursor = null;
  /** @type {HTMLElement[]} */
  #elements = [];
  #drawn = false;

  /**
   * @param {object} given
   * @param {string} given.label
   * @param {(item: T) => string} given.keyOf
   * @param {() => HTMLElement} given.make an empty row
   * @param {(row: HTMLElement, item: T) => void} given.update fill a row
   * @param {() => void} given.onend the end is near: get more
   * @param {(item: T) => void} given.onopen
   * @param {() => number} given.rowHeight
   */
  constructor(given) {
    this.given = given;
    this.space = h("div", { class: "rows-space", role: "presentation" });
    this.scroller = h("div", { class: "rows", role: "grid", tabindex: "0", "aria-label": given.label }, this.space);
    this.scroller.addEventListener("scroll", () => this.draw(), { passive: true });
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(this.scroller);
  }

  /** @returns {T | undefined} the row the cursor is on */
  get current() {
    return this.items.find((item) => this.given.keyOf(item) === this.cursor);
  }

  /** @returns {[number, number]} the first and the last row in sight */
  get sight() {
    const height = this.given.rowHeight();
    const first = Math.floor(this.scroller.scrollTop / height);
    return [first, Math.min(this.items.length, first + Math.ceil(this.scroller.clientHeight / height))];
  }

  /** @param {T[]} items */
  show(items) {
    const grown = this.#above(items);
    this.items = items;
    if (grown) this.scroller.scrollTop += grown * this.given.rowHeight();
    this.draw();
  }

  /**
   * Move the cursor, and bring it into sight.
   * @param {number} by
   */
  step(by) {
    if (!this.items.length) return;
    const at = this.items.findIndex((item) => this.given.keyOf(item) === this.cursor);
    const next = Math.max(0, Math.min(this.items.length - 1, at < 0 ? this.sight[0] : at + by));
    this.cursor = this.given.keyOf(this.items[next]);
    const height = this.given.rowHeight();
    const { scrollTop, clientHeight } = this.scroller;
    if (next * height < scrollTop) this.scroller.scrollTop = next * height;
    else if ((next + 1) * height > scrollTop + clientHeight) this.scroller.scrollTop = (next + 1) * height - clientHeight;
    this.draw();
  }

  /** Draw at the next frame. */
  draw() {
    if (this.#drawn) return;
    this.#drawn = true;
    requestAnimationFrame(() => {
      this.#drawn = false;
      this.#draw();
    });
  }

  /** How many rows came above what is read, if something below the top is. @param {T[]} items */
  #above(items) {
    const [first] = this.sight;
    if (!first || !this.items[first]) return 0;
    const key = this.given.keyOf(this.items[first]);
    const now = items.findIndex((item) => this.given.keyOf(item) === key);
    return now < 0 ? 0 : now - first;
  }

  #draw() {
    const { rowHeight, keyOf, update, onend } = this.given;
    const height = rowHeight();
    this.space.style.height = `${this.items.length * height}px`;
    const [first, last] = this.sight;
    const from = Math.max(0, first - SPARE_ROWS);
    const until = Math.min(this.items.length, last + SPARE_ROWS);
    while (this.#elements.length < until - from) this.#elements.push(this.#made());
    this.scroller.removeAttribute("aria-activedescendant");
    this.#elements.forEach((element, i) => {
      const item = this.items[from + i];
      element.hidden = from + i >= until;
      if (element.hidden) return;
      element.style.transform = `translateY(${(from + i) * height}px)`;
      element.dataset.index = String(from + i);
      element.setAttribute("aria-rowindex", String(from + i + 1));
      const current = keyOf(item) === this.cursor;
      element.setAttribute("aria-selected", String(current));
      if (current) this.scroller.setAttribute("aria-activedescendant", element.id);
      update(element, item);
    });
    if (until >= this.items.length - SPARE_ROWS) onend();
  }

  #made() {
    const element = this.given.make();
    element.id = `row-${Math.random().toString(36).slice(2)}`;
    element.setAttribute("role", "row");
    for (const cell of element.children) cell.setAttribute("role", "gridcell");
    element.classList.add("row");
    element.addEventListener("click", (event) => {
      if (/** @type {HTMLElement} */ (event.target).closest("button, input, label")) return;
      const item = this.items[Number(element.dataset.index)];
      this.cursor = this.given.keyOf(item);
      this.draw();
      this.given.onopen(item);
    });
    this.space.append(element);
    return element;
  }
}
