/**
 * The reader's key: in this tab, until it is closed.
 *
 * Rule: it is kept in sessionStorage and sent as a header, never in an address.
 */

const NAME = "turnwright.key";

/** @returns {string | null} */
export function readKey() {
  return sessionStorage.getItem(NAME);
}

/** @param {string} key */
export function keepKey(key) {
  sessionStorage.setItem(NAME, key);
}

/** Leave, and leave nothing of it. */
export function signOut() {
  forgetKey();
  dispatchEvent(new CustomEvent("signed-out"));
}

/** Leave nothing of it. */
export function forgetKey() {
  sessionStorage.removeItem(NAME);
}
