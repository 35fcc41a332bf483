/**
 * All turns, the newest first, as they are now: filtered, controlled, and many at a time.
 *
 * Rule: only what is in sight is drawn and asked for again; a hundred thousand turns cost what one screen of them costs.
 */

import { look } from "../api.js";
import { chip, rechip } from "../chip.js";
import { button, fill, h, write } from "../dom.js";
import { bindPage } from "../keyboard.js";
import { Pager } from "../pager.js";
import { Pulse } from "../pulse.js";
import { addressOfThread, go, note } from "../router.js";
import { Rows } from "../rows.js";
import { duration, retime, ticking } from "../times.js";
import { actOnTurns, CONTROLS } from "../turn_controls.js";

const EVERY_MS = 2000;
const PAGE_ITEMS = 50;
const STATUSES = ["queued", "running", "waiting", "pausing", "paused", "cancelling", "completed", "failed", "cancelled"];
const NARROW = matchMedia("(max-width: 720px)");

/** @type {import("../shell.js").Page} */
export function turnsPage(place) {
  const page = new TurnsPage(place.params);
  return { title: "Turns", element: page.element, close: () => page.close(), search: () => page.agent.focus() };
}

class TurnsPage {
  /** @type {Map<string, any>} */
  chosen = new Map();

  /** @param {URLSearchParams} params */
  constructor(params) {
    this.status = /** @type {HTMLSelectElement} */ (
      h("select", { "aria-label": "Status" }, h("option", { value: "" }, "Any status"), ...STATUSES.map((one) => h("option", { value: one, selected: one === params.get("status") }, one)))
    );
    this.agent = /** @type {HTMLInputElement} */ (h("input", { type: "search", placeholder: "Agent", "aria-label": "Agent", value: params.get("agent") ?? "" }));
    this.user = /** @type {HTMLInputElement} */ (h("input", { type: "search", placeholder: "User", "aria-label": "User", value: params.get("user") ?? "" }));
    for (const input of [this.status, this.agent, this.user]) input.addEventListener("change", () => this.#begin());
    this.tally = h("span", { class: "faint", "aria-live": "polite" });
    this.bar = h("div", { class: "bulk", hidden: true });
    this.empty = h("p", { class: "empty", hidden: true }, "No turn is like that.");
    this.rows = new Rows({
      label: "Turns",
      keyOf: (/** @type {any} */ turn) => turn.status.turn_id,
      make: () => this.#row(),
      update: (row, turn) => this.#fillRow(row, turn),
      onend: () => this.#more(),
      onopen: (turn) => this.#open(turn),
      rowHeight: () => (NARROW.matches ? 68 : 42),
    });
    const head = h("header", { class: "page-head" }, h("h1", {}, "Turns"), this.tally, h("span", { class: "spacer" }), this.status, this.agent, this.user);
    this.element = h("div", { class: "page turns" }, head, this.#columns(), this.empty, this.rows.scroller, this.bar);
    this.pulse = new Pulse(EVERY_MS, () => this.#refresh());
    this.#keys();
    this.#begin();
  }

  close() {
    this.pulse.stop();
    this.rows.observer.disconnect();
  }

  /** Begin the list anew, as it is filtered now. */
  #begin() {
    const filter = { status: this.status.value, agent: this.agent.value.trim(), user: this.user.value.trim() };
    note("turns", filter);
    this.pager = new Pager(
      (after) => look("/turns", { ...filter, after, limit: PAGE_ITEMS }),
      (/** @type {any} */ turn) => `${turn.status.queued_at_us}.${turn.status.turn_id}`,
    );
    this.chosen.clear();
    this.rows.scroller.scrollTop = 0;
    this.#more();
  }

  #more() {
    return this.#loaded((pager) => pager.more());
  }

  #refresh() {
    return this.#loaded((pager) => pager.refresh(this.rows.sight[0]));
  }

