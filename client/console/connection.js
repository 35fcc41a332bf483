/**
 * Whether the gateway answers.
 *
 * Rule: whoever asks it anything reports here. Once it does not answer it is asked again until it does; then everybody
 * is told, and looks at everything anew.
 */

const AGAIN_MS = [500, 1000, 2000, 4000];

class Connection extends EventTarget {
  lost = false;
  /** How often it was tried since. */
  tries = 0;
  /** @type {(() => Promise<void>) | null} How to find out; set once by who can ask. */
  probe = null;

  /** It answered. */
  found() {
    if (!this.lost) return;
    this.lost = false;
    this.tries = 0;
    this.dispatchEvent(new Event("change"));
    this.dispatchEvent(new Event("healed"));
  }

  /** It did not answer. */
  missed() {
    if (this.lost) return;
    this.lost = true;
    this.dispatchEvent(new Event("change"));
    this.#again();
  }

  #again() {
    const wait = AGAIN_MS[Math.min(this.tries, AGAIN_MS.length - 1)];
    setTimeout(async () => {
      if (!this.lost) return;
      this.tries += 1;
      await this.probe?.().catch(() => undefined);
      if (this.lost) this.#again();
    }, wait);
  }
}

export const connection = new Connection();
