// One topic's route: each broker a column, each of its queues a cell.

import { path } from "./api.js";
import { byId, empty, fill, h } from "./dom.js";
import { plural, queueWords, roleWords } from "./format.js";

const READ = 4;
const WRITE = 2;
/** Cells drawn of one broker; the rest is told as a number. */
const MOST_CELLS = 64;

const LEGEND = [
  ["RW", "read and write"],
  ["R", "read only"],
  ["W", "write only"],
  ["-", "neither"],
];

/** Shows `/v1/topics/{topic}/route`. */
export class RouteView {
  /**
   * @param {import("./api.js").Api} api
   * @param {() => void} onClose
   */
  constructor(api, onClose) {
    this.api = api;
    this.onClose = onClose;
    this.place = byId("route");
    this.topic = "";
    /** @type {Set<string>} brokers in what is shown */
    this.brokers = new Set();
    this.asked = 0;
    this.drawn = Promise.resolve();
  }

  /** @param {string} topic empty: show none */
  open(topic) {
    this.topic = topic;
    this.place.hidden = !topic;
    this.brokers.clear();
    fill(this.place);
    if (topic) this.drawn = this.refresh();
  }

  /** Ask for the route again. */
  async refresh() {
    if (!this.topic) return;
    const turn = (this.asked += 1);
    const topic = this.topic;
    const body = await this.api
      .get(path`/v1/topics/${topic}/route`)
      .then((route) => this.#body(route), refusal);
    if (turn !== this.asked || topic !== this.topic) return;
    const focused = this.place.contains(document.activeElement);
    fill(this.place, this.#head(), ...body);
    if (focused) this.focus();
  }

  /** Scroll just so far that the beginning can be seen, once it is there. */
  async reveal() {
    await this.drawn;
    this.place.querySelector(".column, .empty")?.scrollIntoView({ block: "nearest" });
  }

  /** Put the keyboard here. */
  focus() {
    /** @type {HTMLElement | null} */ (this.place.querySelector("button"))?.focus();
  }

  #head() {
    return h(
      "div",
      { class: "head" },
      h("h3", { id: "route-title", class: "wrap" }, this.topic),
      h("button", { type: "button", click: () => this.onClose() }, "Close"),
    );
  }

  /** @param {any} route */
  #body(route) {
    const queues = new Map(route.queueDatas.map((/** @type {any} */ q) => [q.brokerName, q]));
    this.brokers = new Set(queues.keys());
    const columns = route.brokerDatas.map((/** @type {any} */ b) => column(b, queues.get(b.brokerName)));
    return [h("ul", { class: "columns" }, ...columns), legend(), ...remarks(route)];
  }
}

/**
 * @param {any} broker
 * @param {any} queues may be missing while tables change
 */
function column(broker, queues) {
  const perm = queues?.perm ?? 0;
  const read = perm & READ ? queues.readQueueNums : 0;
  const write = perm & WRITE ? queues.writeQueueNums : 0;
  const all = queues ? Math.max(queues.readQueueNums, queues.writeQueueNums) : 0;
  const drawn = Math.min(all, MOST_CELLS);
  const cells = Array.from({ length: drawn }, (_, i) => cell(i, i < read, i < write));
  const addresses = Object.entries(broker.brokerAddrs).sort(([a], [b]) => Number(a) - Number(b));
  return h(
    "li",
    { class: "column" },
    h("h4", { class: "wrap" }, broker.brokerName),
    h("p", { class: "note" }, [broker.cluster, broker.zoneName].filter(Boolean).join(" · ")),
    ...addresses.map(([id, address]) =>
      h("p", { class: "mono" }, address, h("span", { class: "note" }, ` ${roleWords(id)}`)),
    ),
    h("p", { class: "permission", "data-level": perm & WRITE ? "good" : "slow" }, permission(queues)),
    h("div", { class: "cells", "aria-hidden": "true" }, ...cells),
    all > drawn && h("p", { class: "note" }, `and ${plural(all - drawn, "more queue")}`),
  );
}

/**
 * @param {number} index
 * @param {boolean} read
 * @param {boolean} write
 */
function cell(index, read, write) {
  const may = (read ? "R" : "") + (write ? "W" : "") || "-";
  return h("span", { class: "cell", "data-may": may }, h("b", {}, index), h("i", {}, may));
}

/** @param {any} queues */
function permission(queues) {
  if (!queues) return "no queues";
  const { readQueueNums: read, writeQueueNums: write, perm } = queues;
  const both = READ | WRITE;
  if (read === write && (perm & both) === both) return `${plural(read, "queue")}, read and write`;
  return queueWords(read, write, perm);
}

function legend() {
  const entries = LEGEND.map(([may, words]) =>
    h("li", {}, h("span", { class: "cell", "data-may": may }, h("i", {}, may)), ` ${words}`),
  );
  return h("ul", { class: "legend", "aria-hidden": "true" }, ...entries);
}

/** @param {any} route */
function remarks(route) {
  const mapped = Object.entries(route.topicQueueMappingByBroker ?? {}).map(
    ([broker, mapping]) =>
      `Static topic: ${plural(Object.keys(mapping.currIdMap ?? {}).length, "logical queue")} of ${mapping.totalQueues} on ${broker}.`,
  );
  const order = route.orderTopicConf ? [`Order configuration: ${route.orderTopicConf}`] : [];
  return [...order, ...mapped].map((remark) => h("p", { class: "note wrap" }, remark));
}

/** @param {import("./api.js").ApiError} error */
function refusal(error) {
  return error.status === 404
    ? [empty("No broker has this topic now.", "It is shown again as soon as one registers it.")]
    : [empty("The route cannot be shown.", error.message)];
}
