// Where two name servers differ, showing only the parts that are not the same. Entries that differ
// in the same way are told together: one lost broker is one line, not one for each of its topics.

import { empty, h } from "./dom.js";
import { count, plural, queueWords, roleWords } from "./format.js";

/** @typedef {Record<string, string>} Parts an entry of a table, taken apart into what can differ */
/** @typedef {{ names: string[], here: string[], there: string[] }} Group */

/** @type {Record<string, { title: string, parts: (entry: any) => Parts }>} */
const TABLES = {
  brokers: { title: "Brokers", parts: brokerParts },
  clusters: { title: "Clusters", parts: clusterParts },
  topics: { title: "Topics", parts: topicParts },
  kv: { title: "KV namespaces", parts: (entry) => entry },
  mappings: { title: "Static mappings", parts: mappingParts },
};

const MISSING = "missing";

/**
 * A document of `/v1/peers/{peer}/diff`.
 * @param {any} diff
 * @returns {HTMLElement[]}
 */
export function drawDiff(diff) {
  if (diff.same) return [empty("They hold the same now.", "The next comparison will say so.")];
  return Object.entries(TABLES)
    .map(([name, table]) => ({ ...table, diff: diff.tables[name] }))
    .filter((table) => table.diff?.count)
    .map(drawTable);
}

/** @param {{ title: string, parts: (entry: any) => Parts, diff: any }} table */
function drawTable({ title, parts, diff }) {
  const rest = diff.count - diff.shown.length;
  const titles = ["Name", "Here", "There"].map((text) => h("span", { role: "columnheader" }, text));
  return h(
    "section",
    { class: "difference", "aria-label": `${title} that differ` },
    h("h3", {}, title, h("span", { class: "note" }, ` ${count(diff.count)} ${diff.count === 1 ? "differs" : "differ"}`)),
    h(
      "div",
      { class: "grid difference-table", role: "table", "aria-label": title },
      h("div", { role: "row", class: "titles" }, ...titles),
      h("div", { role: "rowgroup", class: "rows" }, ...gather(diff.shown, parts).map(drawGroup)),
    ),
    rest > 0 && h("p", { class: "note" }, `and ${count(rest)} more, not shown`),
  );
}

/**
 * @param {any[]} entries
 * @param {(entry: any) => Parts} parts
 * @returns {Group[]}
 */
function gather(entries, parts) {
  /** @type {Map<string, Group>} */
  const groups = new Map();
  for (const { name, here, there } of entries) {
    const sides = compare(here && parts(here), there && parts(there));
    const key = JSON.stringify(sides);
    const group = groups.get(key);
    if (group) group.names.push(name);
    else groups.set(key, { names: [name], ...sides });
  }
  return [...groups.values()];
}

/**
 * @param {Parts | null} here
 * @param {Parts | null} there
 */
function compare(here, there) {
  const keys = [...new Set([...Object.keys(here ?? {}), ...Object.keys(there ?? {})])].sort();
  const differing = keys.filter((key) => here?.[key] !== there?.[key]);
  return { here: lines(here, differing), there: lines(there, differing) };
}

/**
 * @param {Parts | null} parts
 * @param {string[]} keys
 */
function lines(parts, keys) {
  if (parts === null) return [MISSING];
  return keys.map((key) => {
    const value = key in parts ? parts[key] : MISSING;
    return value ? `${key}: ${value}` : key;
  });
}

/** @param {Group} group */
function drawGroup({ names, here, there }) {
  const [first, ...others] = names;
  const more =
    others.length > 0 &&
    h("details", {}, h("summary", {}, `and ${plural(others.length, "other")}`), ...others.map((name) => h("div", {}, name)));
  return h(
    "div",
    { role: "row" },
    h("span", { role: "rowheader", class: "name wrap" }, first, more),
    side("Here", here),
    side("There", there),
  );
}

/**
 * @param {string} label for screens without column headers
 * @param {string[]} texts
 */
function side(label, texts) {
  const isMissing = (/** @type {string} */ text) => text === MISSING || text.endsWith(`: ${MISSING}`);
  const parts = texts.map((text) => h("span", { class: isMissing(text) ? "part missing" : "part" }, text));
  return h("span", { role: "cell", class: "side wrap", "data-label": label }, ...parts);
}

/** @param {any[]} entry */
function topicParts(entry) {
  return Object.fromEntries(entry.map((q) => [`on ${q.broker}`, queueWords(q.read, q.write, q.perm)]));
}

/** @param {any} entry */
function brokerParts({ cluster, zone, acting_master, addresses }) {
  const members = Object.entries(addresses).map(([id, address]) => [roleWords(id), address]);
  return {
    cluster,
    ...(zone && { zone }),
    ...(acting_master && { "acting master": "on" }),
    ...Object.fromEntries(members),
  };
}

/** @param {string[]} entry */
function clusterParts(entry) {
  return Object.fromEntries(entry.map((name) => [name, ""]));
}

/** @param {Record<string, any>} entry */
function mappingParts(entry) {
  return Object.fromEntries(Object.entries(entry).map(([broker, mapping]) => [`on ${broker}`, JSON.stringify(mapping)]));
}
