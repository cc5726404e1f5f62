// The grid of runs, which the page has drawn: its cells change their state.
import type { Run } from "./message";

/** Marks and words, as in `crates/page/src/experiment/live.rs`. */
const STATES: Record<string, [mark: string, word: string]> = {
  going: ["●", "running"],
  finished: ["✓", "finished"],
  failed: ["✗", "failed"],
  interrupted: ["◐", "interrupted"],
};

/** Shows how these runs stand. Cells that the page left out stay out. */
export function showRuns(place: HTMLElement, runs: Run[]): void {
  for (const run of runs) {
    const cell = place.querySelector<HTMLElement>(`[data-run="${run.block}:${run.arm}"]`);
    const state = STATES[run.state];
    if (!cell || !state) continue;
    cell.className = `run-${run.state}`;
    cell.title = state[1];
    const [mark, word] = cell.children;
    if (mark) mark.textContent = state[0];
    if (word) word.textContent = state[1];
  }
}
