/**
 * What a thread asks, at the end of its conversation, answered in place.
 *
 * Rule: a card stays while something is typed on it; it goes when its question is settled, by whomever. A key answers
 * only the card that has the focus, so nothing is answered that is out of sight.
 */

import { look, ownerOf } from "./api.js";
import { h, reconcile } from "./dom.js";
import { cardOf, keyOn, wholeOf } from "./question.js";

const SHOWN_MAX = 20;

export class Asked {
  #asked = 0;

  /**
   * @param {import("./router.js").ThreadKey} key
   * @param {() => void} onsettled
   */
  constructor(key, onsettled) {
    this.key = key;
    this.onsettled = onsettled;
    this.element = h("div", { class: "cards", "aria-label": "Questions", role: "group" });
  }

  get shortcuts() {
    const on = (/** @type {string} */ key) => () => (this.#current ? keyOn(this.#current, key)?.() : this.reveal());
    return [
      { key: "q", label: "go to what is asked", act: () => this.reveal() },
      { key: "a", label: "there, approve it, or begin the answer", act: on("a") },
      { key: "d", label: "there, deny or decline it", act: on("d") },
      { key: "e", label: "there, edit its arguments", act: on("e") },
    ];
  }

  /** Read them again; whether there are some is known. @param {boolean} some */
  async look(some) {
    const asked = (this.#asked += 1);
    const found = some ? await this.#open().catch(() => null) : [];
    if (found && asked === this.#asked) reconcile(this.element, found, (one) => one.interaction_id, (one) => cardOf(one, this.onsettled));
  }

  /** Bring the first into sight. */
  reveal() {
    const first = /** @type {HTMLElement | null} */ (this.element.querySelector(".card"));
    first?.scrollIntoView({ block: "nearest" });
    first?.focus();
  }

  /** @returns {HTMLElement | null} */
  get #current() {
    return this.element.querySelector(".card:focus-within");
  }

  async #open() {
    const { session, agent, thread } = this.key;
    const page = await look("/interactions", { ...ownerOf(this.key), session, agent, thread, limit: SHOWN_MAX });
    return wholeOf(page.items);
  }
}
