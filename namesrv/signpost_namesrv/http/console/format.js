// Numbers, times and identifiers as people read them.

const NUMBER = new Intl.NumberFormat("en");
const CLOCK = new Intl.DateTimeFormat("en-GB", {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
});

/** @param {number} value */
export function count(value) {
  return NUMBER.format(value);
}

/**
 * "1 broker", "2 brokers".
 * @param {number} value
 * @param {string} one
 * @param {string} [many]
 */
export function plural(value, one, many = `${one}s`) {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/**
 * What may be done with a topic's queues on one broker.
 * @param {number} read
 * @param {number} write
 * @param {number} perm bits: 4 read, 2 write
 */
export function queueWords(read, write, perm) {
  const reading = perm & 4 ? `${read} to read` : "closed to readers";
  const writing = perm & 2 ? `${write} to write` : "closed to writers";
  return `${reading}, ${writing}`;
}

/**
 * "master", "slave 1".
 * @param {string | number} id
 */
export function roleWords(id) {
  return String(id) === "0" ? "master" : `slave ${id}`;
}

/**
 * A span of time, in its two largest units at most.
 * @param {number} ms
 */
export function span(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return pair(minutes, "min", seconds % 60, "s");
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return pair(hours, "h", minutes % 60, "min");
  return pair(Math.floor(hours / 24), "d", hours % 24, "h");
}

/**
 * The time of day in the reader's zone.
 * @param {number} ms
 */
export function clock(ms) {
  return CLOCK.format(ms);
}

/**
 * Enough of a digest to tell two apart by eye.
 * @param {string} digest
 */
export function short(digest) {
  return digest.slice(0, 8);
}

/**
 * @param {number} large
 * @param {string} unit
 * @param {number} small
 * @param {string} smallUnit
 */
function pair(large, unit, small, smallUnit) {
  return small ? `${large} ${unit} ${small} ${smallUnit}` : `${large} ${unit}`;
}
