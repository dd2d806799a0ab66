// The event stream: read with fetch (which can send the token), split into frames. When it breaks, it is restarted after
// the last event we have, which serves as the cursor.

import { authorization, BASE, Problem } from "./api.js";

const SILENCE_MS = 40_000; // the server sends something at least every 15 seconds
const FIRST_PAUSE_MS = 200;
const MAX_PAUSE_MS = 3000;

/** @typedef {{ event: string, data: string[] }} Frame */
/** @typedef {{ open: () => void, frame: (frame: Frame) => void, lost: () => void, refused: (problem: Problem) => void }} Listener */

export class Stream {
  /** @param {Listener} listener */
  constructor(listener) {
    this.listener = listener;
    /** @type {AbortController | null} */
    this.current = null;
    /** @type {() => void} */
    this.hurry = () => {};
  }

  /** Watches these sessions from now on; `at` returns the last event we have of each. @param {() => [string, number][]} at */
  watch(at) {
    this.stop();
    const abort = new AbortController();
    this.current = abort;
    void this.#run(at, abort);
  }

  stop() {
    this.current?.abort();
    this.current = null;
  }

  /** Retries immediately instead of after the pause, e.g. because the network is back. */
  now() {
    this.hurry();
  }

  /** @param {() => [string, number][]} at @param {AbortController} abort */
  async #run(at, abort) {
    let pause = FIRST_PAUSE_MS;
    while (!abort.signal.aborted) {
      try {
        await this.#read(at, abort.signal, () => (pause = FIRST_PAUSE_MS));
      } catch (error) {
        if (error instanceof Problem && error.status < 500 && error.status !== 429) return this.listener.refused(error);
      }
      if (abort.signal.aborted) return;
      this.listener.lost();
      await this.#rest(pause);
      pause = Math.min(pause * 1.7, MAX_PAUSE_MS);
    }
  }

  /** @param {number} pause */
  #rest(pause) {
    return new Promise((wake) => {
      this.hurry = () => wake(null);
      setTimeout(wake, pause);
    });
  }

  /** @param {() => [string, number][]} at @param {AbortSignal} signal @param {() => void} opened */
  async #read(at, signal, opened) {
    const silence = new AbortController();
    const list = at().map(([session, seq]) => `session=${encodeURIComponent(session)}:${seq}&`).join("");
    const headers = { ...authorization(), Accept: "text/event-stream" };
    const both = AbortSignal.any([signal, silence.signal]);
    const response = await fetch(`${BASE}/stream?${list}overview=1`, { headers, signal: both, cache: "no-store" });
    if (!response.ok || !response.body) throw new Problem(response.status, await response.json().catch(() => ({})));
    opened();
    this.listener.open();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    const frames = new Frames();
    for (;;) {
      const timer = setTimeout(() => silence.abort(), SILENCE_MS);
      const { value, done } = await reader.read().finally(() => clearTimeout(timer));
      if (done || signal.aborted) return;
      for (const frame of frames.feed(value)) this.listener.frame(frame);
    }
  }
}

/** Parses server-sent events from chunks that may end anywhere. */
export class Frames {
  rest = "";

  /** @param {string} chunk @returns {Frame[]} */
  feed(chunk) {
    const blocks = (this.rest + chunk).split("\n\n");
    this.rest = /** @type {string} */ (blocks.pop());
    return blocks.map(parse).filter((frame) => frame.event !== "");
  }
}

/** @param {string} block @returns {Frame} */
function parse(block) {
  /** @type {Frame} */
  const frame = { event: "", data: [] };
  for (const line of block.split("\n")) {
    const [, name, value] = /^([a-z]+): ?(.*)$/s.exec(line) ?? [];
    if (name === "event") frame.event = value;
    else if (name === "data") frame.data.push(value);
  }
  return frame;
}
