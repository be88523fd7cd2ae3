// The live change feed: the newest few hundred lines, newest first.

import { Narrator, add, remark, words } from "./changes.js";
import { byId, empty, fill, h, reconcile, setAttribute, setText } from "./dom.js";
import { clock, count } from "./format.js";

const MOST = 300;

/** Shows what `/v1/watch` tells. */
export class FeedView {
  constructor() {
    this.place = byId("feed");
    this.state = byId("feed-state");
    this.button = byId("feed-pause");
    /** @type {import("./changes.js").Entry[]} */
    this.entries = [];
    this.narrator = new Narrator();
    this.paused = false;
    /** Changes that came while paused. */
    this.missed = 0;
    this.drawing = false;
    this.level = "";
    this.button.addEventListener("click", () => this.#pause());
    this.#draw();
  }

  /** @param {any[]} changes oldest first */
  add(changes) {
    for (const change of changes) add(this.entries, this.narrator.describe(change));
    if (this.paused) this.missed += changes.length;
    this.#changed();
  }

  /** @param {string} text of the console's own */
  note(text) {
    add(this.entries, remark(text));
    this.#changed();
  }

  /**
   * @param {"good" | "bad"} level
   * @param {string} text
   * @param {string} [hint] what comes next
   */
  setState(level, text, hint = "") {
    if (level !== this.level) {
      if (level === "bad") this.note(text);
      else if (this.level === "bad") this.note("Connected again.");
    }
    this.level = level;
    setText(this.state, `${text} ${hint}`.trim());
    setAttribute(this.state, "data-level", level);
  }

  #pause() {
    this.paused = !this.paused;
    this.missed = 0;
    setAttribute(this.button, "aria-pressed", String(this.paused));
    this.#changed();
  }

  #changed() {
    this.entries.length = Math.min(this.entries.length, MOST);
    const missed = this.missed ? ` (${count(this.missed)} new)` : "";
    setText(this.button, this.paused ? `Resume${missed}` : "Pause");
    if (this.paused || this.drawing) return;
    this.drawing = true;
    requestAnimationFrame(() => {
      this.drawing = false;
      if (!this.paused) this.#draw();
    });
  }

  #draw() {
    if (!this.entries.length) {
      fill(this.place, h("li", {}, empty("Nothing has changed yet.", "Changes to routes appear here as they happen.")));
      return;
    }
    reconcile(this.place, this.entries, (entry) => entry.key, makeLine, drawLine);
  }
}

function makeLine() {
  return h(
    "li",
    { class: "line" },
    h("time", { class: "mono" }),
    h("span", { class: "sign", "aria-hidden": "true" }),
    h("span", { class: "what wrap" }, h("b"), h("span")),
  );
}

const SIGNS = { set: "+", gone: "−", note: "·" };

/**
 * @param {HTMLElement} line
 * @param {import("./changes.js").Entry} entry
 */
function drawLine(line, entry) {
  const [time, sign, what] = line.children;
  setText(time, clock(entry.time));
  setAttribute(line, "data-kind", entry.kind);
  setText(sign, SIGNS[entry.kind]);
  const [subject, text] = what.children;
  setText(subject, entry.subject);
  setText(text, entry.subject ? ` ${words(entry)}` : words(entry));
}
