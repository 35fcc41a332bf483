/**
 * A form for what a JSON schema describes: a field for each plain property, and a text of JSON for everything else.
 *
 * Rule: the gateway checks the answer; here only what was typed is turned into what it stands for.
 */

import { h } from "./dom.js";

/** @typedef {{element: HTMLElement, read: () => Record<string, any>}} Form */

/**
 * @param {any} schema
 * @param {Record<string, any>} [given] what it begins with
 * @returns {Form}
 */
export function formOf(schema, given = {}) {
  const properties = Object.entries(schema?.properties ?? {});
  if (!properties.length || properties.some(([, property]) => !plain(property))) return jsonForm(given);
  const required = new Set(schema.required ?? []);
  const fields = properties.map(([name, property]) => fieldOf(name, property, required.has(name), Object.hasOwn(given, name) ? given[name] : undefined));
  return {
    element: h("div", { class: "form" }, ...fields.map((field) => field.element)),
    read: () => Object.fromEntries(fields.map((field) => [field.name, field.read()]).filter(([, value]) => value !== undefined)),
  };
}

/**
 * One text of JSON.
 * @param {Record<string, any>} given
 * @returns {Form}
 */
export function jsonForm(given) {
  const text = JSON.stringify(given, null, 2);
  const rows = Math.min(16, Math.max(4, text.split("\n").length));
  const area = /** @type {HTMLTextAreaElement} */ (
    h("textarea", { class: "code", rows, spellcheck: "false", "aria-label": "As JSON", value: text })
  );
  return {
    element: h("div", { class: "form" }, area),
    read: () => {
      const said = JSON.parse(area.value);
      if (said === null || typeof said !== "object" || Array.isArray(said)) throw new Error("this must be an object, in braces");
      return said;
    },
  };
}

/** @param {any} property */
function plain(property) {
  return Boolean(property.enum) || ["string", "number", "integer", "boolean"].includes(property.type);
}

/**
 * @param {string} name
 * @param {any} property
 * @param {boolean} required
 * @param {any} given
 */
function fieldOf(name, property, required, given) {
  const now = given ?? property.default;
  const input = /** @type {any} */ (inputOf(name, property, required, now));
  const title = property.title ?? name;
  const label = h("label", {}, h("span", {}, title, required ? "" : h("span", { class: "faint" }, " if you like")), input);
  if (property.description) label.append(h("small", {}, property.description));
  return { name, element: label, read: () => valueIn(input, property, required) };
}

/**
 * @param {string} name
 * @param {any} property
 * @param {boolean} required
 * @param {any} now
 */
function inputOf(name, property, required, now) {
  if (property.enum) {
    const options = property.enum.map((/** @type {any} */ one, /** @type {number} */ i) =>
      h("option", { value: String(i), selected: one === now }, String(one)),
    );
    return h("select", { name, required }, !required && h("option", { value: "" }, "—"), ...options);
  }
  if (property.type === "boolean") return h("input", { name, type: "checkbox", checked: now === true });
  if (property.type === "string") {
    const long = !property.format && (property.maxLength ?? 999) > 120;
    return h(long ? "textarea" : "input", { name, required, rows: long ? 2 : null, value: now ?? "" });
  }
  return h("input", { name, required, type: "number", step: property.type === "integer" ? 1 : "any", value: now ?? "" });
}

/**
 * @param {any} input
 * @param {any} property
 * @param {boolean} required
 */
function valueIn(input, property, required) {
  if (property.type === "boolean" && !property.enum) return input.checked;
  if (input.value === "") return required && property.type === "string" && !property.enum ? "" : undefined;
  if (property.enum) return property.enum[Number(input.value)];
  return property.type === "string" ? input.value : Number(input.value);
}
