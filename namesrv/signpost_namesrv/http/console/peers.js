// The name servers side by side: do they hold the same, and if not, since when and where.

import { path } from "./api.js";
import { byId, empty, fill, h, reconcile, setAttribute, setText } from "./dom.js";
import { drawDiff } from "./diff.js";
import { clock, count, plural, short, span } from "./format.js";

/** @type {Record<string, string>} how bad a state is */
const LEVELS = { "this server": "good", agrees: "good", differs: "slow", disagrees: "bad" };
const SKEWED = 2000;

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
    /** The server's clock, which all times here are by, less this page's. */
    this.ahead = 0;
    /** @type {any[]} */
    this.servers = [];
    this.opened = "";
    this.compared = "";
  }

  /** @param {any} answer */
  show(answer) {
    this.section.hidden = !answer.configured;
    byId("peers-jump").hidden = !answer.configured;
    if (!answer.configured) return;
    this.ahead = answer.self.time_ms - Date.now();
    const own = { ...answer.self, name: answer.self.identity, state: "this server" };
    this.servers = [own, ...answer.peers];
    const apart = answer.peers.filter((/** @type {any} */ p) => p.differs_since_ms !== null);
    if (!apart.some((/** @type {any} */ p) => p.name === this.opened)) this.opened = "";
    this.#tell(answer, apart);
    this.tick();
    this.#compare();
  }

  /** Draw again: times went on. */
  tick() {
    reconcile(this.rows, this.servers, (one) => one.name, () => this.#make(), (row, one) => this.#update(row, one));
  }

  /**
   * @param {any} answer
   * @param {any[]} apart
   */
  #tell(answer, apart) {
    const gone = answer.peers.filter((/** @type {any} */ p) => p.state === "unreachable").length;
    const level = answer.agree ? (apart.length ? "slow" : "good") : "bad";
    const parts = [
      apart.length
        ? `${apart.length} of ${plural(answer.peers.length, "peer")} ${answer.agree ? "differs for now" : "disagrees"}`
        : "",
      gone ? `${plural(gone, "peer")} cannot be reached` : "",
    ].filter(Boolean);
    const well = answer.peers.length ? "All agree" : "No peer found yet: is peerService or peerUrls right?";
    setText(this.note, parts.join("; ") || well);
    setAttribute(this.note, "data-level", level);
    this.trouble = answer.agree ? "" : "Name servers disagree";
  }

  #make() {
    const cell = (/** @type {string} */ name) => h("span", { role: "cell", class: name });
    const button = h("button", { type: "button", class: "small", hidden: true, "aria-expanded": "false" });
    return h(
      "div",
      { class: "peer" },
      h(
        "div",
        { role: "row" },
        h("span", { role: "rowheader", class: "name wrap" }),
        cell("mono digest"),
        cell("number revision"),
        h("span", { role: "cell", class: "state-cell" }, h("span", { class: "state" }), h("span", { class: "note" }), button),
        cell("number asked"),
      ),
      h("div", { class: "differences", role: "region", tabindex: 0, hidden: true }),
    );
  }

  /**
   * @param {HTMLElement} element
   * @param {any} one
   */
  #update(element, one) {
    const now = Date.now() + this.ahead;
    const own = one.state === "this server";
    const [row, differences] = /** @type {HTMLCollectionOf<HTMLElement>} */ (element.children);
    const [name, digest, revision, stateCell, asked] = row.children;
    const [state, why, button] = stateCell.children;
    setText(name, one.remoting ?? one.name);
    setAttribute(name, "title", one.url);
    setAttribute(row, "data-level", LEVELS[one.state] ?? "bad");
    setText(state, one.state);
    setAttribute(state, "data-level", LEVELS[one.state] ?? "bad");
    setText(why, own ? "" : reason(one, now));
    this.#updateButton(/** @type {HTMLButtonElement} */ (button), one);
    setText(digest, one.digest ? short(one.digest) : "");
    setAttribute(digest, "title", one.digest);
    setText(revision, one.revision === null ? "" : count(one.revision));
    setText(asked, own ? "" : `${span(now - one.checked_ms)} ago`);
    differences.hidden = this.opened !== one.name;
    setAttribute(differences, "aria-label", `Differences from ${name.textContent}`);
  }

  /**
   * @param {HTMLButtonElement} button
   * @param {any} one
   */
  #updateButton(button, one) {
    const open = this.opened === one.name;
    button.hidden = !one.differs_since_ms;
    setText(button, open ? "Hide differences" : "Show differences");
    setAttribute(button, "aria-expanded", String(open));
    button.onclick = () => {
      this.opened = open ? "" : one.name;
      this.compared = "";
      this.tick();
      this.#compare();
    };
  }

  /** Fetch the differences of the opened peer, again whenever one of the two moved on. */
  async #compare() {
    const peer = this.servers.find((one) => one.name === this.opened);
    const state = peer && `${peer.name} ${this.servers[0].digest} ${peer.digest} ${peer.kv_digest}`;
    if (!peer || state === this.compared) return;
    this.compared = state;
    const body = await this.api
      .get(path`/v1/peers/${peer.name}/diff`)
      .then(drawDiff, (error) => [empty("They cannot be compared.", error.message)]);
    if (this.compared !== state) return;
    const place = this.rows.querySelector(`[data-key="${CSS.escape(peer.name)}"] .differences`);
    if (place) fill(place, ...body);
  }
}

/**
 * @param {any} peer
 * @param {number} now
 */
function reason(peer, now) {
  if (peer.error !== null) return peer.error;
  const skew = Math.abs(peer.clock_ms) > SKEWED ? `clock ${off(peer.clock_ms)}` : "";
  return [difference(peer, now), skew].filter(Boolean).join("; ");
}

/**
 * @param {any} peer
 * @param {number} now
 */
function difference(peer, now) {
  if (peer.differs_since_ms === null) return "";
  const what = [peer.routes_differ && "routes", peer.kv_differ && "KV"].filter(Boolean).join(" and ");
  return `${what}, since ${clock(peer.differs_since_ms)} (${span(now - peer.differs_since_ms)})`;
}

/** @param {number} ms */
function off(ms) {
  return `${span(Math.abs(ms))} ${ms > 0 ? "ahead" : "behind"}`;
}
