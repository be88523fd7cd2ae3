// The header: who this server is, whether it is ready, how much it knows.

import { byId, fill, h, setAttribute, setText } from "./dom.js";
import { count, plural, short, span } from "./format.js";

/** Shows `/v1/status`. */
export class StatusView {
  /** @param {import("./token.js").Token} token */
  constructor(token) {
    this.name = byId("server-name");
    this.ready = byId("ready");
    this.facts = byId("facts");
    this.notice = byId("notice");
    this.noticeText = byId("notice-text");
    this.tokenButton = byId("notice-token");
    this.trouble = "";
    /** When the server last answered, by this page's own clock. */
    this.answered = performance.now();
    this.tokenButton.addEventListener("click", () => {
      token.reconsider();
      this.onRetry();
    });
    /** Set by whoever can ask the server again. */
    this.onRetry = () => {};
  }

  /** @param {any} status */
  show(status) {
    this.answered = performance.now();
    this.notice.hidden = true;
    setText(this.name, status.remoting);
    setText(this.ready, status.ready ? "Ready" : `Not ready: ${status.reason}`);
    setAttribute(this.ready, "data-level", status.ready ? "good" : "bad");
    this.trouble = status.ready ? "" : "Not ready";
    const counts = status.counts;
    fill(
      this.facts,
      fact("Up", span(status.time_ms - status.started_ms)),
      fact("Revision", count(status.revision)),
      fact("Digest", short(status.digest), "mono", status.digest),
      fact("Identity", short(status.identity), "mono", status.identity),
      fact("Clusters", count(counts.clusters)),
      fact("Brokers", `${count(counts.brokers)} in ${plural(counts.broker_groups, "group")}`),
      fact("Topics", count(counts.topics)),
      fact("Connections", count(counts.connections)),
    );
  }

  /** @param {import("./api.js").ApiError} error */
  fail(error) {
    const needsToken = error.status === 401;
    const age = span(performance.now() - this.answered);
    const stale = this.facts.childElementCount ? ` What you see is ${age} old.` : "";
    setText(this.noticeText, `${error.message}${stale}`);
    setAttribute(this.tokenButton, "hidden", !needsToken);
    this.notice.hidden = false;
    setText(this.ready, needsToken ? "Closed" : "No answer");
    setAttribute(this.ready, "data-level", "bad");
    this.trouble = needsToken ? "Closed" : "No answer";
  }

  /**
   * What a tab among many must tell.
   * @param {string} other trouble that another part of the page found
   */
  title(other) {
    const trouble = this.trouble || other;
    const title = `${this.name.textContent} · Signpost`;
    const text = trouble ? `${trouble}: ${title}` : title;
    if (document.title !== text) document.title = text;
  }
}

/**
 * @param {string} name
 * @param {string} value
 * @param {string} [style]
 * @param {string} [whole] the value before it was shortened
 */
function fact(name, value, style, whole) {
  return h("div", {}, h("dt", {}, name), h("dd", { class: style, title: whole }, value));
}
