/** Dark or light: as the system says, until the reader says otherwise. */

const NAME = "turnwright.theme";
const NEXT = { auto: "dark", dark: "light", light: "auto" };
const MARK = { auto: "◐", dark: "●", light: "○" };

/** @typedef {"auto" | "dark" | "light"} Theme */

/** @returns {Theme} */
export function readTheme() {
  const kept = localStorage.getItem(NAME);
  return kept === "dark" || kept === "light" ? kept : "auto";
}

/** @param {Theme} theme */
function apply(theme) {
  document.documentElement.dataset.theme = theme;
}

/**
 * The switch.
 * @returns {HTMLButtonElement}
 */
export function themeSwitch() {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "quiet round";
  const show = () => {
    const theme = readTheme();
    made.textContent = MARK[theme];
    made.setAttribute("aria-label", `Colours: ${theme}`);
    made.title = `Colours: ${theme}`;
    apply(theme);
  };
  made.addEventListener("click", () => {
    localStorage.setItem(NAME, NEXT[readTheme()]);
    show();
  });
  show();
  return made;
}

apply(readTheme());
