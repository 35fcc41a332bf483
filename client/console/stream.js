/**
 * Server-sent events, read with fetch: `EventSource` cannot send a key.
 *
 * Rule: the last id is remembered and given when the stream breaks, so nothing is missed and nothing comes twice.
 * A stream that is silent for longer than its heartbeats is as good as broken.
 */

import { address, credentials, problemOf } from "./api.js";
import { connection } from "./connection.js";

const SILENCE_MS_MAX = 40_000;
const AGAIN_MS = [250, 500, 1000, 2000, 4000];

/** @typedef {{name: string, id: string, data: any}} StreamEvent */

/** A stream that is followed until it is closed, or has nothing more to say. */
export class Stream {
  #closed = false;
  #broken = 0;
  /** Called whenever it is open, the first time and again. */
  onopen = () => {};
  /** @type {AbortController | null} */
  #abort = null;

  /**
   * @param {string} where
   * @param {Record<string, any>} params
   * @param {string} lastId
   * @param {(event: StreamEvent) => void} onevent
   * @param {(why: Error | null) => void} onend it will not come back: null, it is over; else why.
   */
  constructor(where, params, lastId, onevent, onend) {
    this.where = where;
    this.params = params;
    this.lastId = lastId;
    this.onevent = onevent;
    this.onend = onend;
    this.#run();
  }

  /** Hear nothing more. */
  close() {
    this.#closed = true;
    this.#abort?.abort();
  }

  async #run() {
    while (!this.#closed) {
      const gone = await this.#once().catch(() => {
        if (!this.#closed) connection.missed();
        return null;
      });
      if (this.#closed) return;
      if (gone) {
        this.onend(gone.over ? null : gone.why);
        return;
      }
      const wait = AGAIN_MS[Math.min(this.#broken, AGAIN_MS.length - 1)];
      this.#broken += 1;
      await new Promise((done) => setTimeout(done, wait));
    }
  }

  /** One connection, to its end. @returns {Promise<{over: boolean, why: Error | null} | null>} null: come back. */
  async #once() {
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    const headers = { ...credentials(), Accept: "text/event-stream", "Last-Event-ID": this.lastId };
    const silence = setTimeout(() => this.#abort?.abort(), SILENCE_MS_MAX);
    const asked = fetch(address(this.where, this.params), { headers, signal, cache: "no-store", credentials: "omit" });
    const answer = await asked.finally(() => clearTimeout(silence));
    if (!answer.ok) {
      const why = await problemOf(answer);
      return answer.status === 429 || answer.status >= 500 ? null : { over: false, why };
    }
    this.#broken = 0;
    connection.found();
    this.onopen();
    return this.#read(/** @type {ReadableStream<Uint8Array>} */ (answer.body).getReader());
  }

  /** @param {ReadableStreamDefaultReader<Uint8Array>} reader */
  async #read(reader) {
    const decoder = new TextDecoder();
    let text = "";
    for (;;) {
      const silence = setTimeout(() => this.#abort?.abort(), SILENCE_MS_MAX);
      const { done, value } = await reader.read().finally(() => clearTimeout(silence));
      if (done) return null;
      text += decoder.decode(value, { stream: true }).replaceAll("\r", "");
      const events = text.split("\n\n");
      text = /** @type {string} */ (events.pop());
      for (const event of events.map(parsed)) {
        if (!event) continue;
        if (event.id) this.lastId = event.id;
        this.onevent(event);
        if (event.name === "end") return { over: true, why: null };
      }
    }
  }
}

/**
 * @param {string} text
 * @returns {StreamEvent | null}
 */
function parsed(text) {
  let name = "message";
  let id = "";
  const data = [];
  for (const line of text.split("\n")) {
    const colon = line.indexOf(":");
    const value = line.slice(colon + 1).replace(/^ /, "");
    if (colon > 0 && line.startsWith("event:")) name = value;
    else if (colon > 0 && line.startsWith("id:")) id = value;
    else if (colon > 0 && line.startsWith("data:")) data.push(value);
  }
  return data.length || id ? { name, id, data: data.length && data[0] ? JSON.parse(data.join("\n")) : null } : null;
}
