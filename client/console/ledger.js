/**
 * What entries of a thread come to: lines of its timeline, and what was said in its conversation.
 *
 * Rule: a fold of entries and of nothing else. An operation is one line, whatever became of its attempts; whoever shows
 * a line looks at its `version`, which rises with each entry about it.
 */

import { markOf } from "./marks.js";

/**
 * @typedef {object} Attempt
 * @property {number} ordinal
 * @property {string} presence the worker
 * @property {number} began
 * @property {number | null} ended
 * @property {string} outcome "running", or how it ended
 * @property {string} [message]
 * @property {any} [usage]
 * @property {number} [took_us]
 */
/**
 * @typedef {object} Line
 * @property {string} id
 * @property {number} seq
 * @property {number} at
 * @property {"turn" | "model" | "call" | "mark"} kind
 * @property {string | null} turn
 * @property {number | null} step
 * @property {number} version
 * @property {Attempt[]} attempts
 * @property {any} [about]
 */
/** @typedef {{id: string, seq: number, at: number, who: string, turn: string | null, blocks: any[], version: number, by?: string, note?: string, late?: boolean, step?: number}} Said */

/** How an attempt ends whose worker, or run, is gone. */
const CUT = new Set(["lost", "drained"]);

export class Ledger {
  /** @type {Map<string, Line>} */
  lines = new Map();
  /** @type {Map<string, Said>} */
  said = new Map();
  /** @type {Map<string, {id: string, began: number, ended: number | null, tokens: number, cost: number, claims: number, phase: string, pause: string, left: boolean, cut: boolean}>} */
  turns = new Map();
  last = 0;

  /** @param {any[]} entries */
  constructor(entries = []) {
    for (const entry of entries) this.add(entry);
  }

  /** @param {any} entry the next one */
  add(entry) {
    if (entry.seq <= this.last) return;
    this.last = entry.seq;
    const { type, payload } = entry;
    const fold = FOLDS[type];
    if (fold && !entry.erased && !entry.unreadable) fold(this, entry, payload);
    else this.mark(entry);
    if (payload.usage) this.#count(entry.turn_id, payload.usage);
  }

  /** The line of an operation, made if need be. @returns {Line} */
  line(/** @type {any} */ entry, /** @type {Line["kind"]} */ kind, /** @type {string} */ name, /** @type {any} */ about) {
    const id = `${kind}:${entry.turn_id}:${entry.step}:${name}`;
    let line = this.lines.get(id);
    if (!line) {
      const { seq, at_us, turn_id, step } = entry;
      line = { id, seq, at: at_us, kind, turn: turn_id, step, version: 0, attempts: [], about: {} };
      this.lines.set(id, line);
    }
    line.version += 1;
    Object.assign(line.about, about);
    return line;
  }

  /** A line of its own for something that happened. */
  mark(/** @type {any} */ entry) {
    const mark = markOf(entry);
    if (mark) this.line(entry, "mark", String(entry.seq), { mark, entry });
  }

  /** Something was said. */
  say(/** @type {any} */ entry, /** @type {string} */ who, /** @type {any[]} */ blocks, /** @type {Partial<Said>} */ more = {}) {
    const { entry_id, seq, at_us, turn_id } = entry;
    this.said.set(entry_id, { id: entry_id, seq, at: at_us, who, turn: turn_id, blocks, version: 0, ...more });
  }

  /** An attempt of a line. @returns {Attempt} */
  attempt(/** @type {Line} */ line, /** @type {any} */ entry) {
    const { ordinal, presence } = entry.payload;
    let attempt = line.attempts.find((one) => one.ordinal === ordinal);
    if (!attempt) {
      attempt = { ordinal, presence: presence ?? "", began: entry.at_us, ended: null, outcome: "running" };
      line.attempts.push(attempt);
    }
    return attempt;
  }

  /** The beginning of an attempt: what became of the one before is not what became of the call. */
  begin(/** @type {Line} */ line, /** @type {any} */ entry) {
    delete line.about.outcome;
    delete line.about.output;
    this.turn(entry).cut = false;
    this.attempt(line, entry);
  }

  /** The end of an attempt. */
  end(/** @type {Line} */ line, /** @type {any} */ entry, /** @type {string} */ outcome, /** @type {string} */ message = "") {
    const attempt = this.attempt(line, entry);
    const { duration_ms, usage } = entry.payload;
    const took_us = duration_ms ? duration_ms * 1000 : entry.at_us - attempt.began;
    Object.assign(attempt, { ended: entry.at_us, outcome, message, usage, took_us });
    if (CUT.has(outcome)) this.turn(entry).cut = true;
  }

  /** The turn of an entry. */
  turn(/** @type {any} */ entry) {
    const id = entry.turn_id;
    const turn = this.turns.get(id) ?? { id, began: entry.at_us, ended: null, tokens: 0, cost: 0, claims: 0, phase: "queued", pause: "", left: false, cut: false };
    this.turns.set(id, turn);
    return turn;
  }

  /** Whether an operation of a turn runs, as far as is known. @param {string} id */
  runs(id) {
    const lines = [...this.lines.values()].filter((line) => line.turn === id && !line.about.outcome);
    return lines.some((line) => line.attempts.at(-1)?.outcome === "running");
  }

  /** Something about the whole turn changed. */
  touch(/** @type {any} */ entry) {
    const line = this.lines.get(`turn:${entry.turn_id}:null:`);
    if (line) line.version += 1;
  }

  #count(/** @type {string | null} */ id, /** @type {any} */ usage) {
    const turn = id && this.turns.get(id);
    if (!turn) return;
    turn.tokens += usage.input_tokens + usage.output_tokens;
    turn.cost += usage.cost_microusd;
    this.touch({ turn_id: id });
  }
}

