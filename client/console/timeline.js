/** What happened on a thread, a line for each thing: how long it took, what it used, how often it was tried, and where. */

import { chip } from "./chip.js";
import { button, fill, h, reconcile } from "./dom.js";
import { amount, clock, dollars, duration, ticking } from "./times.js";
import { blocksOf, fieldsOf, textOf } from "./values.js";

/** @typedef {import("./ledger.js").Ledger} Ledger */
/** @typedef {import("./ledger.js").Line} Line */

export class Timeline {
  /** @type {WeakMap<HTMLElement, number>} */
  #versions = new WeakMap();
  /** Lines that are open. @type {Set<string>} */
  #open = new Set();

  /**
   * @param {(presence: string) => string} nameOf what a worker is called
   * @param {(seq: number) => void} onseq show the state there
   */
  constructor(nameOf, onseq) {
    this.nameOf = nameOf;
    this.onseq = onseq;
    this.list = h("ol", { class: "lines" });
    this.element = h("section", { class: "timeline", "aria-label": "Timeline", tabindex: "0" }, this.list);
  }

  /** @param {Ledger} ledger */
  show(ledger) {
    const { scrollTop, scrollHeight, clientHeight } = this.element;
    const atEnd = scrollHeight - scrollTop - clientHeight < 60;
    const lines = [...ledger.lines.values()].sort((one, other) => one.seq - other.seq);
    reconcile(this.list, lines, (line) => line.id, () => h("li"), (element, line) => {
      if (this.#versions.get(element) === line.version) return;
      this.#versions.set(element, line.version);
      this.#render(element, line, ledger);
    });
    if (atEnd) this.element.scrollTop = this.element.scrollHeight;
  }

  /** Bring a turn into sight. @param {string} id */
  reveal(id) {
    this.list.querySelector(`[data-turn="${CSS.escape(id)}"]`)?.scrollIntoView({ block: "start" });
  }

  /** @type {(element: HTMLElement, line: Line, ledger: Ledger) => void} */
  #render(element, line, ledger) {
    element.className = `line ${line.kind}`;
    element.dataset.tone = line.about.mark?.tone ?? "";
    if (line.kind === "turn" && line.turn) element.dataset.turn = line.turn;
    const seq = button(String(line.seq), () => this.onseq(line.seq), { class: "seq", title: "The state after this entry" });
    const at = h("time", { class: "at" }, clock(line.at));
    if (line.kind === "mark") {
      const { text, more } = line.about.mark;
      fill(element, seq, at, h("div", { class: "what" }, text, more && h("small", {}, more)));
    } else if (line.kind === "turn") {
      fill(element, seq, at, h("div", { class: "what" }, h("b", {}, "Turn"), h("small", {}, line.about.text)), totals(line, ledger));
    } else {
      fill(element, seq, at, this.#operation(line));
    }
  }

  /** @param {Line} line */
  #operation(line) {
    const { about, attempts } = line;
    const newest = attempts.at(-1);
    const title = line.kind === "model" ? `Step ${line.step}` : about.name;
    const kind = h("span", { class: "faint" }, line.kind === "model" ? about.model || "model" : about.effect ?? "");
    const details = h("details", { class: "what", open: this.#open.has(line.id) }, h("summary", {}, h("b", {}, title), kind, ...this.#facts(line, newest)));
    details.addEventListener("toggle", () => {
      const { open } = /** @type {HTMLDetailsElement} */ (details);
      if (open) this.#open.add(line.id);
      else this.#open.delete(line.id);
      if (open && details.childElementCount === 1) details.append(this.#inside(line));
    });
    if (this.#open.has(line.id)) details.append(this.#inside(line));
    return details;
  }

  /** @type {(line: Line, newest: import("./ledger.js").Attempt | undefined) => any[]} */
  #facts(line, newest) {
    const { about, attempts } = line;
    const asked = about.decisions?.at(-1)?.decision === "ask";
    const state = about.outcome ?? newest?.outcome ?? (asked ? "waiting" : "queued");
    const running = newest?.outcome === "running" && !about.outcome;
    return [
      chip(state),
      newest && h("span", { class: "fact" }, running ? ticking(newest.began) : duration(newest.took_us ?? 0)),
      newest?.usage && h("span", { class: "fact", title: "tokens in → out" }, `${amount(newest.usage.input_tokens)} → ${amount(newest.usage.output_tokens)}`),
      attempts.length > 1 && h("span", { class: "fact held" }, `${attempts.length} attempts`),
      newest?.presence && h("span", { class: "fact worker", title: newest.presence }, this.nameOf(newest.presence)),
    ];
  }

  /** @param {Line} line */
  #inside(line) {
    const { about } = line;
    return h(
      "div",
      { class: "inside" },
      ...line.attempts.map((one) =>
        h(
          "p",
          { class: "attempt" },
          `Attempt ${one.ordinal} on ${this.nameOf(one.presence)}, ${clock(one.began)}: ${one.outcome}`,
          one.took_us ? ` after ${duration(one.took_us)}` : "",
          one.usage?.cost_microusd ? `, ${dollars(one.usage.cost_microusd)}` : "",
          one.message && h("small", {}, one.message),
        ),
      ),
      ...(about.decisions ?? []).map((/** @type {any} */ one) => h("p", { class: "faint" }, `${one.decision}: ${one.source}`)),
      about.arguments && h("div", {}, h("h4", {}, about.edited ? "Arguments, of a person" : "Arguments"), fieldsOf(about.arguments)),
      about.output?.length > 0 && h("div", {}, h("h4", {}, "Result"), ...blocksOf(about.output)),
      about.blocks && h("div", {}, h("h4", {}, "Answer"), ...blocksOf(about.blocks)),
      about.key && h("p", { class: "faint" }, "Idempotency key ", h("code", {}, about.key)),
      !about.arguments && !about.blocks && !about.output && textOf("Nothing more yet."),
    );
  }
}

/** What a turn took and used. @type {(line: Line, ledger: Ledger) => HTMLElement | null} */
function totals(line, ledger) {
  const turn = ledger.turns.get(line.turn ?? "");
  if (!turn) return null;
  return h(
    "div",
    { class: "facts" },
    chip(turn.pause || turn.phase),
    h("span", { class: "fact" }, turn.ended ? duration(turn.ended - turn.began) : ticking(turn.began)),
    turn.tokens > 0 && h("span", { class: "fact" }, `${amount(turn.tokens)} tokens`),
    turn.cost > 0 && h("span", { class: "fact" }, dollars(turn.cost)),
  );
}
