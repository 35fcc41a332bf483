/** Entries that are no operation, in a few words: who paused, who took over, what was decided. */

/** @typedef {{tone: string, text: string, more?: string}} Mark */

/** @param {any} payload */
const by = (payload) => (payload.principal ? ` by ${payload.principal}` : "");

/** Runs after a turn's first, by how the one before was left: at rest, with something running, or in between. @type {Record<string, Mark>} */
const CLAIMS = {
  left: { tone: "plain", text: "A new run" },
  running: { tone: "held", text: "Taken over by another run" },
  idle: { tone: "held", text: "Goes on in another run" },
};

/** @type {Record<string, (payload: any, entry: any) => Mark | null>} */
const MARKS = {
  "run.claimed": (p, entry) => ({ ...CLAIMS[entry.how], text: `${CLAIMS[entry.how].text} (epoch ${entry.epoch})`, more: p.temporal_run_id }),
  "turn.started": () => null,
  "turn.pause_requested": (p) => ({ tone: "held", text: `Pause asked for${by(p)}` }),
  "turn.paused": (p) => ({ tone: "held", text: `Paused${by(p)}` }),
  "turn.resumed": (p) => ({ tone: "live", text: `Resumed${by(p)}` }),
  "turn.waiting": () => ({ tone: "asks", text: "Waits for an answer" }),
  "turn.continued": () => ({ tone: "live", text: "Goes on" }),
  "turn.cancel_requested": (p) => ({ tone: "held", text: `Cancel asked for${by(p)}` }),
  "turn.cancelled": (p) => ({ tone: "plain", text: `Cancelled${by(p)}`, more: p.effects_unknown }),
  "turn.completed": () => ({ tone: "good", text: "Completed" }),
  "turn.failed": (p) => ({ tone: "bad", text: `Failed: ${p.code}`, more: p.message }),
  "turn.retried": (p) => ({ tone: "live", text: `Tried again${by(p)}` }),
  "input.steered": (p) => ({ tone: "live", text: `Steered${by(p)}` }),
  "input.injected": (p) => ({ tone: "plain", text: `Material added${by(p)}` }),
  "input.applied": () => null,
  "input.discarded": (p) => ({ tone: "plain", text: `Input discarded: ${p.why}` }),
  "thread.imported": (p) => ({ tone: "plain", text: `Brought from ${p.source}${by(p)}: ${p.messages} messages`, more: p.notes?.map((/** @type {any} */ note) => note.text).join("; ") }),
  "thread.opened": (p) => ({ tone: "plain", text: `Opened for ${p.agent?.name ?? "an agent"}`, more: p.agent?.model }),
  "thread.forked": (p) => ({ tone: "plain", text: `Forked${by(p)} from entry ${p.at_seq} of ${p.origin}${p.session ? ` in ${p.session}` : ""}` }),
  "thread.rewound": (p) => ({ tone: "held", text: `Rewound${by(p)} to entry ${p.to_seq}` }),
  "thread.made_whole": (p) => ({ tone: "plain", text: `Made whole${by(p)}: its origin is needed no more` }),
  "thread.paused": (p) => ({ tone: "held", text: p.source === "on_failure" ? "Thread on hold after a failure" : `Thread paused${by(p)}` }),
  "thread.resumed": (p) => ({ tone: "live", text: `Thread resumed${by(p)}` }),
  "thread.closed": (p) => ({ tone: "plain", text: `Thread closed${by(p)} (${p.mode})` }),
  "interaction.requested": (p) => ({ tone: "asks", text: `Asks: ${p.kind.replace("_", " ")}${p.asked?.tool ? ` of ${p.asked.tool}` : ""}` }),
  "interaction.resolved": (p) => ({ tone: "good", text: `Answered${by(p)}: ${p.resolution}` }),
  "interaction.expired": (p) => ({ tone: "held", text: `Nobody answered in time: ${p.resolution}` }),
  "tool.reconciled": (p) => ({ tone: "held", text: `Outcome settled${p.by === "hook" ? " by its hook" : by(p)}: ${p.outcome.replace("_", " ")}` }),
  "tool.late": (p) => ({ tone: "held", text: `A result of ${p.name} came too late (${p.outcome})` }),
  "model.late": (p) => ({ tone: "held", text: `An answer came too late (${p.what})` }),
  "session.titled": (p) => ({ tone: "plain", text: p.title ? `Called “${p.title}”${by(p)}` : `Title taken away${by(p)}` }),
  "session.not_described": (p) => ({ tone: "held", text: "No title or summary for lists", more: p.failed }),
  "session.summarised": (p) => ({ tone: "plain", text: "Summed up for lists", more: p.summary }),
  "context.compacted": (p) => ({ tone: "plain", text: `Entries ${p.from_seq} to ${p.to_seq} summed up`, more: p.summary }),
  "context.compaction_requested": (p) => ({ tone: "plain", text: `A shorter conversation asked for${by(p)}` }),
  "context.compaction_failed": (p) => ({ tone: "held", text: "The conversation could not be made shorter", more: p.reason }),
  "context.cleared": (p) => ({ tone: "plain", text: `Context cleared${by(p)}` }),
  "context.offloaded": () => ({ tone: "plain", text: "A large result was put aside" }),
  "permissions.changed": (p) => ({ tone: "plain", text: `Permissions changed${by(p)}: mode ${p.permissions?.mode}` }),
  "budget.changed": (p) => ({ tone: "plain", text: `Budget of the ${p.scope} changed${by(p)}`, more: JSON.stringify(p.budget) }),
  "memory.changed": (p) => ({ tone: "plain", text: `Memory written${by(p)}`, more: p.memory?.document }),
  "tasks.changed": () => ({ tone: "plain", text: "Tasks changed" }),
  "plan.changed": (p) => ({ tone: "plain", text: p.plan?.active ? "Planning" : "Plan changed" }),
  "tools.changed": (p) => ({ tone: "plain", text: `Tool groups: ${p.groups?.join(", ") || "none"}` }),
  "tools.listed": (p) => ({ tone: "plain", text: `Tools of ${p.source}: ${p.tools?.length ?? 0}`, more: p.tools?.map((/** @type {{name: string}} */ tool) => tool.name).join(", ") }),
  "state.updated": (p) => ({ tone: "held", text: `State changed${by(p)}: ${Object.keys(p.changes ?? {}).join(", ")}` }),
  "child.spawned": (p) => ({ tone: "live", text: `Task given to a subagent${p.detached ? ", which works by itself" : ""}`, more: p.child_turn }),
  "child.finished": (p) => ({ tone: "plain", text: `The subagent's turn: ${p.phase}`, more: p.child_turn }),
  "entry.erased": (p) => ({ tone: "held", text: `Entry ${p.erased_seq} erased${by(p)}` }),
};

/**
 * What is said of an entry; null: nothing.
 * @param {any} entry
 * @returns {Mark | null}
 */
export function markOf(entry) {
  if (entry.erased) return { tone: "plain", text: `Erased: ${entry.type}` };
  const known = MARKS[entry.type];
  if (!known || entry.unreadable) return { tone: "plain", text: entry.type };
  const mark = known(entry.payload, entry);
  const { reason } = entry.payload;
  return mark && reason && !mark.more ? { ...mark, more: reason } : mark;
}
