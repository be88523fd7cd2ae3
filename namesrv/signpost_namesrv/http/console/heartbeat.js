// How long ago a broker was heard, ticking by this page's own clock between two answers.

import { h, setAttribute, setText } from "./dom.js";
import { span } from "./format.js";

/** Shares of the time-out at which a silence is worth a look, and is about to end the broker. */
const SLOW = 0.5;
const LATE = 0.75;

/**
 * @typedef {object} Beat
 * @property {number} heardAt by performance.now()
 * @property {number} timeout milliseconds
 */

/** The heartbeat cells on the page. */
export class Heartbeats {
  constructor() {
    /** @type {Map<HTMLElement, Beat>} */
    this.beats = new Map();
  }

  /** An empty cell. */
  make() {
    const bar = h("span", { class: "meter", "aria-hidden": "true" }, h("span", {}));
    return h("span", { class: "beat" }, bar, h("span", { class: "age" }));
  }

  /**
   * @param {HTMLElement} cell
   * @param {any} life of `/v1/brokers`, or null
   * @param {number} receivedAt when the answer came
   */
  set(cell, life, receivedAt) {
    if (life === null) this.beats.delete(cell);
    else {
      this.beats.set(cell, { heardAt: receivedAt - life.age_ms, timeout: life.timeout_ms });
    }
    this.#draw(cell, performance.now());
  }

  /**
   * Count on by one second.
   * @returns {number} how many are late
   */
  tick() {
    const now = performance.now();
    let late = 0;
    for (const cell of this.beats.keys()) {
      if (!cell.isConnected) this.beats.delete(cell);
      else if (this.#draw(cell, now) === "late") late += 1;
    }
    return late;
  }

  /**
   * @param {HTMLElement} cell
   * @param {number} now
   */
  #draw(cell, now) {
    const [bar, text] = /** @type {HTMLCollectionOf<HTMLElement>} */ (cell.children);
    const beat = this.beats.get(cell);
    const row = cell.closest("[role=row]");
    const share = beat ? (now - beat.heardAt) / beat.timeout : 1;
    const level = !beat || share >= LATE ? "late" : share >= SLOW ? "slow" : "good";
    if (row) setAttribute(row, "data-level", level);
    bar.style.setProperty("--share", Math.min(1, share).toFixed(3));
    setText(text, beat ? words(now - beat.heardAt, beat.timeout, level) : "not heard");
    return level;
  }
}

/**
 * @param {number} age
 * @param {number} timeout
 * @param {string} level
 */
function words(age, timeout, level) {
  const of = `${span(age)} of ${span(timeout)}`;
  return level === "good" ? of : `${of}, ${level}`;
}
