// Changes in words, and many alike as one.

import { count } from "./format.js";

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

/**
 * One change of `/v1/changes`.
 * @param {any} change
 * @returns {Entry}
 */
export function describe(change) {
  const [subject, there, text] = parts(change);
  const broker = change.kind === "queues" ? change.broker : "";
  return {
    key: `r${change.revision}`,
    time: change.time_ms,
    kind: there ? "set" : "gone",
    subject,
    text,
    times: 1,
    broker,
  };
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
    case "group":
      return group(change);
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
  const reading = now.perm & 4 ? `${now.read} to read` : "closed to readers";
  const writing = now.perm & 2 ? `${now.write} to write` : "closed to writers";
  return [topic, true, `on ${broker}: ${reading}, ${writing}`];
}

/**
 * @param {any} change
 * @returns {[string, boolean, string]}
 */
function group({ broker, group: now }) {
  if (now === null) return [broker, false, "is gone"];
  const members = Object.entries(now.addresses).map(
    ([id, address]) => `${id === "0" ? "master" : `slave ${id}`} ${address}`,
  );
  return [broker, true, members.join(", ") || "has no broker"];
}