  /** @param {(pager: Pager<any>) => Promise<unknown>} load */
  async #loaded(load) {
    const pager = /** @type {Pager<any>} */ (this.pager);
    try {
      if ((await load(pager)) === false || pager !== this.pager) return;
    } catch {
      return; // the frame says that the connection is lost
    }
    this.rows.show(pager.items);
    this.empty.hidden = pager.items.length > 0 || pager.next !== null;
    write(this.tally, pager.loaded ? `${pager.items.length.toLocaleString("en")}${pager.next ? "+" : ""}` : "");
    this.#showBar();
  }

  #columns() {
    return h("div", { class: "columns", "aria-hidden": "true" }, ...["", "Status", "Session", "Agent", "Steps", "Took", "Queued"].map((name) => h("span", {}, name)));
  }

  /** An empty row; it is filled again and again. */
  #row() {
    const box = h("input", { type: "checkbox", "aria-label": "Choose" });
    box.addEventListener("change", () => this.#choose(this.rows.items[Number(row.dataset.index)]));
    const row = h(
      "div",
      { class: "turn" },
      h("span", {}, box),
      chip("queued"),
      h("span", { class: "name" }, h("span"), h("span", { class: "faint" })),
      h("span", { class: "agent faint" }),
      h("span", { class: "fact steps" }),
      h("span", { class: "fact took" }),
      ticking(0),
    );
    return row;
  }

  /** @type {(row: HTMLElement, turn: any) => void} */
  #fillRow(row, { key, status, shown, unreadable, input }) {
    const [box, word, name, agent, steps, took, queued] = /** @type {HTMLElement[]} */ ([...row.children]);
    /** @type {HTMLInputElement} */ (box.firstElementChild).checked = this.chosen.has(status.turn_id);
    rechip(word, unreadable ? "failed" : shown, unreadable ? "unreadable" : shown);
    const [whose, asked] = /** @type {HTMLElement[]} */ ([...name.children]);
    write(whose, key.session + (key.user ? ` · ${key.user}` : ""));
    write(asked, input ? ` ${input}` : "");
    write(agent, key.agent + (key.thread === "main" ? "" : ` / ${key.thread}`) + (status.code ? ` · ${status.code}` : ""));
    write(steps, status.steps ? String(status.steps) : "");
    write(took, status.started_at_us ? duration((status.ended_at_us ?? Date.now() * 1000) - status.started_at_us) : "");
    retime(queued, status.queued_at_us);
    row.title = unreadable || [status.turn_id, status.code, status.message, input].filter(Boolean).join(" · ");
  }

  /** @param {any} turn */
  #choose(turn) {
    if (!turn) return;
    const id = turn.status.turn_id;
    if (!this.chosen.delete(id)) this.chosen.set(id, turn);
    this.rows.draw();
    this.#showBar();
  }

  #showBar() {
    this.bar.hidden = !this.chosen.size;
    if (this.bar.hidden) return;
    const turns = [...this.chosen.values()];
    fill(
      this.bar,
      h("b", {}, `${turns.length} chosen`),
      ...Object.entries(CONTROLS).map(([name, control]) => button(control.label, () => this.#act(name, turns), { class: control.danger ? "danger" : "" })),
      button("All that are loaded", () => this.#chooseAll(), { class: "quiet" }),
      button("None", () => this.#chooseNone(), { class: "quiet" }),
    );
  }

  #chooseAll() {
    for (const turn of this.rows.items) this.chosen.set(turn.status.turn_id, turn);
    this.rows.draw();
    this.#showBar();
  }

  #chooseNone() {
    this.chosen.clear();
    this.rows.draw();
    this.#showBar();
  }

  /** @type {(name: string, turns: any[]) => Promise<void>} */
  async #act(name, turns) {
    if (await actOnTurns(name, turns)) this.#chooseNone();
    await this.#refresh();
  }

  /** @param {any} turn */
  #open({ key, status }) {
    go(addressOfThread(key, { turn: status.turn_id }));
  }

  #keys() {
    const current = (/** @type {(turn: any) => unknown} */ act) => () => this.rows.current && act(this.rows.current);
    const many = () => (this.chosen.size ? [...this.chosen.values()] : this.rows.current ? [this.rows.current] : []);
    bindPage([
      { key: "j", label: "next turn", act: () => this.rows.step(1) },
      { key: "k", label: "turn before", act: () => this.rows.step(-1) },
      { key: "Enter", label: "open its thread", act: current((turn) => this.#open(turn)) },
      { key: "x", label: "choose it", act: current((turn) => this.#choose(turn)) },
      ...Object.entries(CONTROLS).map(([name, control]) => ({ key: control.key, label: `${control.label.toLowerCase()} it, or what is chosen`, act: () => this.#act(name, many()) })),
    ]);
  }
}
