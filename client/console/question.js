/** A question on a card: what is asked, by whom, since when, and the ways to answer it. */

import { look, path } from "./api.js";
import { answersTo } from "./answers.js";
import { chip } from "./chip.js";
import { fill, h } from "./dom.js";
import { tell } from "./news.js";
import { addressOfThread } from "./router.js";
import { ticking } from "./times.js";
import { fieldsOf, textOf, valueOf } from "./values.js";

const WHOLE_KEPT_MAX = 200;

/** @type {Record<string, (question: any) => string>} */
const TITLES = {
  approval: (question) => `May ${question.tool ?? "a tool"} run?`,
  form: (question) => `${question.tool ?? "A tool"} asks`,
  external: (question) => `${question.tool ?? "A tool"} waits for a result`,
  unknown_outcome: (question) => `What became of ${question.tool ?? "a call"}?`,
  budget: (question) => `The budget of its ${question.asked.scope ?? "turn"} is used up`,
};

/** Keys of the cards, by their elements. @type {WeakMap<HTMLElement, Record<string, () => void>>} */
const KEYS = new WeakMap();

/**
 * @param {any} question with all of what is asked
 * @param {() => void} onsettled
 * @returns {HTMLElement}
 */
export function cardOf(question, onsettled) {
  const body = h("div", { class: "card-body" });
  const card = h(
    "article",
    { class: "card", tabindex: "-1", "aria-label": TITLES[question.kind](question), dataset: { id: question.interaction_id } },
    headerOf(question),
    body,
  );
  const answers = answersTo(question, sender(card, onsettled));
  KEYS.set(card, answers.keys);
  fill(body, ...askedIn(question), answers.element);
  return card;
}

/**
 * Questions with all of what is asked: a list only names large ones, and does not say what a lost call was called with.
 * @param {any[]} questions
 * @returns {Promise<any[]>}
 */
export function wholeOf(questions) {
  return Promise.all(questions.map((one) => (one.large || one.kind === "unknown_outcome" ? whole(one) : one)));
}

/** @type {Map<string, any>} */
const WHOLE = new Map();

/** @param {any} question */
async function whole(question) {
  const { interaction_id } = question;
  if (!WHOLE.has(interaction_id)) {
    const read = await look(path`/interactions/${interaction_id}`).catch(() => null);
    if (!read) return question;
    WHOLE.set(interaction_id, { ...read, large: false });
    if (WHOLE.size > WHOLE_KEPT_MAX) WHOLE.delete(WHOLE.keys().next().value ?? "");
  }
  return WHOLE.get(interaction_id);
}

/**
 * What a key does on a card; undefined: nothing.
 * @param {HTMLElement} card
 * @param {string} key
 */
export function keyOn(card, key) {
  return KEYS.get(card)?.[key];
}

/** @param {any} question */
function headerOf(question) {
  const { key } = question;
  const due = question.deadline_us;
  return h(
    "header",
    {},
    chip(question.kind),
    h("h3", {}, TITLES[question.kind](question)),
    h("span", { class: "spacer" }),
    due && h("span", { class: "due" }, `${question.on_expiry ?? "expires"} in `, ticking(due, "until")),
    ticking(question.asked_us),
    h(
      "a",
      { class: "where", href: addressOfThread(key, { turn: question.turn_id }) },
      h("span", {}, key.session),
      h("span", { class: "faint" }, ` ${key.agent}${key.thread === "main" ? "" : ` / ${key.thread}`}`),
      key.user && h("span", { class: "faint" }, ` of ${key.user}`),
    ),
  );
}

/** @param {any} question */
function askedIn(question) {
  const { asked, parent } = question;
  const above = parent && { ...question.key, agent: parent.agent, thread: parent.thread };
  const given = asked.arguments ?? question.called_with;
  const words = asked.prompt ?? asked.message;
  return [
    question.large && h("p", { class: "faint" }, "What is asked is too large for a list, and could not be read."),
    words && question.kind !== "approval" && textOf(String(words)),
    given && fieldsOf(given),
    asked.why && h("p", { class: "faint" }, [words, `Asked by: ${asked.why}`, asked.effect && `effect: ${asked.effect}`].filter(Boolean).join(" · ")),
    question.kind === "budget" && asked.used && h("details", {}, h("summary", {}, "What was used"), valueOf(asked.used)),
    above && h("p", { class: "faint" }, "Asked by a subagent of ", h("a", { href: addressOfThread(above, { turn: parent.turn_id }) }, parent.agent)),
    question.started_us && h("p", { class: "faint" }, "It began ", ticking(question.started_us), " ago"),
    question.idempotency_key && h("p", { class: "faint" }, "Look for it by its key ", h("code", {}, question.idempotency_key)),
  ].filter(Boolean);
}

/**
 * Sends an answer once, and says how that went.
 * @param {HTMLElement} card
 * @param {() => void} onsettled
 * @returns {import("./answers.js").Send}
 */
function sender(card, onsettled) {
  return async (done, act) => {
    if (card.dataset.sending) return;
    card.dataset.sending = "yes";
    card.inert = true;
    try {
      await act();
      tell(done, "good");
      onsettled();
    } catch (error) {
      const problem = /** @type {any} */ (error);
      tell(problem.message, "bad");
      if (["already_answered", "expired", "not_open", "wrong_phase"].includes(problem.code)) onsettled();
      delete card.dataset.sending;
      card.inert = false;
    }
  };
}

