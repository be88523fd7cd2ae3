// Search over topics. The server finds and pages; here are the pages seen so far.

import { ApiError } from "./api.js";
import { byId, empty, fill, h, setAttribute, setText } from "./dom.js";
import { count, plural } from "./format.js";
import { VirtualList } from "./list.js";

const PAGE = 200;
const LARGEST_PAGE = 1000;
const TYPING_PAUSE = 120;

/**
 * @typedef {object} Topic
 * @property {string} topic
 * @property {string[]} brokers
 * @property {number} read_queues
 * @property {number} write_queues
 */

/** Shows `/v1/topics`. */
export class TopicsView {
  /**
   * @param {import("./api.js").Api} api
   * @param {(topic: string) => void} onOpen
   */
  constructor(api, onOpen) {
    this.api = api;
    this.note = byId("topics-note");
    this.input = /** @type {HTMLInputElement} */ (byId("search"));
    this.mode = /** @type {HTMLSelectElement} */ (byId("search-mode"));
    this.chip = byId("search-broker");
    this.box = byId("topic-list");
    this.none = byId("topics-none");
    this.broker = "";
    /** @type {Topic[]} */
    this.items = [];
    this.matched = 0;
    /** @type {string | null} */
    this.next = null;
    /** @type {AbortController | null} of the request under way */
    this.under = null;
    /** Topics changed while a request was under way. */
    this.stale = false;
    this.opened = "";
    /** @type {VirtualList<Topic>} */
    this.list = new VirtualList(this.box, {
      draw: drawTopic,
      choose: (item) => onOpen(item.topic),
      nearEnd: () => this.#more(),
    });
    this.list.isChosen = (item) => item.topic === this.opened;
    this.#listen();
  }

  /** Search anew. */
  search() {
    this.#fetch({ limit: PAGE }, (page) => this.#replace(page, true));
  }

  /** Topics changed: look again, without moving what the reader looks at. */
  refresh() {
    if (this.items.length > LARGEST_PAGE) return;
    this.stale = this.under !== null;
    if (this.stale) return;
    const limit = Math.max(PAGE, this.items.length);
    this.#fetch({ limit }, (page) => this.#replace(page, false));
  }

  /** @param {string} broker whose topics only are wanted */
  ofBroker(broker) {
    this.broker = broker;
    setText(this.chip, `on ${broker} ×`);
    setAttribute(this.chip, "aria-label", `Only topics on ${broker}. Press to show all.`);
    setAttribute(this.chip, "hidden", !broker);
    this.search();
  }

  /** @param {string} topic the one whose route is shown */
  setOpened(topic) {
    this.opened = topic;
    this.list.draw();
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    this.list.key(event);
    const active = this.list.active < 0 ? null : `${this.box.id}-${this.list.active}`;
    setAttribute(this.input, "aria-activedescendant", active);
    setAttribute(this.box, "aria-activedescendant", active);
  }

  #listen() {
    /** @type {number | undefined} */
    let timer;
    this.input.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(() => this.search(), TYPING_PAUSE);
    });
    this.mode.addEventListener("change", () => this.search());
    this.chip.addEventListener("click", () => {
      this.input.focus();
      this.ofBroker("");
    });
    byId("search-form").addEventListener("submit", (event) => event.preventDefault());
    for (const element of [this.input, this.box]) {
      element.addEventListener("keydown", (event) => this.#key(event));
    }
  }

  /**
   * @param {any} page
   * @param {boolean} fromTop
   */
  #replace(page, fromTop) {
    this.items = page.topics;
    this.#show(page, fromTop);
  }

  #more() {
    if (this.under || this.next === null) return;
    this.#fetch({ limit: PAGE, after: this.next }, (page) => {
      this.items = this.items.concat(page.topics);
      this.#show(page, false);
    });
  }

  /**
   * @param {any} page
   * @param {boolean} fromTop
   */
  #show(page, fromTop) {
    this.matched = page.matched;
    this.next = page.next;
    const narrowed = this.input.value || this.broker;
    setText(this.note, narrowed ? `${count(page.matched)} found` : plural(page.matched, "topic"));
    this.list.setItems(this.items, page.matched, fromTop);
    this.box.hidden = !page.matched;
    fill(this.none, page.matched ? null : nothing(Boolean(narrowed)));
  }

  /**
   * Ask for a page; an older question is dropped.
   * @param {import("./api.js").Query} page
   * @param {(page: any) => void} use
   */
  async #fetch(page, use) {
    this.under?.abort();
    const under = new AbortController();
    this.under = under;
    const query = { [this.mode.value]: this.input.value, broker: this.broker, ...page };
    setAttribute(this.box, "aria-busy", "true");
    try {
      const answer = await this.api.get("/v1/topics", query, under.signal);
      if (this.under !== under) return;
      this.under = null;
      use(answer);
      if (this.stale) this.refresh();
    } catch (error) {
      if (this.under !== under) return;
      this.under = null;
      if (!(error instanceof ApiError)) throw error;
      setText(this.note, error.message);
    } finally {
      if (this.under === null) setAttribute(this.box, "aria-busy", null);
    }
  }
}

/** @param {boolean} narrowed */
function nothing(narrowed) {
  return narrowed
    ? empty("No topic fits.", "Try fewer letters, or another place in the name.")
    : empty("No topics yet.", "They come with the brokers that hold them.");
}

/**
 * @param {HTMLElement} row
 * @param {Topic} item
 */
function drawTopic(row, item) {
  if (!row.firstChild) row.append(h("span", { class: "name" }), h("span", { class: "queues" }));
  const [name, queues] = row.children;
  setText(name, item.topic);
  setAttribute(name, "title", item.topic);
  const where = item.brokers.length === 1 ? item.brokers[0] : plural(item.brokers.length, "broker");
  setText(queues, `${where} · ${item.read_queues} r ${item.write_queues} w`);
}
