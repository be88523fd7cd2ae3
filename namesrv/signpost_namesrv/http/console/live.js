// The change stream: keeps it open, comes back after a loss and goes on where it was.

import { ApiError } from "./api.js";
import { events } from "./sse.js";

/** The server speaks every 10 seconds, if only to say that it is there. */
const SILENCE = 25_000;
const FIRST_WAIT = 500;
const LONGEST_WAIT = 15_000;

/**
 * @typedef {object} Hooks
 * @property {(page: any) => void} changes a document of `/v1/changes`
 * @property {(reason: string) => void} resync what was known is lost: ask for everything again
 * @property {(level: "good" | "bad", text: string, hint?: string) => void} state
 */

/** Follows `/v1/watch`. */
export class Live {
  /**
   * @param {import("./api.js").Api} api
   * @param {Hooks} hooks
   */
  constructor(api, hooks) {
    this.api = api;
    this.hooks = hooks;
    /** The last event seen, `identity:revision`. */
    this.last = "";
    this.wait = FIRST_WAIT;
    /** The server ended the stream to have us begin anew, and said so. */
    this.sentAway = false;
  }

  /**
   * Follow for as long as the page is there.
   * @param {string} from the event to go on from
   */
  async run(from) {
    this.last = from;
    for (;;) {
      const why = await this.#follow();
      const hint = `Trying again in ${Math.ceil(this.wait / 1000)} s`;
      if (!this.sentAway) this.hooks.state("bad", why, hint);
      await new Promise((resolve) => setTimeout(resolve, this.wait));
      this.wait = Math.min(LONGEST_WAIT, this.wait * 2);
    }
  }

  /** One connection, from its beginning to its end; why it ended. */
  async #follow() {
    this.sentAway = false;
    const ending = new AbortController();
    let timer = setTimeout(() => ending.abort(), SILENCE);
    try {
      const response = await this.api.fetch("/v1/watch", {
        headers: { Accept: "text/event-stream", "Last-Event-ID": this.last },
        signal: ending.signal,
      });
      if (!response.body) return "The stream is empty.";
      for await (const event of events(response.body)) {
        clearTimeout(timer);
        timer = setTimeout(() => ending.abort(), SILENCE);
        this.#take(event);
      }
      return "The server ended the stream.";
    } catch (error) {
      if (ending.signal.aborted) return "The server went silent.";
      // A stream that breaks is a TypeError; the server's own words are an ApiError.
      return error instanceof ApiError ? error.message : "Connection lost.";
    } finally {
      clearTimeout(timer);
    }
  }

  /** @param {import("./sse.js").ServerEvent} event */
  #take(event) {
    this.wait = FIRST_WAIT;
    this.last = event.id || this.last;
    this.sentAway = event.type === "resync";
    this.hooks.state("good", "Live");
    if (event.type === "changes") this.hooks.changes(JSON.parse(event.data));
    else if (event.type === "resync") this.hooks.resync(JSON.parse(event.data).reason);
  }
}
