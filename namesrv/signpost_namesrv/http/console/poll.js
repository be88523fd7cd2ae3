// Work that repeats: never two at a time, and not while nobody looks.

/**
 * Do the work now, then again so long after each end. A hidden page rests; when it is looked at
 * again the work is done at once. Errors are the work's own business.
 * @param {() => Promise<void>} work
 * @param {() => number} interval in milliseconds, asked after each end
 * @returns {() => void} call it to have the work done soon, out of turn
 */
export function poll(work, interval) {
  /** @type {number | undefined} */
  let timer;
  let busy = false;
  let again = false;

  async function turn() {
    clearTimeout(timer);
    if (busy) {
      again = true;
      return;
    }
    busy = true;
    do {
      again = false;
      await work();
    } while (again);
    busy = false;
    if (!document.hidden) timer = setTimeout(turn, interval());
  }

  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) turn();
  });
  turn();
  return turn;
}

/**
 * The function, called at most once in so long however often it is asked for, and always once
 * after the last time.
 * @param {() => void} work
 * @param {number} interval milliseconds
 * @returns {() => void}
 */
export function calmly(work, interval) {
  let last = -Infinity;
  /** @type {number | undefined} */
  let timer;
  return () => {
    if (timer !== undefined) return;
    const wait = Math.max(0, last + interval - performance.now());
    timer = setTimeout(() => {
      timer = undefined;
      last = performance.now();
      work();
    }, wait);
  };
}
