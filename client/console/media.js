/**
 * Pictures and files of the session that is looked at: a picture is shown, anything else can be kept.
 *
 * Rule: only what cannot hold a script is shown, and only bytes that the journal has; nothing is loaded from an address
 * that somebody wrote. A picture has its room before it is read, and is read when it comes into sight.
 */

import { look, ownerOf, path } from "./api.js";
import { button, fill, h } from "./dom.js";
import { telling } from "./news.js";
import { here, sessionIn } from "./router.js";

const SHOWN = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
const READ_MS_MAX = 60_000;

/**
 * @param {{mime: string, url?: string | null, blob?: string | null}} block
 * @returns {HTMLElement}
 */
export function mediaOf({ mime, url, blob }) {
  if (!blob) return h("p", { class: "faint" }, `${mime}: ${url ?? "nothing"}`);
  const bytes = reader(blob, SHOWN.has(mime) ? mime : "application/octet-stream");
  const save = button("Save", () => telling("It is saved", async () => keep(await bytes(), blob, mime)), { class: "quiet small" });
  const label = h("figcaption", { class: "faint" }, mime, save);
  return SHOWN.has(mime) ? picture(bytes, label) : h("figure", { class: "media" }, label);
}

/** @type {(blob: string, type: string) => () => Promise<Blob>} */
function reader(blob, type) {
  const key = sessionIn(here().params);
  return async () => {
    const read = await look(path`/sessions/${key.session}/blobs/${blob}`, ownerOf(key), READ_MS_MAX, "bytes");
    return new Blob([read], { type });
  };
}

/** @type {(bytes: () => Promise<Blob>, label: HTMLElement) => HTMLElement} */
function picture(bytes, label) {
  const frame = h("div", { class: "picture" });
  const sight = new IntersectionObserver(async ([seen]) => {
    if (!seen?.isIntersecting) return;
    sight.disconnect();
    try {
      const src = URL.createObjectURL(await bytes());
      const image = h("img", { src, alt: label.textContent ?? "" });
      for (const name of ["load", "error"]) image.addEventListener(name, () => URL.revokeObjectURL(src));
      image.addEventListener("error", () => fill(frame, h("p", { class: "wrong" }, "This is no picture.")));
      fill(frame, image);
    } catch (problem) {
      fill(frame, h("p", { class: "wrong" }, /** @type {Error} */ (problem).message));
    }
  });
  sight.observe(frame);
  return h("figure", { class: "media" }, frame, label);
}

/** @type {(bytes: Blob, blob: string, mime: string) => void} */
function keep(bytes, blob, mime) {
  const href = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
  const ending = /^[a-z]+\/([a-z0-9]{1,8})$/.exec(mime)?.[1] ?? "bin";
  h("a", { href, download: `${blob.slice(0, 12)}.${ending}` }).click();
  setTimeout(() => URL.revokeObjectURL(href), READ_MS_MAX);
}
