/**
 * What waits for a person: questions, the oldest first, and turns that failed of late.
 *
 * Rule: a card stays while something is typed on it; it goes when its question is settled, by whomever.
 */

import { look } from "../api.js";
import { chip } from "../chip.js";
import { resumeTurn, retryTurn } from "../commands.js";
import { button, h, reconcile, write } from "../dom.js";
import { bindPage } from "../keyboard.js";
import { telling } from "../news.js";
import { Pulse } from "../pulse.js";
import { cardOf, keyOn, wholeOf } from "../question.js";
import { addressOfThread, go } from "../router.js";
import { ticking } from "../times.js";

const EVERY_MS = 2000;
const PAGE_ITEMS = 50;
const FAILED_SHOWN_MAX = 20;
const FAILED_FOR_US = 24 * 3600 * 1e6;
const SEEN_NAME = "turnwright.failed-seen";
const SEEN_MAX = 500;
const KINDS = ["approval", "form", "external", "unknown_outcome", "budget"];

/** @type {import("../shell.js").Page} */
export function inboxPage() {
  const page = new InboxPage();
  return { title: "Inbox", element: page.element, close: () => page.close() };
}

class InboxPage {
  #pages = 1;
  #asked = 0;
  kind = "";

  constructor() {
    this.cards = h("div", { class: "cards" });
    this.failed = h("div", { class: "cards" });
    this.failedTitle = h("h2", { hidden: true }, "Failed in the last day");
    this.empty = h("p", { class: "empty", hidden: true }, "Nobody is waiting for you.");
    this.more = button("More questions", () => this.#more(), { hidden: true });
    this.tally = h("span", { class: "faint", "aria-live": "polite" });
    this.element = h(
      "div",
      { class: "page inbox" },
      h("header", { class: "page-head" }, h("h1", {}, "Inbox"), this.tally, h("span", { class: "spacer" }), this.#filter()),
      h("div", { class: "scroll" }, this.cards, this.empty, this.more, this.failedTitle, this.failed),
    );
    this.pulse = new Pulse(EVERY_MS, () => this.look());
    this.#keys();
    this.pulse.now();
  }

  close() {
    this.pulse.stop();
  }

  async look() {
    const asked = (this.#asked += 1);
    const [open, failed] = await Promise.all([this.#open(), look("/turns", { phase: "failed", limit: FAILED_SHOWN_MAX })]);
    if (asked !== this.#asked) return;
    this.#showOpen(open);
    this.#showFailed(failed.items);
  }

  async #open() {
    const items = [];
    let after = null;
    for (let page = 0; page < this.#pages; page += 1) {
      const found = await look("/interactions", { kind: this.kind, limit: PAGE_ITEMS, after });
      items.push(...(await wholeOf(found.items)));
      after = found.next;
      if (!after) break;
    }
    return { items, more: after !== null };
  }

  /** @param {{items: any[], more: boolean}} open */
  #showOpen({ items, more }) {
    const gone = this.#selected;
    const place = gone ? [...this.cards.children].indexOf(gone) : -1;
    reconcile(this.cards, items, (one) => `${one.interaction_id} ${one.turn_id}`, (one) => cardOf(one, () => this.pulse.now()));
    if (gone && !gone.isConnected && this.cards.children[place]) this.#select(/** @type {HTMLElement} */ (this.cards.children[Math.min(place, this.cards.children.length - 1)]), false);
    write(this.tally, items.length ? `${items.length}${more ? "+" : ""} open` : "");
    this.empty.hidden = items.length > 0;
    this.more.hidden = !more;
  }

  /** @param {any[]} turns */
  #showFailed(turns) {
    const seen = new Set(seenFailures());
    const since = Date.now() * 1000 - FAILED_FOR_US;
    const shown = this.kind ? [] : turns.filter(({ status }) => (status.ended_at_us ?? 0) > since && !seen.has(nameOf(status)));
    this.failedTitle.hidden = !shown.length;
    reconcile(this.failed, shown, ({ status }) => nameOf(status), (turn) => this.#failure(turn));
  }

  /** @param {any} turn */
  #failure({ key, status }) {
    const again = () => telling("It is tried again", () => retryTurn(status.turn_id)).then(() => this.pulse.now());
    const dismiss = () => {
      keepSeen(nameOf(status));
      this.pulse.now();
    };
    return h(
      "article",
      { class: "card failed", tabindex: "-1", "aria-label": `Failed: ${status.code}` },
      h(
        "header",
        {},
        chip("failed"),
        h("h3", {}, status.code),
        h("span", { class: "spacer" }),
        ticking(status.ended_at_us),
        h("a", { class: "where", href: addressOfThread(key, { turn: status.turn_id }) }, key.session, h("span", { class: "faint" }, ` ${key.agent}`)),
      ),
      h("p", { class: "text" }, status.message ?? ""),
      h("div", { class: "actions" }, status.retryable && button("Try again", again), button("Dismiss", dismiss, { class: "quiet" })),
    );
  }

  #filter() {
    const select = /** @type {HTMLSelectElement} */ (
      h("select", { "aria-label": "Kind" }, h("option", { value: "" }, "All kinds"), ...KINDS.map((kind) => h("option", { value: kind }, kind.replace("_", " "))))
    );
    select.addEventListener("change", () => {
      this.kind = select.value;
      this.#pages = 1;
      this.pulse.now();
    });
    return select;
  }

  #more() {
    this.#pages += 1;
    this.pulse.now();
  }

  /** @returns {HTMLElement | null} */
  get #selected() {
    return this.element.querySelector(".card[aria-current]");
  }

