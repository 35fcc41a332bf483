/** The machinery: who works, what nobody carries on, how much there is, and whether it is whole. */

import { look } from "../api.js";
import { chip } from "../chip.js";
import { button, fill, h } from "../dom.js";
import { signOut } from "../key.js";
import { proofIn } from "../proof.js";
import { Pulse } from "../pulse.js";
import { addressOf, addressOfThread } from "../router.js";
import { amount, duration, size } from "../times.js";
import { keepNames } from "../workers.js";

const EVERY_MS = 3000;
const PHASES = ["queued", "running", "waiting", "cancelling"];
const QUESTIONS = ["approval", "form", "external", "unknown_outcome", "budget"];
/** @type {Record<string, string>} */
const NAMES = { approval: "approvals", form: "forms", external: "results awaited", unknown_outcome: "unknown outcomes", budget: "budgets used up" };
const FINDINGS_MAX = 50;

/** @type {import("../shell.js").Page} */
export function systemPage() {
  const page = new SystemPage();
  return { title: "System", element: page.element, close: () => page.close() };
}

class SystemPage {
  /** @type {{at: number, counts: any} | null} */
  #first = null;
  #verifying = false;

  constructor() {
    this.facts = h("span", { class: "faint" });
    this.links = h("span", {});
    this.now = h("section", { "aria-label": "Work" });
    this.workers = h("section", { "aria-label": "Workers" });
    this.orphans = h("section", { "aria-label": "Orphaned threads" });
    this.journal = h("div", {});
    this.proof = h("div", { class: "proof", "aria-live": "polite" });
    this.element = h(
      "div",
      { class: "page system" },
      h("header", { class: "page-head" }, h("h1", {}, "System"), this.facts, h("span", { class: "spacer" }), this.links, button("Sign out", signOut, { class: "quiet small narrow-only" })),
      h(
        "div",
        { class: "scroll" },
        this.now,
        this.workers,
        this.orphans,
        h(
          "section",
          { "aria-label": "Journal" },
          h("h2", {}, "Journal"),
          this.journal,
          h("div", { class: "actions" }, button("Measure again", () => this.#measure()), button("Verify everything", () => this.#verify())),
          this.proof,
        ),
      ),
    );
    this.pulse = new Pulse(EVERY_MS, () => this.look());
    this.pulse.now();
    this.#measure();
  }

  close() {
    this.pulse.stop();
    this.#verifying = false;
  }

  async look() {
    try {
      const system = await look("/system");
      keepNames(system);
      this.#show(system);
    } catch (problem) {
      if (/** @type {any} */ (problem).passing) return;
      this.pulse.stop();
      fill(this.now, h("p", { class: "wrong" }, /** @type {Error} */ (problem).message));
    }
  }

  /** @param {any} system */
  #show(system) {
    const { live } = system;
    fill(this.facts, `${system.store}, schema ${system.schema_version}, journal ${system.journal_id}`);
    fill(this.links, system.temporal_ui && h("a", { href: system.temporal_ui, target: "_blank", rel: "noreferrer" }, "Temporal ↗"));
    fill(
      this.now,
      h("h2", {}, "Work"),
      h(
        "div",
        { class: "tiles" },
        ...PHASES.map((phase) => tile(phase, live[`turns_${phase}`] ?? 0, addressOf("turns", { status: phase }))),
      ),
      h(
        "div",
        { class: "tiles" },
        ...QUESTIONS.filter((kind) => live[`questions_${kind}`]).map((kind) => tile(NAMES[kind], live[`questions_${kind}`], addressOf("inbox"))),
      ),
    );
    const alive = system.workers.filter((/** @type {any} */ one) => one.liveness === "alive").length;
    fill(
      this.workers,
      h("h2", {}, "Workers ", h("span", { class: alive ? "faint" : "wrong" }, alive ? `${alive} alive` : "none is alive: turns wait")),
      system.workers.length > 0 && h("div", { class: "table", role: "list", "aria-label": "Workers" }, ...system.workers.map(workerRow)),
    );
    fill(
      this.orphans,
      h("h2", {}, "Orphaned threads ", h("span", { class: "faint" }, system.orphans.length ? `${system.orphans.length}${system.more ? "+" : ""}` : "none")),
      ...system.orphans.map(orphanRow),
      ...system.unreadable.map((/** @type {any} */ one) => h("p", {}, chip("failed", "unreadable"), " ", h("a", { href: addressOfThread(one.key) }, one.key.session), ` ${one.error}`)),
    );
  }

  async #measure() {
    const counts = await look("/system/journal").catch(() => null);
    if (!counts) return;
    const before = this.#first;
    this.#first ??= { at: Date.now(), counts };
    const turns = Object.entries(counts).filter(([name]) => name.startsWith("turns_") && name !== "turns_new");
    const rows = [
      ["Sessions", amount(counts.sessions) + (counts.sessions_paused ? `, ${counts.sessions_paused} paused` : "")],
      ["Threads", amount(counts.threads)],
      ["Entries", `${amount(counts.entries)}, ${size(counts.entry_bytes)}`],
      ["Turns", turns.map(([name, number]) => `${amount(/** @type {number} */ (number))} ${name.slice(6)}`).join(", ") || "none"],
      ["New turns", `${amount(counts.turns_new)} in the last day`],
    ];
    if (before) {
      const grown = `${amount(counts.entries - before.counts.entries)} entries, ${size(Math.max(0, counts.entry_bytes - before.counts.entry_bytes))}`;
      rows.push(["Growth", `${grown} in ${duration((Date.now() - before.at) * 1000)}`]);
    }
    fill(this.journal, h("dl", { class: "fields" }, ...rows.map(([name, text]) => [h("dt", {}, name), h("dd", {}, text)])));
  }

