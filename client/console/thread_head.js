/** The top of a thread's page: what it is, how it stands, what can be done to it; and where its turn is steered. */

import { look, ownerOf } from "./api.js";
import { chip } from "./chip.js";
import {
  cancelThread, cancelTurn, pathOfThread, pauseThread, pauseTurn, resumeSession, resumeThread, resumeTurn, retryTurn, steerTurn, sure,
} from "./commands.js";
import { button, fill, h } from "./dom.js";
import { telling } from "./news.js";
import { addressOf, addressOfSession, addressOfThread } from "./router.js";
import { ticking } from "./times.js";

/** @type {Record<string, string>} */
const LEVELS = { turn: "Its turn", thread: "The thread", session: "The session" };

export class ThreadHead {
  /** @type {any} */
  #seen = null;

  /**
   * @param {import("./router.js").ThreadKey} key
   * @param {() => void} onchange
   * @param {() => void} onasked show what is asked
   */
  constructor(key, onchange, onasked) {
    this.key = key;
    this.onchange = onchange;
    this.onasked = onasked;
    this.status = h("div", { class: "status", "aria-live": "polite" });
    this.actions = h("div", { class: "actions" });
    this.element = h(
      "header",
      { class: "page-head" },
      h(
        "div",
        { class: "names" },
        h("a", { href: addressOfSession(key), class: "faint" }, key.session),
        h("h1", {}, key.agent, key.thread === "main" ? "" : h("span", { class: "faint" }, ` / ${key.thread}`)),
        key.user && h("span", { class: "faint" }, `of ${key.user}`),
        h("span", { class: "elsewhere" }),
      ),
      this.status,
      this.actions,
    );
    this.composer = this.#composer();
    this.#links();
  }

