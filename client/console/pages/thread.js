/**
 * A thread: its conversation, its timeline and its state, live.
 *
 * Rule: entries are read once and then followed from the last one; what is shown is their fold. Older ones are read when
 * somebody wants to see them.
 */

import { look, ownerOf } from "../api.js";
import { Asked } from "../asked.js";
import { pathOfThread } from "../commands.js";
import { Conversation } from "../conversation.js";
import { button, h } from "../dom.js";
import { bindPage } from "../keyboard.js";
import { Ledger } from "../ledger.js";
import { Pulse } from "../pulse.js";
import { threadIn } from "../router.js";
import { StateView } from "../state_view.js";
import { Stream } from "../stream.js";
import { ThreadHead } from "../thread_head.js";
import { Timeline } from "../timeline.js";
import { workerName } from "../workers.js";

const ENTRIES_AT_FIRST = 500;
const ENTRIES_BEFORE = 50;
const PAGE_ENTRIES = 500;
const STATUS_EVERY_MS = 4000;
const STATUS_SOON_MS = 120;
const NARROW = matchMedia("(max-width: 900px)");

/** @type {import("../shell.js").Page} */
export function threadPage(place) {
  const page = new ThreadPage(threadIn(place.params), place.params);
  page.open();
  return { title: `${page.key.session} · ${page.key.agent}`, element: page.element, close: () => page.close() };
}

class ThreadPage {
  /** @type {any[]} */
  entries = [];
  ledger = new Ledger();
  #closed = false;
  #drawing = false;
  /** @type {Stream | null} */
  #stream = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #soon;

  /**
   * @param {import("../router.js").ThreadKey} key
   * @param {URLSearchParams} params
   */
  constructor(key, params) {
    this.key = key;
    this.turn = params.get("turn");
    this.seq = Number(params.get("seq")) || 0;
    this.asked = new Asked(key, () => this.#look());
    this.head = new ThreadHead(key, () => this.#look(), () => this.#showAsked());
    this.conversation = new Conversation(this.asked.element);
    this.state = new StateView(key);
    this.timeline = new Timeline(workerName, (seq) => this.#stateAt(seq));
    this.earlier = button("Earlier entries", () => this.#readEarlier(), { class: "quiet small", hidden: true });
    this.tabs = ["Conversation", "Timeline", "State"].map((name) => button(name, () => this.#tab(name), { role: "tab" }));
    this.panes = h("div", { class: "panes" }, this.conversation.element, this.timeline.element, this.state.element);
    const bar = h("div", { class: "tabs", role: "tablist" }, ...this.tabs, h("span", { class: "spacer" }), this.earlier);
    this.element = h("div", { class: "page thread-page" }, this.head.element, bar, this.panes, this.head.composer);
    this.#tab(NARROW.matches ? "Conversation" : "Timeline");
    this.pulse = new Pulse(STATUS_EVERY_MS, () => this.#look());
  }

  async open() {
    bindPage([...this.asked.shortcuts, ...this.head.shortcuts, { key: "t", label: "next tab", act: () => this.#nextTab() }]);
    const [seen] = await Promise.all([this.#look(), workerName.load()]);
    if (!seen || this.#closed) return;
    const first = Math.max(0, Math.min(seen.seq - ENTRIES_AT_FIRST, (this.seq || seen.seq) - ENTRIES_BEFORE));
    await this.#read(first, seen.seq);
    if (this.#closed) return;
    const params = { ...ownerOf(this.key), deltas: true };
    this.#stream = new Stream(`${pathOfThread(this.key)}/events`, params, String(this.ledger.last), (event) => this.#heard(event), (why) => {
      this.head.ended(why ? why.message : "The session was deleted.");
    });
    this.#stream.onopen = () => this.conversation.silence();
  }

  close() {
    this.#closed = true;
    this.#stream?.close();
    this.pulse.stop();
    clearTimeout(this.#soon);
  }

  /** The thread as it is now. */
  async #look() {
    try {
      const seen = await look(pathOfThread(this.key), ownerOf(this.key));
      if (this.#closed) return seen;
      this.head.show(seen);
      this.asked.look(seen.control.active?.interactions.length > 0).then(() => this.conversation.keepEnd());
      return seen;
    } catch (problem) {
      if (!(/** @type {any} */ (problem).passing)) this.head.ended(/** @type {Error} */ (problem).message);
      return null;
    }
  }

  /** @type {(after: number, until: number) => Promise<void>} */
  async #read(after, until) {
    const found = [];
    while (after < until) {
      const page = await look(`${pathOfThread(this.key)}/entries`, { ...ownerOf(this.key), after, limit: PAGE_ENTRIES });
      if (!page.length) break;
      found.push(...page);
      after = page.at(-1).seq;
    }
    const first = this.entries[0]?.seq ?? Infinity;
    this.entries = [...found.filter((entry) => entry.seq < first), ...this.entries];
    this.ledger = new Ledger(this.entries);
    this.earlier.hidden = !this.entries.length || this.entries[0].seq <= 1;
    this.#draw();
  }

  async #readEarlier() {
    const first = this.entries[0].seq - 1;
    await this.#read(Math.max(0, first - PAGE_ENTRIES), first);
  }

  /** @param {import("../stream.js").StreamEvent} event */
  #heard(event) {
    if (event.name === "snapshot") location.reload(); // the journal was put back to before what is shown here
    else if (event.name === "delta") this.conversation.draft(event.data);
    else if (event.name === "entry") this.#take(event.data);
    this.#draw();
  }

  /** @param {any} entry */
  #take(entry) {
    if (entry.seq <= this.ledger.last) return;
    this.entries.push(entry);
    this.ledger.add(entry);
    if (entry.type.startsWith("model.") && entry.type !== "model.requested") this.conversation.settle(entry.turn_id);
    clearTimeout(this.#soon);
    this.#soon = setTimeout(() => this.#look(), STATUS_SOON_MS);
  }

  #draw() {
    if (this.#drawing) return;
    this.#drawing = true;
    requestAnimationFrame(() => {
      this.#drawing = false;
      this.conversation.show(this.ledger);
      this.timeline.show(this.ledger);
      this.state.reach(this.ledger.last);
      if (this.turn && this.ledger.last) this.timeline.reveal(this.turn);
      if (this.seq && this.ledger.last) this.conversation.reveal(this.seq);
      if (this.ledger.last) [this.turn, this.seq] = [null, 0];
    });
  }

  /** @param {string} name */
  #tab(name) {
    this.panes.dataset.tab = name;
    for (const tab of this.tabs) tab.setAttribute("aria-selected", String(tab.textContent === name));
    this.state.element.hidden = name !== "State";
    if (name === "State") this.state.open();
  }

  #nextTab() {
    const names = this.tabs.filter((tab) => tab.offsetParent).map((tab) => tab.textContent ?? "");
    this.#tab(names[(names.indexOf(this.panes.dataset.tab ?? "") + 1) % names.length]);
  }

  #showAsked() {
    if (NARROW.matches) this.#tab("Conversation");
    this.asked.reveal();
  }

  /** @param {number} seq */
  #stateAt(seq) {
    this.#tab("State");
    this.state.at(seq);
  }
}

