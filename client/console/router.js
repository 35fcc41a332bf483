/**
 * Where the reader is: a page and what it shows, in the part of the address behind `#`.
 *
 * Rule: everything that can be seen has an address, so it can be sent to a colleague. No key is ever in one.
 */

/** @typedef {{page: string, params: URLSearchParams}} Place */
/** @typedef {{tenant?: string, user: string | null, agent: string, session: string, thread: string}} ThreadKey */
/** @typedef {{tenant?: string, user: string | null, session: string}} SessionKey */

/** @returns {Place} */
export function here() {
  const [page, query] = location.hash.replace(/^#\/?/, "").split("?");
  return { page: page || "inbox", params: new URLSearchParams(query ?? "") };
}

/**
 * The address of a page.
 * @param {string} page
 * @param {Record<string, string | null | undefined>} [params]
 */
export function addressOf(page, params = {}) {
  const said = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) if (value) said.set(name, value);
  const query = said.toString();
  return `#/${page}${query ? `?${query}` : ""}`;
}

/**
 * Go there.
 * @param {string} address
 */
export function go(address) {
  location.hash = address;
}

/**
 * Say in the address what the page shows now, without going anywhere.
 * @param {string} page
 * @param {Record<string, string | null | undefined>} params
 */
export function note(page, params) {
  history.replaceState(null, "", addressOf(page, params));
}

/**
 * The address of a thread, at one of its turns or tabs.
 * @param {ThreadKey} key
 * @param {Record<string, string | null | undefined>} [more]
 */
export function addressOfThread(key, more = {}) {
  return addressOf("thread", { ...owner(key), session: key.session, agent: key.agent, thread: key.thread, ...more });
}

/**
 * The address of a session.
 * @param {SessionKey} key
 */
export function addressOfSession(key) {
  return addressOf("session", { ...owner(key), session: key.session });
}

/**
 * The session a place names.
 * @param {URLSearchParams} params
 * @returns {SessionKey}
 */
export function sessionIn(params) {
  return { user: params.get("user"), session: params.get("session") ?? "" };
}

/**
 * The thread a place names.
 * @param {URLSearchParams} params
 * @returns {ThreadKey}
 */
export function threadIn(params) {
  return { ...sessionIn(params), agent: params.get("agent") ?? "", thread: params.get("thread") || "main" };
}

/** @param {{user: string | null}} key */
function owner(key) {
  return { user: key.user };
}
