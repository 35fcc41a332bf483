/**
 * The frame around the pages: where one can go, whether the gateway answers, who reads.
 *
 * Rule: one page at a time; a page that is left hears nothing more.
 */

import { look } from "./api.js";
import { connection } from "./connection.js";
import { button, fill, h, write } from "./dom.js";
import { bindEverywhere, bindPage, showKeys } from "./keyboard.js";
import { signOut } from "./key.js";
import { tell } from "./news.js";
import { inboxPage } from "./pages/inbox.js";
import { sessionPage } from "./pages/session.js";
import { sessionsPage } from "./pages/sessions.js";
import { systemPage } from "./pages/system.js";
import { threadPage } from "./pages/thread.js";
import { turnsPage } from "./pages/turns.js";
import { Pulse } from "./pulse.js";
import { addressOf, addressOfThread, go, here } from "./router.js";
import { themeSwitch } from "./theme.js";

/** @typedef {{title: string, element: HTMLElement, close: () => void, search?: () => void}} PageShown */
/** @typedef {(place: import("./router.js").Place, me: any) => PageShown} Page */

/** @type {Record<string, Page>} */
const PAGES = { inbox: inboxPage, turns: turnsPage, thread: threadPage, sessions: sessionsPage, session: sessionPage, system: systemPage };
const PLACES = [
  ["inbox", "Inbox", "1"],
  ["turns", "Turns", "2"],
  ["sessions", "Sessions", "3"],
  ["system", "System", "4"],
];
/** @type {Record<string, string>} */
const INSIDE = { thread: "turns", session: "sessions" };
const COUNT_EVERY_MS = 5000;
const COUNTED_MAX = 100;

/** @type {PageShown | null} */
let shown = null;
let bound = false;

/**
 * @param {HTMLElement} app
 * @param {any} me
 * @returns {() => void} what closes it
 */
export function openShell(app, me) {
  const links = PLACES.map(([page, label]) => h("a", { href: addressOf(page), dataset: { page } }, h("span", {}, label), page === "inbox" && h("b", { class: "count", hidden: true })));
  const main = h("main", { id: "main", tabindex: "-1" });
  const lost = h("div", { class: "lost", role: "alert", hidden: true });
  fill(
    app,
    h(
      "div",
      { class: "shell" },
      h("nav", { "aria-label": "Pages" }, h("img", { src: "icon.svg", alt: "", width: 24, height: 24 }), ...links, h("span", { class: "spacer" }), find(), ...reader(me)),
      lost,
      main,
    ),
  );
  const route = () => show(main, links, me);
  const state = () => sayLost(lost);
  const stopCounting = count(links[0].querySelector(".count"));
  addEventListener("hashchange", route);
  connection.addEventListener("change", state);
  if (!bound) bindEverywhere(shortcuts());
  bound = true;
  route();
  return () => {
    removeEventListener("hashchange", route);
    connection.removeEventListener("change", state);
    stopCounting();
    shown?.close();
    shown = null;
  };
}

/** @type {(main: HTMLElement, links: HTMLElement[], me: any) => void} */
function show(main, links, me) {
  const place = here();
  shown?.close();
  bindPage([]);
  shown = (Object.hasOwn(PAGES, place.page) ? PAGES[place.page] : inboxPage)(place, me);
  document.title = `${shown.title} · Turnwright`;
  fill(main, shown.element);
  const at = INSIDE[place.page] ?? place.page;
  for (const link of links) {
    if (link.dataset.page === at) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

/** @param {any} me */
function reader(me) {
  const who = h("span", { class: "who", title: `${me.role} of ${me.tenant}` }, h("b", {}, me.principal), h("small", {}, `${me.tenant} · ${me.role}`));
  return [themeSwitch(), button("?", showKeys, { class: "quiet round", "aria-label": "Keys" }), who, button("Sign out", signOut, { class: "quiet small" })];
}

/** A turn by the beginning of its id, from anywhere. */
function find() {
  const input = /** @type {HTMLInputElement} */ (h("input", { type: "search", placeholder: "turn id…", "aria-label": "Find a turn by its id", spellcheck: "false" }));
  const form = h("form", { class: "find", role: "search" }, input);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const beginning = input.value.trim();
    const found = /^t-[0-9a-f]{1,32}$/.test(beginning) ? await look("/turns-named", { beginning, limit: 2 }).catch(() => []) : [];
    if (found.length === 1) go(addressOfThread(found[0][1], { turn: found[0][0] }));
    else tell(found.length ? "More than one turn begins so." : "No turn begins so; an id is such as t-3f9a…", "bad");
  });
  return form;
}

function shortcuts() {
  return [
    ...PLACES.map(([page, label, key]) => ({ key, label, act: () => go(addressOf(page)) })),
    { key: "/", label: "search", act: () => (shown?.search ? shown.search() : /** @type {HTMLElement | null} */ (document.querySelector(".find input"))?.focus()) },
    { key: "?", label: "this list", act: showKeys },
    { key: "Backspace", label: "back", act: () => history.back() },
  ];
}

/** @param {HTMLElement} banner */
function sayLost(banner) {
  banner.hidden = !connection.lost;
  fill(banner, connection.lost ? "The connection is lost; it is tried again." : "");
  if (!connection.lost) tell("Connected again", "good");
}

/**
 * The number of open questions, beside the inbox and in the tab's title.
 * @param {Element | null} place
 */
function count(place) {
  const pulse = new Pulse(COUNT_EVERY_MS, async () => {
    const page = await look("/interactions", { limit: COUNTED_MAX });
    if (!place) return;
    const number = page.items.length;
    write(place, page.next ? `${number}+` : String(number));
    /** @type {HTMLElement} */ (place).hidden = !number;
  });
  pulse.now();
  return () => pulse.stop();
}
