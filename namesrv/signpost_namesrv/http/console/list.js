// A list of any length of which only the visible rows exist, moved through by keyboard.

import { h, setAttribute } from "./dom.js";

/** Rows beyond the edges, so that quick scrolling meets no gaps. */
const MARGIN = 6;
/** Rows ahead of the end at which further ones are asked for. */
const AHEAD = 60;

/**
 * @template T
 */
export class VirtualList {
  /**
   * @param {HTMLElement} element with role listbox; its rows are `--row` high
   * @param {object} hooks
   * @param {(row: HTMLElement, item: T) => void} hooks.draw
   * @param {(item: T) => void} hooks.choose
   * @param {() => void} hooks.nearEnd more rows are wanted
   */
  constructor(element, hooks) {
    this.element = element;
    this.hooks = hooks;
    this.height = h("div", { class: "height", role: "presentation" });
    element.append(this.height);
    /** @type {readonly T[]} */
    this.items = [];
    this.total = 0;
    this.active = -1;
    /** @type {(item: T) => boolean} whether the item is the one that is open */
    this.isChosen = () => false;
    element.addEventListener("scroll", () => this.draw(), { passive: true });
    new ResizeObserver(() => this.draw()).observe(element);
    this.height.addEventListener("click", (event) => this.#click(event));
  }

  /**
   * @param {readonly T[]} items
   * @param {number} total of which these are the first
   * @param {boolean} fromTop they are others than before
   */
  setItems(items, total, fromTop) {
    this.items = items;
    this.total = total;
    if (fromTop) {
      this.active = -1;
      this.element.scrollTop = 0;
    } else this.active = Math.min(this.active, items.length - 1);
    this.draw();
  }

  /**
   * Handle a key, pressed here or in the search field above.
   * @param {KeyboardEvent} event
   */
  key(event) {
    const page = Math.max(1, Math.floor(this.element.clientHeight / this.#rowHeight()) - 1);
    /** @type {Record<string, number>} */
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page };
    if (event.key in steps && this.items.length) {
      this.#activate(this.active + steps[event.key]);
    } else if (event.key === "Enter" && this.items.length) {
      // Enter without a choice takes the first: type, Enter, and the route is there.
      this.#activate(Math.max(0, this.active));
      this.hooks.choose(this.items[this.active]);
    } else return;
    event.preventDefault();
  }

  /** Bring the rows in line with the items and the scroll position. */
  draw() {
    const row = this.#rowHeight();
    this.height.style.setProperty("height", `${this.items.length * row}px`);
    const first = Math.max(0, Math.floor(this.element.scrollTop / row) - MARGIN);
    const fit = Math.ceil(this.element.clientHeight / row) + 2 * MARGIN;
    const end = Math.min(this.items.length, first + fit);
    while (this.height.childElementCount > end - first) this.height.lastElementChild?.remove();
    while (this.height.childElementCount < end - first) {
      this.height.append(h("div", { role: "option", class: "option" }));
    }
    for (let i = first; i < end; i += 1) {
      this.#drawRow(/** @type {HTMLElement} */ (this.height.children[i - first]), i, row);
    }
    if (end + AHEAD >= this.items.length && this.items.length < this.total) this.hooks.nearEnd();
  }

  /**
   * @param {HTMLElement} element
   * @param {number} index
   * @param {number} row
   */
  #drawRow(element, index, row) {
    element.id = `${this.element.id}-${index}`;
    element.dataset.index = String(index);
    element.style.setProperty("transform", `translateY(${index * row}px)`);
    setAttribute(element, "aria-posinset", index + 1);
    setAttribute(element, "aria-setsize", this.total);
    setAttribute(element, "aria-selected", String(this.isChosen(this.items[index])));
    setAttribute(element, "data-active", index === this.active);
    this.hooks.draw(element, this.items[index]);
  }

  /** @param {number} index */
  #activate(index) {
    this.active = Math.max(0, Math.min(index, this.items.length - 1));
    const row = this.#rowHeight();
    const top = this.active * row;
    const view = this.element.clientHeight;
    if (top < this.element.scrollTop) this.element.scrollTop = top;
    else if (top + row > this.element.scrollTop + view) this.element.scrollTop = top + row - view;
    this.draw();
  }

  /** @param {MouseEvent} event */
  #click(event) {
    const row = event.target instanceof Element ? event.target.closest("[role=option]") : null;
    if (!(row instanceof HTMLElement)) return;
    this.active = Number(row.dataset.index);
    this.draw();
    this.hooks.choose(this.items[this.active]);
  }

  #rowHeight() {
    return parseFloat(getComputedStyle(this.element).getPropertyValue("--row")) || 28;
  }
}
