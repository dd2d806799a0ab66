// Light, dark, or the system's theme.

/** @typedef {"auto" | "light" | "dark"} Theme */
const KEY = "assent.theme";
/** @type {Record<Theme, Theme>} */
const NEXT = { auto: "light", light: "dark", dark: "auto" };

/** @returns {Theme} */
export function theme() {
  const kept = localStorage.getItem(KEY);
  return kept === "light" || kept === "dark" ? kept : "auto";
}

export function nextTheme() {
  localStorage.setItem(KEY, NEXT[theme()]);
  applyTheme();
  return theme();
}

export function applyTheme() {
  const now = theme();
  if (now === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = now;
}
