/** The agent's state after any entry, and what changed between two of them. */

import { look, ownerOf } from "./api.js";
import { pathOfThread } from "./commands.js";
import { differences } from "./difference.js";
import { button, fill, h } from "./dom.js";
import { tell } from "./news.js";
import { textOf } from "./values.js";

const SHOWN_CHARACTERS = 400;
const STATES_KEPT_MAX = 60;
const PARTS = ["context", "summary", "compaction", "inbox", "permissions", "plan", "memory", "tasks", "tools", "usage", "agent", "extra"];

export class StateView {
  /** @type {Map<number, Promise<any>>} */
  #states = new Map();
  #asked = 0;
  #head = 0;

  /** @param {import("./router.js").ThreadKey} key */
  constructor(key) {
    this.key = key;
    this.from = slider("From entry");
    this.to = slider("To entry");
    this.content = h("div", { class: "state" });
    this.whole = /** @type {HTMLInputElement} */ (h("input", { type: "checkbox" }));
    for (const input of [this.from.input, this.to.input, this.whole]) input.addEventListener("input", () => this.#show());
    this.element = h(
      "section",
      { class: "state-view", "aria-label": "State" },
      h(
        "div",
        { class: "sliders" },
        this.to.element,
        this.from.element,
        h("div", { class: "actions" }, h("label", { class: "check" }, this.whole, " the whole state"), button("Now", () => this.at(this.#head), { class: "quiet small" })),
      ),
      this.content,
    );
  }

  /** How far the thread has come. @param {number} seq */
  reach(seq) {
    const following = Number(this.to.input.value) === this.#head;
    this.#head = seq;
    for (const { input } of [this.from, this.to]) input.max = String(seq);
    if (following) this.#set(Math.max(0, seq - 1), seq);
    if (following && this.element.isConnected && !this.element.hidden) this.#show();
  }

  /** The state after an entry, beside the one before. @param {number} seq */
  at(seq) {
    this.#set(Math.max(0, seq - 1), seq);
    this.#show();
  }

  /** Show what is chosen. */
  open() {
    this.#show();
  }

  /** @type {(from: number, to: number) => void} */
  #set(from, to) {
    this.from.input.value = String(from);
    this.to.input.value = String(to);
    this.from.say();
    this.to.say();
  }

  async #show() {
    const asked = (this.#asked += 1);
    const [from, to] = [Number(this.from.input.value), Number(this.to.input.value)];
    this.from.say();
    this.to.say();
    await new Promise((done) => setTimeout(done, 60)); // a slider that is dragged asks only for where it rests
    if (asked !== this.#asked) return;
    try {
      const [was, is] = await Promise.all([this.#state(from), this.#state(to)]);
      if (asked !== this.#asked) return;
      fill(this.content, ...(this.whole.checked ? wholeOf(is) : changesOf(was, is, from, to)));
    } catch (error) {
      tell(error instanceof Error ? error.message : String(error), "bad");
    }
  }

  /** @param {number} seq */
  #state(seq) {
    const known = this.#states.get(seq);
    if (known) return known;
    const asked = look(`${pathOfThread(this.key)}/state`, { ...ownerOf(this.key), at: seq });
    this.#states.set(seq, asked);
    asked.catch(() => this.#states.delete(seq));
    const [oldest] = this.#states.keys();
    if (this.#states.size > STATES_KEPT_MAX) this.#states.delete(oldest);
    return asked;
  }
}

/** @param {string} label */
function slider(label) {
  const input = /** @type {HTMLInputElement} */ (h("input", { type: "range", min: 0, max: 0, step: 1, "aria-label": label }));
  const number = h("output", {}, "0");
  return {
    input,
    element: h("label", { class: "slider" }, h("span", {}, label), input, number),
    say: () => {
      number.textContent = input.value;
    },
  };
}

/** @type {(was: any, is: any, from: number, to: number) => HTMLElement[]} */
function changesOf(was, is, from, to) {
  const changes = differences(was, is).filter((change) => change.path !== "as_of_seq");
  const title = h("h3", {}, `From entry ${from} to ${to}: ${changes.length || "no"} ${changes.length === 1 ? "change" : "changes"}`);
  const list = changes.map((change) =>
    h(
      "li",
      { class: "change" },
      h("code", {}, change.path),
      change.was !== undefined && h("del", {}, shortened(change.was)),
      change.is !== undefined && h("ins", {}, shortened(change.is)),
    ),
  );
  return [title, h("ul", { class: "changes" }, ...list)];
}

/** @param {any} state */
function wholeOf(state) {
  return PARTS.map((name) => {
    const value = state[name];
    const count = Array.isArray(value) ? ` (${value.length})` : "";
    return h("details", { open: name !== "context" && name !== "agent" }, h("summary", {}, name + count), textOf(JSON.stringify(value, null, 2) ?? "", "code"));
  });
}

/** @param {any} value */
function shortened(value) {
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 1);
  return text.length <= SHOWN_CHARACTERS ? text : `${text.slice(0, SHOWN_CHARACTERS)} … (${text.length.toLocaleString("en")} characters)`;
}
