// Who did something, as people would say it; the log has exactly who and from where (`ann@127.0.0.1`, `ann@pid42`).

/** @param {string | undefined} by @param {string | undefined} me */
export function who(by, me) {
  if (!by) return "someone";
  return by === me ? "you" : by.replace(/@[^@]*$/, "") || by;
}
