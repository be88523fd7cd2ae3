// Making and changing elements. Names come from brokers that nobody vouches for, so every text
// becomes a text node; nothing in the console is ever parsed as HTML.

/** @typedef {Node | string | number | null | undefined | false} Child */

/**
 * The element with this id, which index.html has.
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`index.html has no element ${id}`);
  return found;
}

/**
 * Make an element. Functions among the attributes are listeners: `{ click: () => … }`.
 * @param {string} tag
 * @param {Record<string, string | number | boolean | null | undefined | EventListener>} [attributes]
 * @param {...Child} children
 * @returns {HTMLElement}
 */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else setAttribute(element, name, value);
  }
  element.append(...children.filter(isShown).map(toNode));
  return element;
}

/**
 * Set an attribute, or take it away when the value is false, null or undefined.
 * @param {Element} element
 * @param {string} name
 * @param {string | number | boolean | null | undefined} value
 */
export function setAttribute(element, name, value) {
  if (value === false || value === null || value === undefined) element.removeAttribute(name);
  else {
    const text = value === true ? "" : String(value);
    if (element.getAttribute(name) !== text) element.setAttribute(name, text);
  }
}

/**
 * Show a text, touching the document only when it is another one: live regions speak then.
 * @param {Element} element
 * @param {string | number} value
 */
export function setText(element, value) {
  const text = String(value);
  if (element.textContent !== text) element.textContent = text;
}

/**
 * Replace all children.
 * @param {Element} element
 * @param {...Child} children
 */
export function fill(element, ...children) {
  element.replaceChildren(...children.filter(isShown).map(toNode));
}

/**
 * Make the children fit the items, keeping the elements of items that stay: focus, scroll
 * position and open details survive.
 * @template T
 * @param {Element} parent
 * @param {readonly T[]} items
 * @param {(item: T) => string} keyOf
 * @param {(item: T) => HTMLElement} make
 * @param {(element: HTMLElement, item: T) => void} update
 */
export function reconcile(parent, items, keyOf, make, update) {
  /** @type {Map<string, HTMLElement>} */
  const old = new Map();
  for (const child of parent.children) {
    if (child instanceof HTMLElement) old.set(child.dataset.key ?? "", child);
  }
  let place = parent.firstElementChild;
  for (const item of items) {
    const key = keyOf(item);
    let element = old.get(key);
    old.delete(key);
    if (!element) {
      element = make(item);
      element.dataset.key = key;
    }
    update(element, item);
    if (element === place) place = place.nextElementSibling;
    else parent.insertBefore(element, place);
  }
  for (const element of old.values()) element.remove();
}

/**
 * A plain line for a place where there is nothing to show, saying what to do next.
 * @param {string} what
 * @param {string} [next]
 * @returns {HTMLElement}
 */
export function empty(what, next) {
  return h("p", { class: "empty" }, h("strong", {}, what), next ? ` ${next}` : null);
}

/** @param {Child} child */
function isShown(child) {
  return child !== null && child !== undefined && child !== false;
}

/** @param {Child} child */
function toNode(child) {
  return child instanceof Node ? child : document.createTextNode(String(child));
}
