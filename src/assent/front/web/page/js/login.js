// Login with a code in the URL, which is removed from it at once.

/** The code from the URL, which then leads to the session that it names, if any. */
export function loginCode() {
  const given = new URLSearchParams(location.hash.slice(1));
  const code = given.get("code") ?? "";
  const session = given.get("session");
  if (code) history.replaceState(null, "", location.pathname + (session ? `#/s/${encodeURIComponent(session)}` : ""));
  return code;
}
