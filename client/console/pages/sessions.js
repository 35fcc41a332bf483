/**
 * All sessions, the newest first, and those whose id or title begins as is searched; or what was said in them.
 *
 * Rule: an id that is typed whole is found at once, wherever it is; for a beginning the list is read on until there is
 * enough, and it is said how far that was.
 */

import { look, path } from "../api.js";
import { chip, rechip } from "../chip.js";
import { button, h, write } from "../dom.js";
import { Hits } from "../hits.js";
import { bindPage } from "../keyboard.js";
import { Pulse } from "../pulse.js";
import { addressOfSession, go, note } from "../router.js";
import { Rows } from "../rows.js";
import { retime, ticking } from "../times.js";

const PAGE_ITEMS = 100;
const READ_AT_ONCE_MAX = 2000;
const ENOUGH = 40;
const EVERY_MS = 5000;
const NARROW = matchMedia("(max-width: 720px)");

/** @type {import("../shell.js").Page} */
export function sessionsPage(place) {
  const page = new SessionsPage(place.params);
  return { title: "Sessions", element: page.element, close: () => page.close(), search: () => page.input.focus() };
}

class SessionsPage {
  /** @type {any[]} */
  read = [];
  /** @type {any[]} */
  exact = [];
  /** @type {string | null} */
  next = null;
  loaded = false;
  #asked = 0;
  #busy = false;

