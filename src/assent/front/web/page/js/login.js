// Login with a code in the URL, which is removed from it at once.

/** The code from the URL; the rest of it stays. */
export function loginCode() {
  const code = new URLSearchParams(location.hash.slice(1)).get("code") ?? "";
  if (code) history.replaceState(null, "", location.pathname);
  return code;
}