/** @type {Record<string, (ledger: Ledger, entry: any, payload: any) => void>} */
const FOLDS = {
  "turn.queued": (ledger, entry, payload) => {
    ledger.turn(entry);
    ledger.line(entry, "turn", "", { by: payload.principal, text: textIn(payload.input) });
    ledger.say(entry, payload.input.role, payload.input.blocks, { by: payload.principal });
  },
  "input.steered": (ledger, entry, payload) => {
    ledger.mark(entry);
    if (payload.message.blocks.length) ledger.say(entry, payload.message.role, payload.message.blocks, { by: payload.principal, note: "steers" });
  },
  "input.injected": (ledger, entry, payload) => {
    ledger.mark(entry);
    ledger.say(entry, payload.message.role, payload.message.blocks, { by: payload.principal, note: "material" });
  },
  "message.imported": (ledger, entry, payload) => {
    const { role, blocks, name, metadata } = payload.message;
    const shown = blocks.flatMap((/** @type {any} */ block) => (block.type === "tool_result" ? block.output : [block]));
    ledger.say(entry, role, shown, { by: name ?? "", note: metadata?.repaired ? "added when it was brought" : "brought" });
  },
  "run.claimed": (ledger, entry) => {
    const turn = ledger.turn(entry);
    turn.claims += 1;
    if (turn.claims > 1) ledger.mark({ ...entry, how: turn.left ? "left" : turn.cut || ledger.runs(turn.id) ? "running" : "idle" });
    Object.assign(turn, { left: false, cut: false });
  },
  "model.requested": (ledger, entry, payload) => {
    ledger.begin(ledger.line(entry, "model", "", { model: payload.model }), entry);
  },
  "model.responded": (ledger, entry, payload) => {
    const line = ledger.line(entry, "model", "", { finish: payload.finish_reason, blocks: payload.blocks });
    if (payload.model) line.about.model = payload.model;
    ledger.end(line, entry, "success");
    for (const block of payload.blocks) if (block.type === "tool_call") called(ledger, entry, block);
    ledger.say(entry, "assistant", payload.blocks, { step: entry.step });
  },
  "model.failed": (ledger, entry, payload) => {
    ledger.end(ledger.line(entry, "model", "", { retry_at: payload.retry_at_us }), entry, "failed", `${payload.failure}: ${payload.message}`);
  },
  "model.interrupted": (ledger, entry, payload) => {
    ledger.end(ledger.line(entry, "model", "", {}), entry, payload.reason === "cancelled" ? "cancelled" : payload.reason);
    if (payload.partial?.length) ledger.say(entry, "assistant", payload.partial, { note: `broken off: ${payload.reason}`, late: true });
  },
  "tool.decided": (ledger, entry, payload) => {
    const line = ledger.line(entry, "call", payload.call_id, { name: payload.name, effect: payload.effect, call_id: payload.call_id });
    line.about.decisions = [...(line.about.decisions ?? []), { decision: payload.decision, source: payload.source, at: entry.at_us }];
    if (payload.arguments) Object.assign(line.about, { arguments: payload.arguments, edited: true });
  },
  "tool.started": (ledger, entry, payload) => {
    const line = ledger.line(entry, "call", payload.call_id, { name: payload.name, key: payload.key });
    if (payload.arguments) line.about.arguments = payload.arguments;
    ledger.begin(line, entry);
  },
  "tool.finished": (ledger, entry, payload) => {
    const { outcome, output } = payload;
    const line = ledger.line(entry, "call", payload.call_id, { name: payload.name, outcome, output });
    if (line.attempts.length) ledger.end(line, entry, outcome);
  },
  "tool.reconciled": (ledger, entry, payload) => {
    const known = payload.outcome === "run_again" ? {} : { outcome: payload.outcome, output: payload.output };
    ledger.line(entry, "call", payload.call_id, known);
    ledger.mark(entry);
  },
};
/** What an entry makes of its turn; `left`: no run has it then, so the next one takes nothing over. @type {Record<string, any>} */
const STANDS = {
  started: { phase: "running" },
  waiting: { phase: "waiting", left: true },
  continued: { phase: "running" },
  pause_requested: { pause: "pausing" },
  paused: { pause: "paused", left: true },
  resumed: { pause: "" },
  cancel_requested: { phase: "cancelling", pause: "" },
  retried: { phase: "queued", pause: "", left: true, ended: null },
  completed: { phase: "completed", pause: "" },
  failed: { phase: "failed", pause: "" },
  cancelled: { phase: "cancelled", pause: "" },
};
FOLDS["thread.resumed"] = (ledger, entry) => {
  for (const turn of ledger.turns.values()) turn.left = true;
  ledger.mark(entry);
};
const ENDS = new Set(["completed", "failed", "cancelled"]);
for (const [word, change] of Object.entries(STANDS)) {
  FOLDS[`turn.${word}`] = (ledger, entry) => {
    Object.assign(ledger.turn(entry), change, ENDS.has(word) ? { ended: entry.at_us } : {});
    ledger.touch(entry);
    ledger.mark(entry);
  };
}

/** A model asked for a call. */
function called(/** @type {Ledger} */ ledger, /** @type {any} */ entry, /** @type {any} */ block) {
  const given = block.malformed === null || block.malformed === undefined ? block.arguments : { malformed: block.malformed };
  ledger.line(entry, "call", block.id, { name: block.name, arguments: given, call_id: block.id });
}

/** @param {any} message */
function textIn(message) {
  return message.blocks.map((/** @type {any} */ block) => block.text ?? `[${block.type}]`).join(" ");
}