  /** @param {URLSearchParams} params */
  constructor(params) {
    this.input = /** @type {HTMLInputElement} */ (h("input", { type: "search", placeholder: "Id or title begins with…", "aria-label": "Search", value: params.get("q") ?? "" }));
    this.user = /** @type {HTMLInputElement} */ (h("input", { type: "search", placeholder: "User", "aria-label": "User", value: params.get("user") ?? "" }));
    this.words = /** @type {HTMLInputElement} */ (h("input", { type: "search", placeholder: "What was said", "aria-label": "What was said", value: params.get("said") ?? "" }));
    this.hits = new Hits();
    this.input.addEventListener("input", () => this.#search());
    this.words.addEventListener("input", () => this.#find());
    this.user.addEventListener("change", () => this.#begin());
    this.tally = h("span", { class: "faint", "aria-live": "polite" });
    this.further = button("Search further", () => this.#read(READ_AT_ONCE_MAX), { class: "quiet small", hidden: true });
    this.empty = h("p", { class: "empty", hidden: true }, "No session is like that.");
    this.rows = new Rows({
      label: "Sessions",
      keyOf: (/** @type {any} */ one) => JSON.stringify(one.key),
      make: row,
      update: fillRow,
      onend: () => !this.#prefix && this.#read(PAGE_ITEMS),
      onopen: (one) => go(addressOfSession(one.key)),
      rowHeight: () => (NARROW.matches ? 68 : 42),
    });
    const head = h("header", { class: "page-head" }, h("h1", {}, "Sessions"), this.tally, this.further, h("span", { class: "spacer" }), this.words, this.input, this.user);
    this.element = h("div", { class: "page sessions" }, head, this.hits.element, this.empty, this.rows.scroller);
    this.pulse = new Pulse(EVERY_MS, () => this.#renew());
    bindPage([
      { key: "j", label: "next session", act: () => this.rows.step(1) },
      { key: "k", label: "session before", act: () => this.rows.step(-1) },
      { key: "Enter", label: "open it", act: () => this.rows.current && go(addressOfSession(this.rows.current.key)) },
    ]);
    this.#begin();
  }

  close() {
    this.pulse.stop();
    this.rows.observer.disconnect();
  }

  get #prefix() {
    return this.input.value.trim().toLowerCase();
  }

  async #begin() {
    this.#asked += 1;
    this.#busy = false;
    this.read = [];
    this.exact = [];
    this.next = null;
    this.loaded = false;
    this.#find();
    await this.#read(PAGE_ITEMS);
    if (this.#prefix) await this.#search();
  }

  #note() {
    note("sessions", { q: this.input.value.trim(), said: this.words.value.trim(), user: this.user.value.trim() });
  }

  /** What was said, instead of the list. */
  #find() {
    const words = this.words.value.trim();
    this.#note();
    this.rows.scroller.hidden = Boolean(words);
    this.hits.search(words, this.user.value.trim());
    this.#show();
  }

  async #search() {
    this.#note();
    this.exact = [];
    this.#show();
    const prefix = this.#prefix;
    if (!prefix) return;
    await new Promise((done) => setTimeout(done, 200));
    if (prefix !== this.#prefix) return;
    const whole = this.input.value.trim();
    const user = this.user.value.trim();
    const found = await look(path`/sessions/${whole}`, user ? { user } : { anonymous: true }).catch(() => null);
    if (prefix !== this.#prefix) return;
    if (found) this.exact = [found];
    this.#show();
    if (this.next && this.rows.items.length < ENOUGH) await this.#read(READ_AT_ONCE_MAX);
  }

  /** Read so many more. @param {number} count */
  async #read(count) {
    if (this.#busy || (this.loaded && !this.next)) return;
    const asked = this.#asked;
    this.#busy = true;
    try {
      for (let read = 0; read < count; read += PAGE_ITEMS) {
        const page = await look("/sessions", { user: this.user.value.trim(), after: this.next, limit: PAGE_ITEMS });
        if (asked !== this.#asked) return;
        this.read.push(...page.items);
        this.next = page.next;
        this.loaded = true;
        this.#show();
        if (!page.next || (this.#prefix && this.rows.items.length >= ENOUGH)) break;
      }
    } catch {
      // the frame says that the connection is lost
    } finally {
      if (asked === this.#asked) this.#busy = false;
    }
  }

  /** What is newest, again. */
  async #renew() {
    if (this.#busy) return;
    const asked = this.#asked;
    const page = await look("/sessions", { user: this.user.value.trim(), limit: PAGE_ITEMS }).catch(() => null);
    if (!page || asked !== this.#asked) return;
    const fresh = new Set(page.items.map((/** @type {any} */ one) => JSON.stringify(one.key)));
    this.read = [...page.items, ...this.read.filter((one) => !fresh.has(JSON.stringify(one.key)))];
    this.#show();
  }

  #show() {
    const prefix = this.#prefix;
    const begins = (/** @type {string | null} */ text) => (text ?? "").toLowerCase().startsWith(prefix);
    const named = prefix ? this.read.filter((one) => begins(one.key.session) || begins(one.control.title)) : this.read;
    const known = new Set(named.map((one) => JSON.stringify(one.key)));
    this.rows.show([...this.exact.filter((one) => !known.has(JSON.stringify(one.key))), ...named]);
    write(this.tally, prefix ? `${this.rows.items.length} of the newest ${this.read.length}` : `${this.read.length}${this.next ? "+" : ""}`);
    const listed = !this.rows.scroller.hidden;
    this.further.hidden = !listed || !prefix || !this.next;
    this.tally.hidden = !listed;
    this.empty.hidden = !listed || this.rows.items.length > 0;
  }
}

function row() {
  return h("div", { class: "session" }, chip("plain"), h("span", { class: "name" }), h("span", { class: "title faint" }), h("span", { class: "fact" }), ticking(0));
}

/** @type {(row: HTMLElement, session: any) => void} */
function fillRow(element, { key, control, threads, active, queued, last_at_us, unreadable }) {
  const [word, name, title, work, last] = /** @type {HTMLElement[]} */ ([...element.children]);
  if (unreadable) rechip(word, "failed", "unreadable");
  else if (control.pause.on) rechip(word, "paused");
  else if (active) rechip(word, "running", `${active} active`);
  else rechip(word, "plain", control.closed ? "closed" : "idle");
  write(name, key.session + (key.user ? ` · ${key.user}` : ""));
  write(title, control.title ?? "");
  write(work, `${threads} ${threads === 1 ? "thread" : "threads"}${queued ? `, ${queued} queued` : ""}`);
  retime(last, last_at_us);
}
