// Recalls earlier prompts with the arrow keys. Moving down returns to the draft.

export class Recall {
  /** From the oldest to the newest; the same prompt twice in a row counts once. @type {string[]} */
  #entries = [];
  #at = 0;
  #draft = "";

  /** Updates the entries, but not during a recall. @param {string[]} entries */
  know(entries) {
    if (this.#at !== this.#entries.length) return;
    this.#entries = entries.filter((entry, place) => entry !== entries[place - 1]);
    this.#at = this.#entries.length;
  }

  /** Whether this text was recalled. @param {string} text */
  shows(text) {
    return this.#at < this.#entries.length && this.#entries[this.#at] === text;
  }

  leave() {
    this.#at = this.#entries.length;
  }

  /** @param {string} current @returns {string | null} null at the oldest */
  older(current) {
    if (this.#at === 0) return null;
    if (this.#at === this.#entries.length) this.#draft = current;
    this.#at -= 1;
    return this.#entries[this.#at];
  }

  /** @returns {string | null} null when there is nothing newer */
  newer() {
    if (this.#at === this.#entries.length) return null;
    this.#at += 1;
    return this.#entries[this.#at] ?? this.#draft;
  }
}
