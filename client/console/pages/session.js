/** One session: its threads, what holds it, what it used, and whether it is whole. */

import { look, ownerOf } from "../api.js";
import { chip } from "../chip.js";
import { cancelSession, pathOfSession, pauseSession, resumeSession, sure } from "../commands.js";
import { button, fill, h } from "../dom.js";
import { bindPage } from "../keyboard.js";
import { telling } from "../news.js";
import { Pulse } from "../pulse.js";
import { addressOfThread, sessionIn } from "../router.js";
import { ticking } from "../times.js";
import { fieldsOf } from "../values.js";
import { proofOf } from "../proof.js";

const EVERY_MS = 3000;
const THREADS_MAX = 200;

/** @type {import("../shell.js").Page} */
export function sessionPage(place) {
  const page = new SessionPage(sessionIn(place.params));
  return { title: page.key.session, element: page.element, close: () => page.pulse.stop() };
}

class SessionPage {
  /** @type {any} */
  #seen = null;
  #drawn = "";

  /** @param {import("../router.js").SessionKey} key */
  constructor(key) {
    this.key = key;
    this.facts = h("div", { class: "status", "aria-live": "polite" });
    this.actions = h("div", { class: "actions" });
    this.threads = h("div", { class: "cards" });
    this.proof = h("div", { class: "proof" });
    const names = h("div", { class: "names" }, h("h1", {}, key.session), key.user && h("span", { class: "faint" }, `of ${key.user}`));
    this.element = h("div", { class: "page session-page" }, h("header", { class: "page-head" }, names, this.facts, this.actions), h("div", { class: "scroll" }, this.threads, this.proof));
    this.pulse = new Pulse(EVERY_MS, () => this.look());
    bindPage([
      { key: "p", label: "pause the session", act: () => this.#pause() },
      { key: "r", label: "resume it", act: () => this.#resume() },
      { key: "c", label: "cancel all of it", act: () => this.#cancel() },
    ]);
    this.pulse.now();
  }

  async look() {
    const where = pathOfSession(this.key);
    const owner = ownerOf(this.key);
    try {
      const [seen, threads, used] = await Promise.all([look(where, owner), look(`${where}/threads`, { ...owner, limit: THREADS_MAX }), look(`${where}/used`, owner)]);
      this.#show(seen, threads, used);
    } catch (problem) {
      if (/** @type {any} */ (problem).passing) return;
      this.pulse.stop();
      fill(this.facts, h("span", { class: "wrong" }, /** @type {Error} */ (problem).message));
    }
  }

  /** @type {(seen: any, threads: any, used: any) => void} */
  #show(seen, threads, used) {
    const drawn = JSON.stringify([seen, threads, used]);
    if (drawn === this.#drawn) return;
    this.#drawn = drawn;
    this.#seen = seen;
    const { control } = seen;
    const act = seen.held_by?.session;
    fill(
      this.facts,
      chip(control.pause.on ? "paused" : seen.active ? "running" : "plain", control.pause.on ? "paused" : control.closed ? "closed" : seen.active ? `${seen.active} active` : "idle"),
      control.title && h("span", {}, control.title),
      control.summary && h("span", { class: "fact" }, control.summary),
      h("span", { class: "fact" }, "began ", ticking(seen.created_us), " ago"),
      act && h("span", { class: "held-by" }, `paused${act.principal ? ` by ${act.principal}` : ""}${act.reason ? `, because: ${act.reason}` : ""}`),
      seen.unreadable && h("span", { class: "wrong" }, seen.unreadable),
    );
    fill(
      this.actions,
      control.pause.on ? button("Resume", () => this.#resume(), { class: "primary", shortcut: "r" }) : button("Pause", () => this.#pause(), { shortcut: "p" }),
      button("Cancel all", () => this.#cancel(), { class: "danger", shortcut: "c" }),
      button("Verify", () => this.#verify(), { class: "quiet" }),
    );
    fill(this.threads, ...threads.items.map(threadCard), used && h("article", { class: "card" }, h("h3", {}, "Used of its budget"), fieldsOf({ ...used })));
  }

  #do(/** @type {string} */ done, /** @type {() => Promise<unknown>} */ act) {
    return telling(done, act).then(() => this.pulse.now());
  }

  #pause() {
    return this.#do("The session is paused", () => pauseSession(this.key));
  }

  #resume() {
    return this.#seen?.control.pause.on && this.#do("The session goes on", () => resumeSession(this.key));
  }

  async #cancel() {
    if (await sure("everything in the session")) await this.#do("Cancelled", () => cancelSession(this.key));
  }

  async #verify() {
    fill(this.proof, h("p", { class: "faint" }, "It is read from its first entry to its last…"));
    fill(this.proof, await proofOf(this.key));
  }
}

/** @param {any} thread */
function threadCard({ key, control, session, seq, last_at_us, held_by, unreadable }) {
  const held = control.pause.on || session.pause.on || control.active?.status.pause === "effective";
  const phase = control.active?.status.phase;
  return h(
    "a",
    { class: "card link", href: addressOfThread(key) },
    h(
      "header",
      {},
      chip(held ? "paused" : phase ?? "plain", held ? "paused" : phase ?? "idle"),
      h("h3", {}, key.agent, key.thread === "main" ? "" : ` / ${key.thread}`),
      h("span", { class: "spacer" }),
      control.queued > 0 && h("span", { class: "fact" }, `${control.queued} queued`),
      h("span", { class: "fact" }, `${seq.toLocaleString("en")} entries · `, ticking(last_at_us)),
    ),
    held_by?.thread && h("p", { class: "held-by" }, `paused by ${held_by.thread.principal || "a failure"}`),
    unreadable && h("p", { class: "wrong" }, unreadable),
  );
}
