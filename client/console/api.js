/**
 * Questions to the gateway, and what goes wrong with them.
 *
 * Rule: a command carries an id of its own, so one that brought no answer is repeated and still done once.
 */

import { connection } from "./connection.js";
import { forgetKey, readKey } from "./key.js";

const ROOT = new URL("../v1", document.baseURI).href;
const WAITS_MAX = 3;
const ANSWER_MS_MAX = 60_000;
const PASSING = new Set([0, 408, 429, 502, 503, 504]);
const DOTS = /^~*\.{1,2}$/;

/** What the gateway says is wrong; `status` 0: it did not answer. */
export class Problem extends Error {
  /**
   * @param {number} status
   * @param {string} code
   * @param {string} detail
   * @param {any} [receipt]
   */
  constructor(status, code, detail, receipt) {
    super(detail);
    this.status = status;
    this.code = code;
    this.receipt = receipt;
  }

  /** Whether it will be otherwise in a while, with nobody doing anything. */
  get passing() {
    return PASSING.has(this.status);
  }
}

/** @typedef {Record<string, string | number | boolean | string[] | null | undefined>} Params */
/** @typedef {{params?: Params, body?: any, requestId?: string, waitMs?: number, as?: "bytes"}} Given */

/**
 * A path of which each part is a value. One of dots only would be taken for "this folder" or "the one above", so it gets a
 * tilde in front, and one that has tildes before such dots one more.
 * @param {TemplateStringsArray} texts
 * @param {...string} values
 */
export function path(texts, ...values) {
  const parts = values.map((value) => encodeURIComponent(DOTS.test(value) ? `~${value}` : value));
  return texts.reduce((made, text, i) => made + parts[i - 1] + text);
}

/**
 * Whose session it is, as a query says it.
 * @param {{user: string | null}} key
 * @returns {Params}
 */
export function ownerOf(key) {
  return key.user === null || key.user === undefined ? { anonymous: true } : { user: key.user };
}

/**
 * The whole address.
 * @param {string} where
 * @param {Params} [params]
 */
export function address(where, params = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value === null || value === undefined || value === "") continue;
    for (const one of Array.isArray(value) ? value : [value]) query.append(name, String(one));
  }
  const said = query.toString();
  return ROOT + where + (said ? `?${said}` : "");
}

/** @returns {Record<string, string>} */
export function credentials() {
  const key = readKey();
  return key ? { Authorization: `Bearer ${key}` } : {};
}

/**
 * Look at something.
 * @param {string} where
 * @param {Params} [params]
 * @param {number} [waitMs] for how long at most
 * @param {"bytes"} [as] what there is to see, if it is no JSON
 * @returns {Promise<any>}
 */
export function look(where, params, waitMs, as) {
  return ask("GET", where, { params, waitMs, as });
}

/**
 * Give a command.
 * @param {string} where
 * @param {any} body
 * @param {Params} [params]
 * @returns {Promise<any>} its receipt
 */
export async function command(where, body = {}, params) {
  const given = { params, body, requestId: `console-${randomId()}` };
  try {
    return await ask("POST", where, given);
  } catch (problem) {
    if (!(problem instanceof Problem) || problem.status !== 0) throw problem;
    await new Promise((done) => setTimeout(done, 500));
    return ask("POST", where, given);
  }
}

/**
 * @param {string} method
 * @param {string} where
 * @param {Given} given
 */
async function ask(method, where, given) {
  for (let tried = 1; ; tried += 1) {
    const answer = await sent(method, where, given);
    const busy = answer.status === 429 || answer.status === 503;
    if (!busy || tried >= WAITS_MAX) return taken(answer, given.as);
    const seconds = Number(answer.headers.get("Retry-After")) || 1;
    await new Promise((done) => setTimeout(done, Math.min(seconds, 5) * 1000));
  }
}

/**
 * @param {string} method
 * @param {string} where
 * @param {Given} given
 */
async function sent(method, where, { params, body, requestId, waitMs = ANSWER_MS_MAX }) {
  const headers = credentials();
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (requestId) headers["Idempotency-Key"] = requestId;
  try {
    const answer = await fetch(address(where, params), {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(waitMs),
      cache: "no-store",
      credentials: "omit",
    });
    if (answer.status < 500) connection.found();
    return answer;
  } catch {
    throw unreachable();
  }
}

function unreachable() {
  connection.missed();
  return new Problem(0, "unreachable", "the gateway does not answer");
}

/**
 * @param {Response} answer
 * @param {"bytes"} [as]
 */
async function taken(answer, as) {
  if (!answer.ok) throw await problemOf(answer);
  if (answer.status === 204) return null;
  return (as ? answer.arrayBuffer() : answer.json()).catch(() => {
    throw unreachable(); // it broke off in the middle
  });
}

/**
 * What an answer that is none says.
 * @param {Response} answer
 */
export async function problemOf(answer) {
  const said = await answer.json().catch(() => ({}));
  const problem = new Problem(
    answer.status,
    said.code ?? "unknown",
    said.detail ?? `the gateway answered ${answer.status}`,
    said.receipt,
  );
  if (answer.status === 401) {
    forgetKey();
    dispatchEvent(new CustomEvent("signed-out", { detail: problem.message }));
  }
  return problem;
}

/** An id nobody else has; `crypto.randomUUID` is there on secure pages only. */
function randomId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
