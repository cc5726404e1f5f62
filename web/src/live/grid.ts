// The grid of runs, which the page has drawn: its cells change their state.
import type { Run } from "./message";

/** Marks and words, as in `crates/report/src/page/experiment/live.rs`. */
const STATES: Record<string, [mark: string, word: string]> = {
  going: ["●", "running"],
  finished: ["✓", "finished"],
  failed: ["✗", "failed"],
  interrupted: ["◐", "interrupted"],
};

/** Marks the runs that a page which was made since says are not valid. */
export function markInvalid(place: ParentNode, made: ParentNode): void {
  for (const fresh of made.querySelectorAll<HTMLElement>("[data-live] .run-invalid")) {
    place.querySelector(`[data-live] [data-run="${fresh.dataset["run"] ?? ""}"]`)?.replaceWith(document.importNode(fresh, true));
  }
}

/** Shows how these runs stand. Cells that the page left out stay out. */
export function showRuns(place: HTMLElement, runs: Run[]): void {
  for (const run of runs) {
    const cell = place.querySelector<HTMLElement>(`[data-run="${run.block}:${run.arm}"]`);
    const state = STATES[run.state];
    if (!cell || !state) continue;
    // Whether it is valid is not told here.
    if (run.state === "finished" && cell.classList.contains("run-finished")) continue;
    cell.className = `run-${run.state}`;
    cell.title = state[1];
    const [mark, word] = cell.children;
    if (mark) mark.textContent = state[0];
    if (word) word.textContent = state[1];
  }
}
