/** Questions that must be answered before anything else, in the browser's own dialog. */

import { button, h } from "./dom.js";

/**
 * Show something until it is closed.
 * @param {string} title
 * @param {...Node} content
 * @returns {HTMLDialogElement}
 */
export function openDialog(title, ...content) {
  const dialog = /** @type {HTMLDialogElement} */ (
    h(
      "dialog",
      { "aria-label": title },
      h("header", {}, h("h2", {}, title), button("Close", () => dialog.close(), { class: "quiet" })),
      ...content,
    )
  );
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/**
 * Ask before something that cannot be undone, and for what it needs: the text, or null if it is not to happen.
 * @param {string} title
 * @param {string} explained
 * @param {{yes: string, field?: string, required?: boolean, danger?: boolean, long?: boolean}} how
 * @returns {Promise<string | null>}
 */
export function askFor(title, explained, { yes, field, required, danger, long }) {
  return new Promise((resolve) => {
    let answer = /** @type {string | null} */ (null);
    const input = field ? h(long ? "textarea" : "input", { required, rows: long ? 4 : null, "aria-label": field }) : null;
    const dismiss = button("Never mind", () => dialog.close(), { class: "quiet" });
    const form = h(
      "form",
      { method: "dialog" },
      h("p", {}, explained),
      input && h("label", {}, h("span", {}, field), input),
      h(
        "div",
        { class: "actions" },
        h("button", { type: "submit", class: danger ? "danger" : "primary" }, yes),
        dismiss,
      ),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      answer = input ? /** @type {any} */ (input).value : "";
      dialog.close();
    });
    const dialog = openDialog(title, form);
    dialog.addEventListener("close", () => resolve(answer));
    // Two keys in a hurry must not do what cannot be undone.
    (input ?? (danger ? dismiss : /** @type {HTMLElement} */ (form.querySelector("[type=submit]")))).focus();
  });
}
