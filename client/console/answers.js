/**
 * The ways to answer a question, by its kind: what can be pressed, and what is typed first.
 *
 * Rule: what can be answered with one press is; what changes more than this one call is said in words beside it.
 */

import { button, fill, h } from "./dom.js";
import { raiseSessionBudget, reconcile, respond } from "./commands.js";
import { formOf, jsonForm } from "./schema_form.js";

/** @typedef {(done: string, act: () => Promise<unknown>) => void} Send */
/** @typedef {{element: HTMLElement, keys: Record<string, () => void>}} Answers */

/** @type {Record<string, (question: any, send: Send) => Answers>} */
const KINDS = { approval, form, external, unknown_outcome: unknownOutcome, budget };
/** @type {Record<string, string>} */
const UNITS = {
  steps: "steps",
  tokens: "tokens",
  cost_microusd: "US dollars",
  wall_time_s: "seconds",
  tool_calls: "tool calls",
};

/**
 * @param {any} question
 * @param {Send} send
 * @returns {Answers}
 */
export function answersTo(question, send) {
  return KINDS[question.kind](question, send);
}

/** @type {(question: any, send: Send) => Answers} */
function approval(question, send) {
  const below = h("div", { class: "below" });
  const approve = () => send("Approved", () => respond(question, "approve"));
  const deny = () => send("Denied", () => respond(question, "deny"));
  const edit = () => fill(below, editForm(question, send, () => fill(below)));
  const say = () => fill(below, textForm("What the model is told", "Deny", (text) => send("Denied", () => respond(question, "deny", { message: text })), () => fill(below)));
  const element = h(
    "div",
    {},
    h(
      "div",
      { class: "actions" },
      button("Approve", approve, { class: "good", shortcut: "a" }),
      button("Deny", deny, { class: "danger", shortcut: "d" }),
      button("Edit", edit, { shortcut: "e" }),
      button("Deny with words", say, { class: "quiet" }),
      always(question, send),
    ),
    below,
  );
  return { element, keys: { a: approve, d: deny, e: edit } };
}

/**
 * Rules that allow such calls from now on; there are none to offer where none would be heard.
 * @type {(question: any, send: Send) => HTMLElement | null}
 */
function always(question, send) {
  const suggestions = question.asked.suggestions ?? [];
  if (!suggestions.length) return null;
  const choice = /** @type {HTMLSelectElement} */ (
    h("select", { "aria-label": "The rule" }, ...suggestions.map((/** @type {string} */ rule) => h("option", { value: rule }, rule)))
  );
  const act = () => send(`Approved, and always ${choice.value}`, () => respond(question, "approve", { always: choice.value }));
  return h("span", { class: "joined" }, button("Always allow", act), choice);
}

/** @type {(question: any, send: Send, close: () => void) => HTMLElement} */
function editForm(question, send, close) {
  const { parameters } = question.asked.spec ?? {};
  const now = question.asked.arguments ?? {};
  const covered = Object.keys(now).every((name) => Object.hasOwn(parameters?.properties ?? {}, name));
  const given = covered ? formOf(parameters, now) : jsonForm(now);
  return submitted(given.element, "Approve with these", () => {
    const changed = given.read();
    send("Approved with other arguments", () => respond(question, "approve", { arguments: changed }));
  }, close);
}

/** @type {(question: any, send: Send) => Answers} */
function form(question, send) {
  const given = formOf(question.asked.schema, {});
  const decline = () => send("Declined", () => respond(question, "decline"));
  const element = submitted(given.element, "Answer", () => {
    const answer = given.read();
    send("Answered", () => respond(question, "answer", answer));
  }, null, button("Decline", decline, { class: "quiet", shortcut: "d" }));
  const focus = () => /** @type {HTMLElement | null} */ (element.querySelector("input, textarea, select"))?.focus();
  return { element, keys: { a: focus, d: decline } };
}

/** @type {(question: any, send: Send) => Answers} */
function external(question, send) {
  const area = /** @type {any} */ (h("textarea", { rows: 3, "aria-label": "The result" }));
  const failed = () => send("Delivered as failed", () => respond(question, "failed", area.value ? { output: area.value } : {}));
  const element = submitted(h("label", { class: "form" }, h("span", {}, "The result"), area), "Deliver", () => {
    send("Delivered", () => respond(question, "succeeded", { output: area.value }));
  }, null, button("It failed", failed, { class: "danger", shortcut: "d" }));
  return { element, keys: { a: () => area.focus(), d: failed } };
}