  /** @type {(card: HTMLElement, focus?: boolean) => void} */
  #select(card, focus = true) {
    this.#selected?.removeAttribute("aria-current");
    card.setAttribute("aria-current", "true");
    if (focus) card.focus();
    card.scrollIntoView({ block: "nearest" });
  }

  /** @param {number} by */
  #step(by) {
    const cards = /** @type {HTMLElement[]} */ ([...this.element.querySelectorAll(".card")]);
    if (!cards.length) return;
    const at = this.#selected ? cards.indexOf(this.#selected) : -1;
    this.#select(cards[Math.max(0, Math.min(cards.length - 1, at < 0 ? 0 : at + by))]);
  }

  #keys() {
    const on = (/** @type {string} */ key) => () => this.#selected && keyOn(this.#selected, key)?.();
    const link = () => /** @type {HTMLAnchorElement | null} */ (this.#selected?.querySelector(".where"));
    const turn = () => new URLSearchParams(link()?.hash.split("?")[1] ?? "").get("turn");
    bindPage([
      { key: "j", label: "next card", act: () => this.#step(1) },
      { key: "k", label: "card before", act: () => this.#step(-1) },
      { key: "Enter", label: "open its thread", act: () => link() && go(link()?.hash ?? "") },
      { key: "a", label: "approve, or begin the answer", act: on("a") },
      { key: "d", label: "deny or decline", act: on("d") },
      { key: "e", label: "edit the arguments", act: on("e") },
      { key: "r", label: "resume the turn, if it is paused", act: () => turn() && telling("It goes on", () => resumeTurn(turn() ?? "")) },
    ]);
  }
}

/** A failure of a turn; a later one is another. @param {any} status */
function nameOf(status) {
  return `${status.turn_id} ${status.revision}`;
}

/** What another page or version may have left there is no list: nothing was seen then. @returns {string[]} */
function seenFailures() {
  try {
    const kept = JSON.parse(localStorage.getItem(SEEN_NAME) ?? "[]");
    return Array.isArray(kept) ? kept : [];
  } catch {
    return [];
  }
}

/** @param {string} name */
function keepSeen(name) {
  localStorage.setItem(SEEN_NAME, JSON.stringify([...seenFailures(), name].slice(-SEEN_MAX)));
}

