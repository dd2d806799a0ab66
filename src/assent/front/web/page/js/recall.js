// Walking through what was asked before, with the arrow keys. The way down leads back to what was being written.

export class Recall {
  /** From the oldest to the newest; the same twice in a row counts once. @type {string[]} */
  #entries = [];
  #at = 0;
  #draft = "";

  /** Only between two walks: a walk goes through what there was when it began. @param {string[]} entries */
  know(entries) {
    if (this.#at !== this.#entries.length) return;
    this.#entries = entries.filter((entry, place) => entry !== entries[place - 1]);
    this.#at = this.#entries.length;
  }

  /** Is this what the walk has brought? @param {string} text */
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