/** @type {(question: any, send: Send) => Answers} */
function unknownOutcome(question, send) {
  const reason = /** @type {any} */ (h("input", { required: true, placeholder: "such as: the ledger shows it", "aria-label": "How you know" }));
  const output = /** @type {any} */ (h("textarea", { rows: 2, "aria-label": "What the model is told" }));
  /** @type {(outcome: "succeeded" | "failed" | "run_again", done: string) => () => void} */
  const say = (outcome, done) => () => {
    if (!reason.reportValidity()) return;
    send(done, () => reconcile(question, outcome, output.value, reason.value));
  };
  const fields = h(
    "div",
    { class: "form" },
    h("label", {}, h("span", {}, "How you know"), reason),
    h("label", {}, h("span", {}, "What the model is told", h("span", { class: "faint" }, " if you like")), output),
  );
  const element = h(
    "div",
    {},
    fields,
    h(
      "div",
      { class: "actions" },
      button("It was done", say("succeeded", "Recorded as done"), { class: "good" }),
      button("It was not", say("failed", "Recorded as not done"), { class: "danger" }),
      button("Run it again", say("run_again", "It runs again")),
    ),
  );
  return { element, keys: { a: () => reason.focus() } };
}

/** @type {(question: any, send: Send) => Answers} */
function budget(question, send) {
  const { over = [], used = {}, scope = "turn", budget: bounds = {} } = question.asked;
  const inputs = over.map((/** @type {string} */ name) => {
    const factor = name === "cost_microusd" ? 1e-6 : 1;
    const spent = name === "wall_time_s" ? (used.wall_us ?? 0) / 1e6 : used[name] ?? 0;
    const twice = Math.max(2 * (bounds[name] ?? 0), Math.ceil(1.5 * spent)) * factor;
    const input = /** @type {any} */ (h("input", { type: "number", min: 0, step: factor === 1 ? 1 : "any", value: twice, required: true }));
    const label = `${UNITS[name] ?? name}, of which ${Math.round(spent * factor * 1e4) / 1e4} are used`;
    return { name, input, factor, element: h("label", {}, h("span", {}, label), input) };
  });
  const fail = () => send("It fails", () => respond(question, "fail"));
  const fields = h("div", { class: "form" }, ...inputs.map((/** @type {any} */ one) => one.element));
  const element = submitted(fields, `Raise the budget of the ${scope}`, () => {
    const raised = Object.fromEntries(inputs.map((/** @type {any} */ one) => [one.name, one.factor === 1 ? Number(one.input.value) : Math.round(Number(one.input.value) / one.factor)]));
    const whole = scope === "session";
    send("Raised", () => (whole ? raiseSessionBudget(question.key, raised) : respond(question, "raise", { budget: raised })));
  }, null, button("Let it fail", fail, { class: "danger", shortcut: "d" }));
  return { element, keys: { a: () => inputs[0]?.input.focus(), d: fail } };
}

/** @type {(field: string, yes: string, act: (text: string) => void, close: () => void) => HTMLElement} */
function textForm(field, yes, act, close) {
  const area = /** @type {any} */ (h("textarea", { rows: 3, required: true, "aria-label": field }));
  queueMicrotask(() => area.focus());
  return submitted(h("label", { class: "form" }, h("span", {}, field), area), yes, () => act(area.value), close);
}

/**
 * A form around fields; what is wrong with what was typed is said in it.
 * @type {(fields: HTMLElement, yes: string, act: () => void, close: (() => void) | null, ...more: HTMLElement[]) => HTMLElement}
 */
function submitted(fields, yes, act, close, ...more) {
  const wrong = h("p", { class: "wrong", role: "alert" });
  const actions = h("div", { class: "actions" }, h("button", { type: "submit", class: "primary" }, yes), ...more);
  if (close) actions.append(button("Never mind", close, { class: "quiet" }));
  const made = h("form", {}, fields, wrong, actions);
  made.addEventListener("submit", (event) => {
    event.preventDefault();
    fill(wrong);
    try {
      act();
    } catch (error) {
      fill(wrong, error instanceof Error ? error.message : String(error));
    }
  });
  return made;
}
