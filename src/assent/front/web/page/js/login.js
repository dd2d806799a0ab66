// Login: with a code in the URL, used once and removed at once; or with the token of another tab of this page.

const CHANNEL = "assent.token";
const WAIT_MS = 300;

/** The code from the URL, which is removed from it. */
export function loginCode() {
  const code = new URLSearchParams(location.hash.slice(1)).get("code") ?? "";
  if (code) history.replaceState(null, "", location.pathname);
  return code;
}

/** A channel reaches this origin only: same scheme, host and port. @returns {Promise<string>} */
export function tokenOfAnotherTab() {
  const channel = new BroadcastChannel(CHANNEL);
  return new Promise((found) => {
    channel.onmessage = ({ data }) => typeof data.token === "string" && found(data.token);
    channel.postMessage({ wanted: true });
    setTimeout(() => found(""), WAIT_MS);
  }).finally(() => channel.close());
}

/** @param {() => string} token */
export function shareWithTabs(token) {
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = ({ data }) => data.wanted && token() && channel.postMessage({ token: token() });
}
