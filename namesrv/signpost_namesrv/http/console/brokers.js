// Clusters and their brokers: who is there, who leads, when each was last heard.

import { byId, empty, fill, h, reconcile, setAttribute, setText } from "./dom.js";
import { plural, roleWords } from "./format.js";
import { Heartbeats } from "./heartbeat.js";

const COLUMNS = ["Broker", "Role", "Address", "Zone", "Heartbeat", "Connected"];

/** Shows `/v1/brokers`. */
export class BrokersView {
  /** @param {(broker: string) => void} onPick a broker's topics are wanted */
  constructor(onPick) {
    this.onPick = onPick;
    this.place = byId("clusters");
    this.note = byId("brokers-note");
    this.beats = new Heartbeats();
    /** @type {any[] | null} groups as the API gives them */
    this.groups = null;
    this.receivedAt = 0;
  }

  /** @param {any} answer */
  show(answer) {
    this.receivedAt = performance.now();
    this.groups = answer.brokers;
    this.#draw();
  }

  /**
   * A change that the feed told of: what is gone goes at once, what is new waits for the answer.
   * @param {string} broker
   * @param {any} group the broker group now, or null
   */
  groupChanged(broker, group) {
    if (!this.groups) return;
    const left = group === null ? {} : group.addresses;
    for (const known of this.groups.filter((g) => g.name === broker)) {
      known.members = known.members.filter((/** @type {any} */ m) => left[m.id] === m.address);
    }
    this.groups = this.groups.filter((g) => g.members.length > 0);
    this.#draw();
  }

  /** How long to wait before asking again, in milliseconds: thousands of brokers are asked for seldom. */
  patience() {
    return Math.min(10_000, 2000 + 10 * (this.groups?.length ?? 0));
  }

  /** Count the heartbeats on. */
  tick() {
    const late = this.beats.tick();
    setText(this.note, late ? `${plural(late, "broker")} late` : "");
  }

  #draw() {
    /** @type {any[]} */
    const groups = this.groups ?? [];
    if (!groups.length) {
      fill(
        this.place,
        empty("No broker has registered.", "Give brokers this server's address as namesrvAddr, or PUT /v1/brokers."),
      );
      return;
    }
    this.place.querySelector(".empty")?.remove();
    const clusters = [...Map.groupBy(groups, (g) => g.cluster)].sort(([a], [b]) => (a < b ? -1 : 1));
    reconcile(this.place, clusters, ([name]) => name, makeCluster, (element, [name, members]) =>
      this.#updateCluster(element, name, members),
    );
    this.tick();
  }

  /**
   * @param {HTMLElement} element
   * @param {string} name
   * @param {any[]} groups
   */
  #updateCluster(element, name, groups) {
    const rows = groups.flatMap((group) => group.members.map((/** @type {any} */ member) => ({ group, member })));
    const leaderless = groups.filter((group) => !hasMaster(group)).length;
    const find = (/** @type {string} */ part) => /** @type {HTMLElement} */ (element.querySelector(part));
    setText(find(".name"), name);
    setText(find(".note"), `${plural(groups.length, "group")}, ${plural(rows.length, "broker")}`);
    setText(find(".flag"), leaderless ? `${leaderless} without master` : "");
    setAttribute(find("[role=table]"), "aria-label", `Brokers of cluster ${name}`);
    reconcile(
      find("[role=rowgroup]"),
      rows,
      ({ group, member }) => `${group.name} ${member.id} ${member.address}`,
      ({ group }) => this.#makeRow(group.name),
      (row, { group, member }) => this.#updateRow(row, group, member),
    );
  }

  /** @param {string} name */
  #makeRow(name) {
    const pick = () => this.onPick(name);
    return h(
      "div",
      { role: "row" },
      h(
        "span",
        { role: "rowheader", class: "name" },
        h("button", { type: "button", class: "link", title: "Show its topics", click: pick }, name),
      ),
      h("span", { role: "cell", class: "role" }),
      h("span", { role: "cell", class: "mono address" }),
      h("span", { role: "cell", class: "zone" }),
      h("span", { role: "cell", class: "heartbeat" }, this.beats.make()),
      h("span", { role: "cell", class: "connected" }),
    );
  }

  /**
   * @param {HTMLElement} row
   * @param {any} group
   * @param {any} member
   */
  #updateRow(row, group, member) {
    const [, role, address, zone, heartbeat, connected] = row.children;
    setText(role, roleOf(group, member));
    setAttribute(role, "data-master", member.id === 0);
    setAttribute(role, "data-alone", !hasMaster(group));
    setAttribute(row, "data-again", member !== group.members[0]);
    setText(address, member.address);
    setText(zone, group.zone ?? "");
    this.beats.set(/** @type {HTMLElement} */ (heartbeat.firstElementChild), member.life, this.receivedAt);
    setText(connected, member.life ? connection(member.life.connected) : "");
    setAttribute(connected, "title", details(member.life));
  }
}

function makeCluster() {
  const titles = COLUMNS.map((title) => h("span", { role: "columnheader" }, title));
  return h(
    "details",
    { open: true, class: "cluster" },
    h(
      "summary",
      {},
      h("span", { class: "name" }),
      h("span", { class: "note" }),
      h("span", { class: "flag" }),
    ),
    h(
      "div",
      { role: "table", class: "grid brokers" },
      h("div", { role: "row", class: "titles" }, ...titles),
      h("div", { role: "rowgroup", class: "rows" }),
    ),
  );
}

/**
 * @param {any} group
 * @param {any} member
 */
function roleOf(group, member) {
  if (hasMaster(group)) return roleWords(member.id);
  const acts = group.acting_master && member === group.members[0];
  return `${roleWords(member.id)}, ${acts ? "acting" : "no master"}`;
}

/** @param {any} group */
function hasMaster(group) {
  return group.members.some((/** @type {any} */ member) => member.id === 0);
}

/** @param {any} how */
function connection(how) {
  if (how === null) return "connection gone";
  if (how.via === "http") return "HTTP";
  return how.tls ? "remoting, TLS" : "remoting";
}

/** @param {any} life */
function details(life) {
  if (!life) return null;
  const version = life.data_version;
  const from = life.connected?.peer ? `from ${life.connected.peer}` : "";
  const names = life.connected?.certificate_names.join(", ");
  const table = `topic table ${version.counter} of ${new Date(version.timestamp).toISOString()}`;
  return [from, names && `certificate of ${names}`, table].filter(Boolean).join("; ");
}