  /** Prove session after session, as long as the page is open. */
  async #verify() {
    if (this.#verifying) {
      this.#verifying = false;
      return;
    }
    this.#verifying = true;
    const told = { sessions: 0, entries: 0, findings: /** @type {any[]} */ ([]) };
    let after = null;
    try {
      do {
        const page = /** @type {any} */ (await look("/sessions", { after, limit: 100 }));
        for (const { key } of page.items) {
          if (!this.#verifying) break;
          const proof = await proofIn(key);
          if (!proof) continue;
          told.sessions += 1;
          told.entries += proof.entries;
          for (const one of proof.findings) told.findings.push({ ...one, session: key.session });
          this.#tell(told, true);
        }
        after = page.next;
      } while (after && this.#verifying && told.findings.length < FINDINGS_MAX);
      this.#tell(told, false);
    } catch (problem) {
      fill(this.proof, h("p", { class: "wrong" }, /** @type {Error} */ (problem).message));
    }
    this.#verifying = false;
  }

  /** @type {(told: any, going: boolean) => void} */
  #tell({ sessions, entries, findings }, going) {
    const read = `${amount(sessions)} sessions with ${amount(entries)} entries`;
    fill(
      this.proof,
      h("p", { class: findings.length ? "wrong" : going ? "faint" : "proven" }, going ? `Reading: ${read}…` : findings.length ? `${read}: not whole` : `✓ ${read} are whole.`),
      h("ul", {}, ...findings.map((/** @type {any} */ one) => h("li", {}, h("code", {}, `${one.session}: ${one.check}`), ` ${one.problem}`))),
    );
  }
}

/** @type {(name: string, number: number, href: string) => HTMLElement} */
function tile(name, number, href) {
  return h("a", { class: "tile", href, dataset: { some: number ? "yes" : "no" } }, h("b", {}, amount(number)), h("span", {}, name));
}

/** @param {any} worker */
function workerRow(worker) {
  const { presence_id, liveness, beat_age_s, lease_s, label, pid, host, version, engine, agents } = worker;
  return h(
    "div",
    { class: "table-row worker", role: "listitem" },
    chip(liveness),
    h("b", { title: presence_id }, label ?? presence_id),
    h("span", { class: "fact" }, [pid && `process ${pid}`, host].filter(Boolean).join(" on ")),
    h("span", { class: "fact" }, beat_age_s === null ? "" : `beat ${duration(beat_age_s * 1e6)} ago${lease_s === null ? "" : `, lease ${duration(lease_s * 1e6)}`}`),
    h("span", { class: "fact" }, [version, engine].filter(Boolean).join(" · ")),
    h("span", { class: "faint", title: agents.join(", ") }, agents.join(", ") || "no agent named"),
  );
}

/** @param {any} orphan */
function orphanRow({ key, turn_id, why, wakes }) {
  return h(
    "div",
    { class: "table-row" },
    chip("lost", why),
    h("a", { href: addressOfThread(key, { turn: turn_id }) }, `${key.session} ${key.agent}`),
    h("span", { class: "fact" }, wakes > 1 ? `woken ${wakes} times in vain` : "about to be woken"),
  );
}
