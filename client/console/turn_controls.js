/** What can be done to one turn or to many, and how that is said. */

import { cancelTurn, pauseTurn, resumeTurn, retryTurn, steerTurn, sure } from "./commands.js";
import { askFor } from "./dialog.js";
import { tell } from "./news.js";

const AT_ONCE = 6;

/**
 * @typedef {object} Control
 * @property {string} label
 * @property {string} key
 * @property {string} done
 * @property {boolean} [danger]
 * @property {(count: string) => Promise<string | null>} [ask] what is needed first; null: it is not to happen
 * @property {(id: string, said: string) => Promise<unknown>} act
 */
/** @type {Record<string, Control>} */
export const CONTROLS = {
  pause: { label: "Pause", key: "p", done: "paused", act: pauseTurn },
  resume: { label: "Resume", key: "r", done: "resumed", act: resumeTurn },
  steer: {
    label: "Steer",
    key: "s",
    done: "steered",
    ask: (count) => askFor(`Steer ${count}`, "The next model call sees this.", { yes: "Steer", field: "What it is told", required: true, long: true }),
    act: steerTurn,
  },
  retry: { label: "Try again", key: "R", done: "tried again", act: retryTurn },
  cancel: {
    label: "Cancel",
    key: "c",
    done: "cancelled",
    danger: true,
    ask: async (count) => ((await sure(count)) ? "" : null),
    act: cancelTurn,
  },
};

/**
 * Do it to all of them, a few at a time, and say how many took it.
 * @param {string} name
 * @param {any[]} turns
 * @returns {Promise<boolean>} whether it was done
 */
export async function actOnTurns(name, turns) {
  if (!turns.length) return false;
  const control = CONTROLS[name];
  const count = turns.length === 1 ? `the turn of ${turns[0].key.session}` : `these ${turns.length} turns`;
  const said = control.ask ? await control.ask(count) : "";
  if (said === null) return false;
  /** @type {string[]} */
  const refused = [];
  const left = [...turns];
  const one = async () => {
    for (let turn = left.shift(); turn; turn = left.shift()) {
      await control.act(turn.status.turn_id, said).catch((problem) => refused.push(problem.message));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
  const done = turns.length - refused.length;
  if (done) tell(done === 1 ? `The turn is ${control.done}` : `${done} turns are ${control.done}`, "good");
  if (refused.length) tell(refused.length === 1 ? refused[0] : `${refused.length} refused, such as: ${refused[0]}`, "bad");
  return true;
}
