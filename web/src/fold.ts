// Sections behind their headings: one that a link leads to opens, and all of them for a printer.

/** Opens the section that the address names. */
function reveal(): void {
  const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const fold = named?.closest("section")?.querySelector<HTMLDetailsElement>(":scope > details.fold");
  if (fold && !fold.open) {
    fold.open = true;
    named?.scrollIntoView();
  }
}

let begun = false;

/** Looks at the address of the page, now and whenever it changes. What is open on a live page stays so by itself. */
export function take(): void {
  if (begun) return;
  begun = true;
  window.addEventListener("hashchange", reveal);
  window.addEventListener("beforeprint", () => {
    for (const fold of document.querySelectorAll<HTMLDetailsElement>("details.fold")) fold.open = true;
  });
  reveal();
}
