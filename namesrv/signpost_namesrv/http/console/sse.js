// Server-sent events over fetch: an EventSource cannot send a token.

/**
 * @typedef {object} ServerEvent
 * @property {string} type
 * @property {string} data
 * @property {string} id of this event, or of the last one before it that had one
 */

/**
 * The events in a response, one by one; a comment, the server's sign of life, is one too.
 * @param {ReadableStream<Uint8Array>} body
 * @returns {AsyncGenerator<ServerEvent>}
 */
export async function* events(body) {
  let event = { type: "message", data: [], id: "" };
  for await (const line of lines(body)) {
    if (line === "") {
      if (event.data.length) yield { ...event, data: event.data.join("\n") };
      event = { type: "message", data: [], id: event.id };
    } else if (line.startsWith(":")) yield { type: "comment", data: line.slice(1), id: event.id };
    else take(event, line);
  }
}

/**
 * @param {{ type: string, data: string[], id: string }} event
 * @param {string} line
 */
function take(event, line) {
  const colon = line.indexOf(":");
  const name = colon < 0 ? line : line.slice(0, colon);
  const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
  if (name === "data") event.data.push(value);
  else if (name === "event") event.type = value;
  else if (name === "id") event.id = value;
}

/** @param {ReadableStream<Uint8Array>} body */
async function* lines(body) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const parts = (rest + decoder.decode(value, { stream: true })).split("\n");
    rest = parts.pop() ?? "";
    yield* parts;
  }
}
