/**
 * A list that comes in pages, newest first, and is looked at again while it is read.
 *
 * Rule: a page never shifts, so a stretch of the list can be asked for again by the place before it. What is no longer
 * in that stretch is gone from the list, and what is new is put where it belongs.
 */

const HEAD_PAGES_MAX = 10;

/** @template T */
export class Pager {
  /** @type {T[]} */
  items = [];
  /** @type {string | null} where to go on; null when there is no more */
  next = null;
  /** @type {(string | null)[]} the places pages began at */
  places = [null];
  loaded = false;
  #busy = false;

  /**
   * @param {(after: string | null) => Promise<{items: T[], next: string | null}>} load
   * @param {(item: T) => string} placeOf as the API says it: time, dot, id
   */
  constructor(load, placeOf) {
    this.load = load;
    this.placeOf = placeOf;
  }

  /** Get the next page, or the first. @returns {Promise<boolean>} whether there was one */
  async more() {
    if (this.#busy || (this.loaded && this.next === null)) return false;
    this.#busy = true;
    try {
      const after = this.next;
      const page = await this.load(after);
      if (after !== null) this.places.push(after);
      this.#splice(after, page);
      this.next = page.next;
      this.loaded = true;
      return true;
    } finally {
      this.#busy = false;
    }
  }

  /**
   * Look again at the newest page and at what is in sight.
   * @param {number} first index of the first row in sight
   */
  async refresh(first) {
    if (this.#busy) return;
    if (!this.loaded) {
      await this.more();
      return;
    }
    this.#busy = true;
    try {
      const seen = this.items[first];
      const place = seen ? this.places.findLast((one) => one === null || before(one, this.placeOf(seen))) : null;
      await this.#again(null);
      if (place) await this.#again(place);
    } finally {
      this.#busy = false;
    }
  }

  /** @param {string | null} after */
  async #again(after) {
    const newest = this.items[0] ? this.placeOf(this.items[0]) : null;
    let page = await this.load(after);
    this.#splice(after, page);
    // More may have come than one page holds; a list with a hole in it would be wrong.
    for (let pages = 1; after === null && newest && page.next && before(page.next, newest); pages += 1) {
      if (pages === HEAD_PAGES_MAX) {
        this.items = this.items.filter((item) => !before(/** @type {string} */ (page.next), this.placeOf(item)));
        this.places = [null];
        this.next = page.next;
        return;
      }
      const place = page.next;
      page = await this.load(place);
      this.#splice(place, page);
    }
    if (page.next === null) this.next = null;
  }

  /**
   * Put a page in the place of the stretch it covers.
   * @param {string | null} after
   * @param {{items: T[], next: string | null}} page
   */
  #splice(after, page) {
    const newer = after === null ? [] : this.items.slice(0, this.#behind(after));
    const older = page.next === null ? [] : this.items.slice(this.#behind(page.next));
    this.items = [...newer, ...page.items, ...older];
  }

  /** @param {string} place @returns {number} the index of the first item behind it */
  #behind(place) {
    let low = 0;
    let high = this.items.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (before(place, this.placeOf(this.items[middle]))) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

/**
 * Whether one place comes before another in a list that begins with the newest.
 * @param {string} one
 * @param {string} other
 */
function before(one, other) {
  const [us, id] = parts(one);
  const [otherUs, otherId] = parts(other);
  return us === otherUs ? id > otherId : us > otherUs;
}

/**
 * @param {string} place
 * @returns {[number, string]}
 */
function parts(place) {
  const dot = place.indexOf(".");
  return [Number(place.slice(0, dot)), place.slice(dot + 1)];
}
