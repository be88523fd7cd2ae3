// The name servers side by side: do they hold the same routes, and if not, since when and where.

import { path } from "./api.js";
import { byId, empty, fill, h, reconcile, setAttribute, setText } from "./dom.js";
import { drawDiff } from "./diff.js";
import { count, plural, short, span } from "./format.js";

/** Shows `/v1/peers`. */
export class PeersView {
  /** @param {import("./api.js").Api} api */
  constructor(api) {
    this.api = api;
    this.section = byId("peers");
    this.rows = byId("peer-rows");
    this.note = byId("peers-note");
    /** What the title of the page should tell of. */
    this.trouble = "";
    /** @type {any} */
    this.answer = null;
    this.receivedAt = 0;
    /** @type {string | null} the peer whose differences are shown */
    this.opened = null;
  }

  /** @param {any} answer */
  show(answer) {
    this.answer = answer;
    this.receivedAt = performance.now();
    const known = answer.peers.length > 1;
    this.section.hidden = !known;
    byId("peers-jump").hidden = !known;
    this.#draw();
  }

  /** Count the times on. */
  tick() {
    if (this.answer) this.#draw();
  }
}
