// Keys that work anywhere on the page.

/**
 * @param {object} actions
 * @param {HTMLElement} actions.search the field that `/` goes to
 * @param {() => boolean} actions.close close what is open; false: nothing was
 */
export function listenForKeys({ search, close }) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.key === "/" && !isTyping(event.target)) {
      event.preventDefault();
      search.focus();
      if (search instanceof HTMLInputElement) search.select();
    } else if (event.key === "Escape" && close()) event.preventDefault();
  });
}

/** @param {EventTarget | null} target */
function isTyping(target) {
  return target instanceof HTMLElement && target.matches("input, textarea, select");
}
