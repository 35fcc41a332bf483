/**
 * What an operator can do to turns, threads and sessions.
 *
 * Rule: a resume names the revision that was seen, so it never lifts a pause that somebody set since.
 */

import { command, look, ownerOf, path } from "./api.js";
import { askFor } from "./dialog.js";

/** @typedef {import("./router.js").ThreadKey} ThreadKey */
/** @typedef {import("./router.js").SessionKey} SessionKey */

/** @param {SessionKey} key */
export function pathOfSession(key) {
  return path`/sessions/${key.session}`;
}

/** @param {ThreadKey} key */
export function pathOfThread(key) {
  return path`/sessions/${key.session}/threads/${key.agent}/${key.thread}`;
}

/** @param {string} id */
export function pauseTurn(id) {
  return command(path`/turns/${id}/pause`);
}

/** @param {string} id */
export function cancelTurn(id) {
  return command(path`/turns/${id}/cancel`);
}

/** @param {string} id */
export function retryTurn(id) {
  return command(path`/turns/${id}/retry`);
}

/**
 * @param {string} id
 * @param {string} text
 */
export function steerTurn(id, text) {
  return command(path`/turns/${id}/steer`, { message: text });
}

/**
 * Lift the pause that holds a turn: its own, else its thread's, else its session's. Says which it was.
 * @param {string} id
 * @returns {Promise<string>}
 */
export async function resumeTurn(id) {
  const view = await look(path`/turns/${id}`);
  if (view.row.pause !== "none") {
    await command(path`/turns/${id}/resume`, { revision: view.row.revision });
    return "The turn goes on";
  }
  if (view.held_by?.thread) {
    await resumeThread(view.key);
    return "The turn's thread goes on";
  }
  if (view.held_by?.session) {
    await resumeSession(view.key);
    return "The turn's session goes on";
  }
  throw new Error("nothing holds this turn");
}

/** @param {ThreadKey} key */
export function pauseThread(key) {
  return command(`${pathOfThread(key)}/pause`, {}, ownerOf(key));
}

/** @param {ThreadKey} key */
export async function resumeThread(key) {
  const seen = await look(pathOfThread(key), ownerOf(key));
  return command(`${pathOfThread(key)}/resume`, { revision: seen.control.pause.revision }, ownerOf(key));
}

/** @param {ThreadKey} key */
export function cancelThread(key) {
  return command(`${pathOfThread(key)}/cancel`, {}, ownerOf(key));
}

/** @param {SessionKey} key */
export function pauseSession(key) {
  return command(`${pathOfSession(key)}/pause`, {}, ownerOf(key));
}

/** @param {SessionKey} key */
export async function resumeSession(key) {
  const seen = await look(pathOfSession(key), ownerOf(key));
  return command(`${pathOfSession(key)}/resume`, { revision: seen.control.pause.revision }, ownerOf(key));
}

/** @param {SessionKey} key */
export function cancelSession(key) {
  return command(`${pathOfSession(key)}/cancel`, {}, ownerOf(key));
}

/**
 * Answer a question.
 * @param {{turn_id: string, interaction_id: string}} question
 * @param {string} resolution
 * @param {Record<string, any>} [answer]
 */
export function respond(question, resolution, answer = {}) {
  const { interaction_id } = question;
  return command(path`/turns/${question.turn_id}/respond`, { interaction_id, resolution, answer });
}

/**
 * Say what became of a call.
 * @param {{turn_id: string, call_id: string}} question
 * @param {"succeeded" | "failed" | "run_again"} outcome
 * @param {string} output
 * @param {string} reason
 */
export function reconcile(question, outcome, output, reason) {
  const said = output ? [{ type: "text", text: output }] : [];
  return command(path`/turns/${question.turn_id}/reconcile`, { call_id: question.call_id, outcome, output: said, reason });
}

/**
 * Raise what a session's threads may use together.
 * @param {SessionKey} key
 * @param {Record<string, number>} bounds
 */
export async function raiseSessionBudget(key, bounds) {
  const seen = await look(pathOfSession(key), ownerOf(key));
  return command(`${pathOfSession(key)}/budget`, { budget: { ...seen.control.budget, ...bounds } }, ownerOf(key));
}

/**
 * Ask whether something is really to be cancelled.
 * @param {string} what
 */
export async function sure(what) {
  const explained = "What runs is stopped, and what a model has said so far is kept. This cannot be undone.";
  return (await askFor(`Cancel ${what}?`, explained, { yes: `Cancel ${what}`, danger: true })) !== null;
}
