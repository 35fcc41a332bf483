/**
 * Looking again and again.
 *
 * Rule: one look at a time, and the next one waits longer if the last took long, so that a console never asks more of a
 * gateway than it can give. A tab that nobody sees does not look; it does at once when it is seen again, or when the
 * connection is healed.
 */

import { connection } from "./connection.js";

const REST_TIMES = 4;

export class Pulse {
  #stopped = false;
  #looking = false;
  #wanted = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /**
   * @param {number} everyMs
   * @param {() => Promise<unknown>} look
   */
  constructor(everyMs, look) {
    this.everyMs = everyMs;
    this.look = look;
    this.awake = () => !document.hidden && this.now();
    connection.addEventListener("healed", this.awake);
    document.addEventListener("visibilitychange", this.awake);
    this.#rest(everyMs);
  }

  /** Look at once, or once more when the look that is being taken has ended: it may have begun before what just changed. */
  async now() {
    if (this.#stopped) return;
    this.#wanted = this.#looking;
    if (this.#looking) return;
    this.#looking = true;
    clearTimeout(this.#timer);
    const began = performance.now();
    await this.look().catch(() => undefined); // the frame says that the connection is lost, or the page what is wrong
    this.#looking = false;
    if (this.#wanted) this.now();
    else this.#rest(Math.max(this.everyMs, REST_TIMES * (performance.now() - began)));
  }

  stop() {
    this.#stopped = true;
    clearTimeout(this.#timer);
    connection.removeEventListener("healed", this.awake);
    document.removeEventListener("visibilitychange", this.awake);
  }

  /** @param {number} ms */
  #rest(ms) {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => (document.hidden || connection.lost ? this.#rest(this.everyMs) : this.now()), ms);
  }
}
