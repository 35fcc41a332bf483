/** The console's beginning: who reads it, then the frame with its pages. */

import { look, Problem } from "./api.js";
import { connection } from "./connection.js";
import { fill, h } from "./dom.js";
import { login } from "./login.js";
import { openShell } from "./shell.js";

const AGAIN_MS = 2000;
const app = /** @type {HTMLElement} */ (document.getElementById("app"));

connection.probe = () => look("/me");
addEventListener("signed-out", (event) => signIn(/** @type {CustomEvent} */ (event).detail));
document.querySelector(".skip")?.addEventListener("click", (event) => {
  event.preventDefault();
  document.getElementById("main")?.focus();
});

/** @type {(() => void) | null} what ends the frame that is open */
let closeShell = null;

/** @param {string} [why] */
function signIn(why) {
  closeShell?.();
  closeShell = null;
  fill(app, login(why, enter));
  /** @type {HTMLElement | null} */ (app.querySelector("input"))?.focus();
}

/** Begin with the key there is; a gateway that asks nobody needs none. */
async function enter() {
  try {
    const me = await look("/me");
    closeShell?.();
    closeShell = openShell(app, me);
  } catch (error) {
    const problem = /** @type {Problem} */ (error);
    if (problem.status === 401) return;
    fill(app, h("main", { class: "alone" }, h("h1", {}, "The gateway does not answer"), h("p", {}, problem.message), h("p", { class: "faint" }, "It is tried again.")));
    if (problem.status === 0) connection.addEventListener("healed", enter, { once: true });
    else setTimeout(enter, AGAIN_MS);
  }
}

enter();
