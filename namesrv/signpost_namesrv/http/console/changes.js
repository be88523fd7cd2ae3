// Changes in words, and many alike as one.

import { count, queueWords, roleWords } from "./format.js";

/** Changes further apart than this are told one by one. */
const APART = 2000;

/**
 * @typedef {object} Entry
 * @property {string} key
 * @property {number} time milliseconds since 1970
 * @property {"set" | "gone" | "note"} kind
 * @property {string} subject the name that it is about
 * @property {string} text what happened to it
 * @property {number} times how many changes it stands for
 * @property {string} broker whose topics changed, for changes that may be told together
 */

/** Puts changes into words. Knows who was in a broker group, to say who joined or left it. */
export class Narrator {
  constructor() {
    /** @type {Map<string, string[]>} the members of each group, in words */
    this.members = new Map();
  }

  /**
   * One change of `/v1/changes`.
   * @param {any} change
   * @returns {Entry}
   */
  describe(change) {
    const [subject, there, text] = change.kind === "group" ? this.#group(change) : parts(change);
    return {
      key: `r${change.revision}`,
      time: change.time_ms,
      kind: there ? "set" : "gone",
      subject,
      text,
      times: 1,
      broker: change.kind === "queues" ? change.broker : "",
    };
  }

  /**
   * @param {any} change
   * @returns {[string, boolean, string]}
   */
  #group({ broker, group }) {
    const before = this.members.get(broker) ?? [];
    const now = group === null ? [] : Object.entries(group.addresses).map(member);
    this.members.set(broker, now);
    if (group === null) return [broker, false, before.length ? `is gone: ${before.join(", ")}` : "is gone"];
    const joined = now.filter((one) => !before.includes(one));
    const left = before.filter((one) => !now.includes(one));
    const words = [joined.length && `gained ${joined.join(", ")}`, left.length && `lost ${left.join(", ")}`];
    return [broker, !left.length || joined.length > 0, words.filter(Boolean).join("; ") || "changed"];
  }
}

/**
 * A remark of the console's own.
 * @param {string} text
 * @returns {Entry}
 */
export function remark(text) {
  const key = `n${performance.now()}`;
  return { key, time: Date.now(), kind: "note", subject: "", text, times: 1, broker: "" };
}

/**
 * Add an entry to the newest-first list, into the newest one where both can be told together.
 * @param {Entry[]} entries
 * @param {Entry} entry
 */
export function add(entries, entry) {
  const newest = entries[0];
  const alike = newest?.broker && newest.broker === entry.broker && newest.kind === entry.kind;
  if (alike && entry.time - newest.time < APART) {
    entries[0] = { ...newest, time: entry.time, times: newest.times + 1 };
  } else entries.unshift(entry);
}

/**
 * What happened to the subject, and to those told with it.
 * @param {Entry} entry
 */
export function words(entry) {
  if (entry.times === 1) return entry.text;
  const others = entry.times === 2 ? "another topic" : `${count(entry.times - 1)} more topics`;
  return `and ${others} ${entry.kind === "set" ? "set on" : "left"} ${entry.broker}`;
}

/**
 * @param {any} change
 * @returns {[subject: string, there: boolean, text: string]}
 */
function parts(change) {
  switch (change.kind) {
    case "queues":
      return queues(change);
    case "member": {
      const verb = change.present ? "joined" : "left";
      return [change.broker, change.present, `${verb} cluster ${change.cluster}`];
    }
    case "mapping": {
      const there = change.mapping !== null;
      return [change.topic, there, `static mapping on ${change.broker} ${there ? "set" : "gone"}`];
    }
    case "filters": {
      const there = change.servers !== null;
      return [change.key.address, there, there ? `filter servers ${change.servers.join(", ")}` : "filter servers gone"];
    }
    default:
      return [String(change.kind), true, "changed"];
  }
}

/**
 * @param {any} change
 * @returns {[string, boolean, string]}
 */
function queues({ topic, broker, queues: now }) {
  if (now === null) return [topic, false, `left ${broker}`];
  return [topic, true, `on ${broker}: ${queueWords(now.read, now.write, now.perm)}`];
}

/** @param {[id: string, address: string]} one */
function member([id, address]) {
  return `${roleWords(id)} ${address}`;
}
