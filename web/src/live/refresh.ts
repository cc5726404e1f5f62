// Fetches the page again when a run has ended, and puts what it says now in the place of what it said before. Where the reader is, what is open and
// what has the focus stays.
import { take } from "../main";
import { markInvalid } from "./grid";

/** Milliseconds from the end of a run until the page is fetched, and between two times at least. */
const SOON_MS = 400;
const APART_MS = 3_000;
/** Milliseconds until it is tried again when it failed. */
const AGAIN_MS = 5_000;

/** Keeps the report of this page up to date. */
export class Refresher {
  private timer = 0;
  private busy = false;
  private wanted = false;
  private last = -Infinity;

  /** `ended`: the page that was fetched is of an experiment that does not go on any more. */
  constructor(private readonly ended: () => void) {}

  /** In a moment: several runs may end together. */
  soon(): void {
    if (this.timer !== 0) return;
    const wait = Math.max(SOON_MS, this.last + APART_MS - performance.now());
    this.timer = window.setTimeout(() => this.now(), wait);
  }

  /** At once. */
  now(): void {
    window.clearTimeout(this.timer);
    this.timer = 0;
    this.wanted = true;
    if (!this.busy) void this.fetch();
  }

  private async fetch(): Promise<void> {
    this.busy = true;
    while (this.wanted) {
      this.wanted = false;
      this.last = performance.now();
      try {
        const answer = await fetch(location.href, { headers: { accept: "text/html" } });
        if (!answer.ok) throw new Error(answer.statusText);
        this.replace(new DOMParser().parseFromString(await answer.text(), "text/html"));
      } catch {
        // The server is gone for now: what is shown stays.
        this.timer = window.setTimeout(() => this.now(), AGAIN_MS);
      }
    }
    this.busy = false;
  }

  private replace(page: Document): void {
    const old = document.querySelector<HTMLElement>("[data-report]");
    const live = page.querySelector("[data-live]") !== null;
    const found = page.querySelector<HTMLElement>("[data-report]");
    if (!old || !found) return;
    const fresh = document.importNode(found, true);
    keepingPlace(old, fresh, () => {
      old.replaceWith(fresh);
      if (!live) this.ended();
    });
    markInvalid(document, page);
    document.title = page.title;
    take(fresh);
  }
}

/** Changes the page so that what the reader looks at stays where it is. */
function keepingPlace(old: HTMLElement, fresh: HTMLElement, change: () => void): void {
  const open = new Set(named(old).flatMap(([name, details]) => (details.open ? [name] : [])));
  for (const [name, details] of named(fresh)) if (open.has(name)) details.open = true;
  const focused = document.activeElement;
  const focus = focused && old.contains(focused) ? focusable(old).indexOf(focused as HTMLElement) : -1;
  const seen = [...old.querySelectorAll<HTMLElement>("section[id]")].find((section) => section.getBoundingClientRect().bottom > 0);
  const reading = window.scrollY > 0 && old.getBoundingClientRect().top < 0;
  const before = seen?.getBoundingClientRect().top ?? 0;
  change();
  if (reading && seen) {
    const now = document.getElementById(seen.id)?.getBoundingClientRect().top ?? before;
    window.scrollBy({ top: now - before, behavior: "instant" });
  }
  const again = focus >= 0 ? focusable(fresh)[focus] : undefined;
  if (again && again.textContent === focused?.textContent) again.focus({ preventScroll: true });
}

/** Everything that can be opened, by its section and its place in it. */
function named(root: HTMLElement): [string, HTMLDetailsElement][] {
  const counts = new Map<string, number>();
  return [...root.querySelectorAll("details")].map((details) => {
    const section = details.closest("section")?.id ?? "";
    const count = counts.get(section) ?? 0;
    counts.set(section, count + 1);
    return [`${section} ${count}`, details];
  });
}

function focusable(root: HTMLElement): HTMLElement[] {
  return [...root.querySelectorAll<HTMLElement>("a[href], button, summary, input, select, [tabindex]")];
}
