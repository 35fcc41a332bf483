/** Where the key is entered, once. */

import { h } from "./dom.js";
import { keepKey, readKey } from "./key.js";
import { themeSwitch } from "./theme.js";

/**
 * @param {string | undefined} why the last key was refused
 * @param {() => Promise<void>} enter
 */
export function login(why, enter) {
  const input = /** @type {HTMLInputElement} */ (
    h("input", { type: "password", name: "key", required: true, autocomplete: "current-password", spellcheck: "false", "aria-label": "API key or token" })
  );
  const refused = why && asked() ? h("p", { class: "wrong", role: "alert" }, "This key is not valid here.") : null;
  const form = h(
    "form",
    { class: "login" },
    h("h1", {}, h("img", { src: "icon.svg", alt: "", width: 28, height: 28 }), "Turnwright"),
    h("label", {}, h("span", {}, "API key or token"), input),
    refused,
    h("button", { type: "submit", class: "primary" }, "Open the console"),
    h("p", { class: "faint" }, "It stays in this tab until that is closed. ", h("code", {}, "turnwright keys create"), " makes one."),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    keepKey(input.value.trim());
    tried = true;
    enter();
  });
  return h("main", { class: "alone", id: "main", tabindex: "-1" }, form, themeSwitch());
}

let tried = false;

function asked() {
  return tried && readKey() === null;
}
