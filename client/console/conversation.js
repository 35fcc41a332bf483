/** What was said on a thread, calls and their results in place, and what stopped or took over in between. */

import { chip } from "./chip.js";
import { fill, h, reconcile } from "./dom.js";
import { clock } from "./times.js";
import { blocksOf, fieldsOf, textOf } from "./values.js";

/** @typedef {import("./ledger.js").Ledger} Ledger */

const TONES_SHOWN = new Set(["held", "bad"]);

/** Scrolls with what is said, unless the reader scrolled away. */
export class Conversation {
  /** What a running model has said so far, by its attempt. @type {Map<string, {turn: string, kind: string, text: string}>} */
  #drafts = new Map();
  /** @type {WeakMap<HTMLElement, number>} */
  #versions = new WeakMap();

  /** Whether the reader is at the end, and so is kept there. */
  #atEnd = true;

  /** @param {HTMLElement} end what stands behind all that was said */
  constructor(end) {
    this.list = h("ol", { class: "said" });
    this.element = h("section", { class: "conversation", "aria-label": "Conversation", tabindex: "0" }, this.list, end);
    this.element.addEventListener("scroll", () => {
      const { scrollTop, scrollHeight, clientHeight } = this.element;
      this.#atEnd = scrollHeight - scrollTop - clientHeight < 60;
    });
  }

  /** Something at the end may have become longer. */
  keepEnd() {
    if (this.#atEnd) this.element.scrollTop = this.element.scrollHeight;
  }

  /** Bring what was said with an entry into sight, and mark it. @param {number} seq */
  reveal(seq) {
    const found = this.list.querySelector(`[data-seq="${seq}"]`);
    if (!found) return;
    this.#atEnd = false;
    found.setAttribute("aria-current", "true");
    found.scrollIntoView({ block: "center" });
  }

  /** @param {Ledger} ledger */
  show(ledger) {
    reconcile(this.list, itemsOf(ledger, this.#drafts), (item) => item.id, () => h("li"), (element, item) => {
      const version = versionOf(item, ledger);
      if (this.#versions.get(element) === version) return;
      this.#versions.set(element, version);
      element.dataset.seq = String(item.seq ?? "");
      render(element, item, ledger);
    });
    this.keepEnd();
  }

  /** A piece of an answer that is being said. @param {any} delta */
  draft(delta) {
    const id = `draft:${delta.turn_id}:${delta.step}:${delta.ordinal}:${delta.index}`;
    const known = this.#drafts.get(id);
    if (known) known.text += delta.text;
    else this.#drafts.set(id, { turn: delta.turn_id, kind: delta.kind, text: delta.text });
  }

  /** Nothing is being said, as far as is known: who listens anew hears all of it again. */
  silence() {
    this.#drafts.clear();
  }

  /** What was being said has ended. @param {string | null} turn */
  settle(turn) {
    for (const [id, draft] of this.#drafts) if (draft.turn === turn) this.#drafts.delete(id);
  }
}

/** @type {(ledger: Ledger, drafts: Map<string, any>) => any[]} */
function itemsOf(ledger, drafts) {
  const marks = [...ledger.lines.values()].filter((line) => line.kind === "mark" && TONES_SHOWN.has(line.about.mark.tone));
  const items = [...ledger.said.values(), ...marks].sort((one, other) => one.seq - other.seq);
  const running = [...drafts].map(([id, draft]) => ({ id, who: "assistant", draft: true, blocks: [{ type: draft.kind, text: draft.text }] }));
  return [...items, ...running];
}

/** @type {(item: any, ledger: Ledger) => number} */
function versionOf(item, ledger) {
  if (item.draft) return item.blocks[0].text.length;
  return callsIn(item, ledger).reduce((sum, line) => sum + line.version, 1 + (item.version ?? 0));
}

/** @type {(item: any, ledger: Ledger) => import("./ledger.js").Line[]} */
function callsIn(item, ledger) {
  const blocks = item.blocks ?? [];
  return blocks.filter((/** @type {any} */ block) => block.type === "tool_call").map((/** @type {any} */ block) => lineOf(block, item, ledger)).filter(Boolean);
}

/** @type {(block: any, item: any, ledger: Ledger) => any} */
function lineOf(block, item, ledger) {
  return ledger.lines.get(`call:${item.turn}:${item.step}:${block.id}`);
}

/** @type {(element: HTMLElement, item: any, ledger: Ledger) => void} */
function render(element, item, ledger) {
  if (item.kind === "mark") {
    const { mark } = item.about;
    element.className = "between";
    element.dataset.tone = mark.tone;
    fill(element, h("span", {}, mark.text), mark.more && h("span", { class: "faint" }, mark.more), h("time", {}, clock(item.at)));
    return;
  }
  element.className = `bubble ${item.who}${item.draft ? " draft" : ""}`;
  const words = item.blocks.filter((/** @type {any} */ block) => block.type !== "tool_call");
  const calls = item.blocks.filter((/** @type {any} */ block) => block.type === "tool_call");
  fill(
    element,
    h(
      "header",
      {},
      h("b", {}, item.by || item.who),
      item.note && h("span", { class: "faint" }, item.note),
      item.draft && h("span", { class: "faint" }, "is speaking…"),
      item.at && h("time", {}, clock(item.at)),
    ),
    ...blocksOf(words),
    ...calls.map((/** @type {any} */ block) => callOf(block, lineOf(block, item, ledger))),
  );
}

/** A call with its result. @type {(block: any, line: any) => HTMLElement} */
function callOf(block, line) {
  const about = line?.about ?? {};
  const running = line?.attempts.at(-1)?.outcome === "running";
  const state = about.outcome ?? (running ? "running" : about.decisions?.at(-1)?.decision === "ask" ? "waiting" : "queued");
  return h(
    "div",
    { class: "call" },
    h("header", {}, h("code", {}, block.name), line && chip(state), about.edited && h("span", { class: "faint" }, "with arguments of a person")),
    fieldsOf(about.arguments ?? block.arguments ?? {}),
    about.output?.length > 0 && h("div", { class: "result" }, ...blocksOf(about.output)),
    block.malformed && textOf(block.malformed, "code"),
  );
}
