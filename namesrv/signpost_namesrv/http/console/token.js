// The bearer token, for servers that close reading. It lives as long as the tab, nowhere else.

import { byId, setText } from "./dom.js";

const KEY = "signpost-token";

/** Keeps the token, and asks for it. */
export class Token {
  constructor() {
    /** @type {string | null} */
    this.value = sessionStorage.getItem(KEY);
    this.dialog = /** @type {HTMLDialogElement} */ (byId("token"));
    this.input = /** @type {HTMLInputElement} */ (byId("token-value"));
    /** @type {Promise<boolean> | null} */
    this.asking = null;
    this.refused = false;
  }

  /**
   * Ask, once for all calls that wait. False: the reader would rather not.
   * @param {boolean} wasWrong
   * @returns {Promise<boolean>}
   */
  ask(wasWrong) {
    if (this.refused) return Promise.resolve(false);
    this.asking ??= this.#show(wasWrong).finally(() => {
      this.asking = null;
    });
    return this.asking;
  }

  /** Let the next call ask again. */
  reconsider() {
    this.refused = false;
  }

  /** @param {boolean} wasWrong */
  #show(wasWrong) {
    setText(
      byId("token-why"),
      wasWrong
        ? "This server does not know that token. It may have been replaced."
        : "Reading from this server is closed. Its token file holds the token.",
    );
    this.input.value = "";
    this.dialog.showModal();
    return new Promise((resolve) => {
      const done = new AbortController();
      const finish = (/** @type {string} */ given) => {
        done.abort();
        this.dialog.close();
        if (given) this.#keep(given);
        this.refused = !given;
        resolve(Boolean(given));
      };
      const options = { signal: done.signal };
      byId("token-form").addEventListener(
        "submit",
        (event) => {
          event.preventDefault();
          finish(this.input.value.trim());
        },
        options,
      );
      this.dialog.addEventListener("cancel", () => finish(""), options);
      byId("token-cancel").addEventListener("click", () => finish(""), options);
    });
  }

  /** @param {string} given */
  #keep(given) {
    this.value = given;
    sessionStorage.setItem(KEY, given);
  }
}
