/**
 * What was said and fits what is searched for, the best first; each hit leads to its place.
 *
 * Rule: a snippet comes in parts, and what was found is marked by an element around a part, never by text in it.
 */

import { look } from "./api.js";
import { button, fill, h, write } from "./dom.js";
import { addressOfSession, addressOfThread } from "./router.js";
import { ticking } from "./times.js";

const PAGE_HITS = 20;
const PATIENCE_MS = 250;

export class Hits {
  #asked = 0;
  /** @type {string | null} */
  #next = null;
  /** @type {import("./api.js").Params} */
  #query = {};

  constructor() {
    this.list = h("ol", { class: "hits", "aria-label": "What was said" });
    this.told = h("p", { class: "empty", "aria-live": "polite" });
    this.more = button("More", () => this.#read(), { class: "quiet small", hidden: true });
    this.element = h("section", { class: "found", hidden: true }, this.list, this.told, this.more);
  }

  /**
   * Search, once nothing more is typed for a moment; nothing typed, nothing is shown.
   * @param {string} words
   * @param {string} user whose; nobody named, everybody's
   */
  async search(words, user) {
    this.#asked += 1;
    const asked = this.#asked;
    this.element.hidden = !words;
    if (!words) return;
    await new Promise((done) => setTimeout(done, PATIENCE_MS));
    if (asked !== this.#asked) return;
    this.#query = { q: words, user, limit: PAGE_HITS };
    this.#next = null;
    await this.#read();
  }

  async #read() {
    const asked = this.#asked;
    const after = this.#next;
    try {
      const page = await look("/search", { ...this.#query, after });
      if (asked !== this.#asked) return;
      const rows = page.items.map(rowOf);
      if (after) this.list.append(...rows);
      else fill(this.list, ...rows);
      this.#next = page.next;
      write(this.told, this.list.children.length ? "" : "Nothing that was said is like that.");
    } catch (problem) {
      if (asked !== this.#asked) return;
      if (!after) fill(this.list);
      this.#next = after;
      write(this.told, /** @type {Error} */ (problem).message);
    }
    this.told.hidden = !this.told.textContent;
    this.more.hidden = !this.#next;
  }
}

/** @param {any} hit */
function rowOf({ key, turn_id, seq, role, at_us, snippet }) {
  const title = role === "title";
  const where = title ? addressOfSession(key) : addressOfThread(key, { turn: turn_id, seq: String(seq) });
  const whose = key.session + (key.user ? ` · ${key.user}` : "");
  return h(
    "li",
    {},
    h(
      "a",
      { href: where },
      h("span", { class: "name" }, whose),
      h("span", { class: "faint" }, title ? "title" : `${key.agent} · ${role}`),
      ticking(at_us),
      h("q", {}, ...snippet.map((/** @type {any} */ part) => (part.found ? h("mark", {}, part.text) : part.text))),
    ),
  );
}
