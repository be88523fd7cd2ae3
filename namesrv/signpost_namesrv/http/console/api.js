// Calls to this server. Every one of them may find that reading needs a token.

/** @typedef {Record<string, string | number | null | undefined>} Query */

/** What the server, or the way to it, has against a call. */
export class ApiError extends Error {
  /**
   * @param {number} status 0: there was no answer
   * @param {string} detail
   */
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

/** The API of the server that this page came from. */
export class Api {
  /** @param {import("./token.js").Token} token */
  constructor(token) {
    this.token = token;
  }

  /**
   * A document.
   * @param {string} path
   * @param {Query} [query]
   * @param {AbortSignal} [signal]
   * @returns {Promise<any>}
   */
  async get(path, query = {}, signal) {
    const response = await this.fetch(withQuery(path, query), { signal });
    try {
      return await response.json();
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new ApiError(0, "The server broke off its answer.");
    }
  }

  /**
   * A response that is good; the token is asked for when it is missing or wrong.
   * @param {string} url
   * @param {RequestInit} [options]
   * @returns {Promise<Response>}
   */
  async fetch(url, options = {}) {
    for (;;) {
      const used = this.token.value;
      const response = await send(url, options, used);
      if (response.ok) return response;
      if (response.status !== 401) throw await problem(response);
      // Another call may have got a new token meanwhile: try with that first.
      if (used === this.token.value && !(await this.token.ask(used !== null))) {
        throw new ApiError(401, "Reading needs a token.");
      }
    }
  }
}

/**
 * A path whose parts come from outside.
 * @param {TemplateStringsArray} fixed
 * @param {...string} parts
 */
export function path(fixed, ...parts) {
  return fixed.reduce((before, after, i) => before + encodeURIComponent(parts[i - 1]) + after);
}

/**
 * @param {string} url
 * @param {RequestInit} options
 * @param {string | null} token
 */
async function send(url, options, token) {
  const headers = new Headers(options.headers);
  if (token !== null) headers.set("Authorization", `Bearer ${token}`);
  try {
    return await fetch(url, { ...options, headers, cache: "no-store" });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new ApiError(0, "The server does not answer.");
  }
}

/** @param {Response} response */
async function problem(response) {
  const document = await response.json().catch(() => ({}));
  return new ApiError(response.status, document.detail ?? `The answer was ${response.status}.`);
}

/**
 * @param {string} path
 * @param {Query} query
 */
function withQuery(path, query) {
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
  return given.length ? `${path}?${search}` : path;
}
