// Joins the parts: what is asked when, and who hears of it.

import { Api, ApiError } from "./api.js";
import { BrokersView } from "./brokers.js";
import { byId } from "./dom.js";
import { FeedView } from "./feed.js";
import { Live } from "./live.js";
import { listenForKeys } from "./keys.js";
import { PeersView } from "./peers.js";
import { calmly, poll } from "./poll.js";
import { RouteView } from "./route.js";
import { StatusView } from "./status.js";
import { Token } from "./token.js";
import { TopicsView } from "./topics.js";

const SECOND = 1000;
/** Changes shown at the start, from before the page was opened. */
const HISTORY = 200;
const TOPIC = "#topic=";

const token = new Token();
const api = new Api(token);
const status = new StatusView(token);
const peers = new PeersView(api);
const topics = new TopicsView(api, open);
const brokers = new BrokersView((broker) => {
  topics.ofBroker(broker);
  byId("search").focus();
});
const route = new RouteView(api, close);
const feed = new FeedView();

/** @param {string} topic */
function open(topic) {
  const hash = TOPIC + encodeURIComponent(topic);
  if (location.hash !== hash) history.pushState(null, "", hash);
  followAddress();
  route.reveal();
}

function close() {
  history.pushState(null, "", location.pathname);
  followAddress();
  byId("search").focus();
}

/** The address names the open topic, so that a link to it can be sent to a colleague. */
function followAddress() {
  const named = location.hash.startsWith(TOPIC);
  const topic = named ? decode(location.hash.slice(TOPIC.length)) : "";
  // A jump to a section leaves the topic open.
  if (topic === route.topic || (location.hash && !named)) return;
  route.open(topic);
  topics.setOpened(topic);
}

/** @param {string} text */
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * Ask, show, and leave what is shown alone when there is no answer: the header says so.
 * @param {string} path
 * @param {(answer: any) => void} show
 */
async function ask(path, show) {
  try {
    show(await api.get(path));
  } catch (error) {
    if (!(error instanceof ApiError)) reportError(error);
    else if (path === "/v1/status") status.fail(error);
  }
  status.title(peers.trouble);
}

const askStatus = poll(() => ask("/v1/status", (answer) => follow(answer)), () => SECOND);
const askBrokers = poll(() => ask("/v1/brokers", (answer) => brokers.show(answer)), () => brokers.patience());
const askPeers = poll(() => ask("/v1/peers", (answer) => peers.show(answer)), () => SECOND);
status.onRetry = () => {
  askStatus();
  askBrokers();
  askPeers();
  topics.search();
};

const statusSoon = calmly(askStatus, SECOND / 2);
const brokersSoon = calmly(askBrokers, SECOND / 2);
const topicsSoon = calmly(() => topics.refresh(), 2 * SECOND);
const routeSoon = calmly(() => route.refresh(), SECOND / 5);

const live = new Live(api, {
  changes: ({ changes }) => {
    feed.add(changes);
    for (const change of changes) if (change.kind === "group") brokers.groupChanged(change.broker, change.group);
    if (changes.some(touchesRoute)) routeSoon();
    if (changes.some((/** @type {any} */ change) => change.kind === "queues")) topicsSoon();
    if (changes.some((/** @type {any} */ change) => change.kind !== "queues")) brokersSoon();
    statusSoon();
  },
  resync: (reason) => {
    feed.note(`Read everything anew: ${reason}.`);
    for (const soon of [statusSoon, brokersSoon, topicsSoon, routeSoon]) soon();
  },
  state: (level, text, hint) => feed.setState(level, text, hint),
});

/** @param {any} change */
function touchesRoute(change) {
  return change.topic === route.topic || route.brokers.has(change.broker);
}

let following = false;

/**
 * The first status tells where the stream begins.
 * @param {any} answer
 */
function follow(answer) {
  status.show(answer);
  if (following) return;
  following = true;
  const since = Math.max(answer.oldest_revision, answer.revision - HISTORY);
  live.run(`${answer.identity}:${since}`);
}

setInterval(() => {
  brokers.tick();
  peers.tick();
}, SECOND);
window.addEventListener("hashchange", followAddress);
listenForKeys({ search: byId("search"), close: () => (route.topic ? (close(), true) : false) });
followAddress();
topics.search();