  get shortcuts() {
    return [
      { key: "p", label: "pause the turn, or the thread", act: () => this.#pause() },
      { key: "r", label: "resume", act: () => this.#resume() },
      { key: "c", label: "cancel the turn", act: () => this.#cancel() },
      { key: "s", label: "steer", act: () => /** @type {HTMLElement | null} */ (this.composer.querySelector("textarea"))?.focus() },
      { key: "i", label: "all questions", act: () => { location.hash = addressOf("inbox"); } },
    ];
  }

  /** @param {any} seen the thread now */
  show(seen) {
    this.#seen = seen;
    const { active, queued, failed } = seen.control;
    const held = Object.entries(seen.held_by ?? {});
    const turnHeld = active && active.status.pause !== "none";
    const signature = JSON.stringify([active?.status, !active?.busy_since_us, active?.interactions, queued, failed?.turn_id, held, seen.session.pause, seen.control.pause, seen.unreadable, seen.begins, seen.forks]);
    if (this.element.dataset.signature === signature) return;
    this.element.dataset.signature = signature;
    const isHeld = turnHeld || held.length > 0;
    fill(
      this.status,
      chip(active || isHeld ? standing(active, isHeld) : "plain", active || isHeld ? undefined : "idle"),
      active && h("span", { class: "fact" }, `step ${active.step}`),
      active?.status.started_at_us && h("span", { class: "fact" }, ticking(active.status.started_at_us)),
      queued > 0 && h("span", { class: "fact" }, `${queued} queued`),
      active?.interactions.length > 0 && button(`${active.interactions.length} asked`, this.onasked, { class: "quiet small" }),
      ...held.map(([level, act]) => heldText(level, act)),
      turnHeld && !held.length && h("span", { class: "held-by" }, active.busy_since_us ? "Its turn pauses when what runs has ended" : "Its turn is paused"),
      seen.begins && beginning(this.key, seen.begins),
      seen.forks > 0 && h("span", { class: "fact" }, seen.forks === 1 ? "1 fork" : `${seen.forks} forks`),
      seen.unreadable && h("span", { class: "wrong" }, seen.unreadable),
    );
    fill(
      this.actions,
      isHeld ? button("Resume", () => this.#resume(), { class: "primary", shortcut: "r" }) : button("Pause", () => this.#pause(), { shortcut: "p" }),
      !active && failed?.retryable && button("Try again", () => this.#do("It is tried again", () => retryTurn(failed.turn_id))),
      active && button("Cancel", () => this.#cancel(), { class: "danger", shortcut: "c" }),
      !active && queued > 0 && button("Cancel the queue", () => this.#cancel(), { class: "danger", shortcut: "c" }),
    );
    this.composer.hidden = !active;
  }

  /** Nothing more will be heard. @param {string} why */
  ended(why) {
    fill(this.status, h("span", { class: "wrong" }, why));
    fill(this.actions);
    this.composer.hidden = true;
  }

  #do(/** @type {string} */ done, /** @type {() => Promise<unknown>} */ act) {
    return telling(done, act).then(() => this.onchange());
  }

  #pause() {
    if (!this.#seen) return undefined; // what a key is about is not known yet
    const { active } = this.#seen.control;
    if (active) return this.#do("The turn pauses at its next boundary", () => pauseTurn(active.turn_id ?? active.status.turn_id));
    return this.#do("The thread is paused", () => pauseThread(this.key));
  }

  #resume() {
    if (!this.#seen) return undefined;
    const { active } = this.#seen.control;
    const held = this.#seen.held_by ?? {};
    if (active) return this.#do("It goes on", () => resumeTurn(active.status.turn_id));
    if (held.thread || this.#seen.control.pause.on) return this.#do("The thread goes on", () => resumeThread(this.key));
    return this.#do("The session goes on", () => resumeSession(this.key));
  }

  async #cancel() {
    const active = this.#seen?.control.active;
    if (!active && !this.#seen?.control.queued) return;
    if (!(await sure(active ? "the turn" : "the queue"))) return;
    await this.#do("Cancelled", () => (active ? cancelTurn(active.status.turn_id) : cancelThread(this.key)));
  }

  #composer() {
    const area = /** @type {HTMLTextAreaElement} */ (h("textarea", { rows: 2, required: true, placeholder: "Steer the turn: its next model call sees this (Ctrl Enter sends it)", "aria-label": "Steer the turn" }));
    const form = h("form", { class: "composer", hidden: true }, area, h("button", { type: "submit", class: "primary" }, "Steer"));
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const active = this.#seen?.control.active;
      if (active && (await telling("The turn was steered", () => steerTurn(active.status.turn_id, area.value)))) area.value = "";
    });
    return form;
  }

  /** To where Temporal shows the thread, for who may know. */
  async #links() {
    const place = this.element.querySelector(".elsewhere");
    const found = await look(`${pathOfThread(this.key)}/workflows`, ownerOf(this.key)).catch(() => null);
    if (!found?.temporal_ui || !place) return;
    const href = `${found.temporal_ui}/workflows/${encodeURIComponent(found.turn ?? found.thread)}`;
    fill(place, h("a", { href, target: "_blank", rel: "noreferrer" }, "In Temporal ↗"));
  }
}

/** The word for how a thread with a turn or a pause stands. @type {(active: any, isHeld: boolean) => string} */
function standing(active, isHeld) {
  if (active && (!isHeld || active.status.phase === "cancelling")) return active.status.phase;
  return active?.busy_since_us ? "pausing" : "paused";
}

/** Where a thread was forked from or rewound to. @type {(key: import("./router.js").ThreadKey, begins: any) => HTMLElement} */
function beginning(key, { thread, at_seq }) {
  const isOwn = thread.session === key.session && thread.agent === key.agent && thread.thread === key.thread;
  if (isOwn) return h("span", { class: "fact" }, `rewound to entry ${at_seq}`);
  const origin = { ...key, session: thread.session, thread: thread.thread };
  return h("a", { class: "fact", href: addressOfThread(origin, { seq: at_seq }) }, `forked from ${thread.thread}, entry ${at_seq}`);
}

/** Who paused what, when and why. @type {(level: string, act: any) => HTMLElement} */
function heldText(level, act) {
  const by = act.principal ? ` by ${act.principal}` : "";
  const why = act.reason ? `, because: ${act.reason}` : "";
  return h("span", { class: "held-by" }, `${LEVELS[level]} is paused${by}${why} · `, ticking(act.at_us));
}
