// Many tabs: a browser opens only six connections to one server, and a stream takes one. So only one hidden tab keeps its
// stream (for notifications); the others pause and catch up when they are shown.

const HIDDEN = "assent.hidden-tab";

/** @param {() => void} rest @param {() => void} wake */
export function shareConnections(rest, wake) {
  let release = () => {};
  let resting = false;
  const show = () => {
    release();
    if (resting) wake();
    resting = false;
  };
  /** @param {Lock | null} lock */
  const hide = (lock) => {
    if (lock) return new Promise((done) => (release = () => done(null)));
    resting = true;
    return rest();
  };
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) show();
    else void navigator.locks?.request(HIDDEN, { ifAvailable: true }, hide);
  });
}
