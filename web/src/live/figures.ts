// The figures behind the charts as tables, for those who do not see them.
import { curve, medians } from "./load-charts";
import type { State } from "./state";
import { latency, number, timeOfDay } from "./words";

/** Seconds in the table, the latest first. */
const SECONDS = 60;

/** Both tables. */
export function figures(state: State): HTMLElement[] {
  const points = curve(state);
  const rates = medians(points, state.arms.length, (point) => point.rate);
  const p99s = medians(points, state.arms.length, (point) => point.p99_ns);
  const load: string[][] = [];
  rates[0].forEach((at, place) => {
    state.arms.forEach((arm, index) => {
      const rate = rates[index + 1]?.[place];
      if (rate === null || rate === undefined) return;
      const p99 = p99s[index + 1]?.[place];
      load.push([number(at), arm, number(rate, 4), p99 === null || p99 === undefined ? "–" : latency(p99)]);
    });
  });
  const seconds = state.seconds
    .slice(-SECONDS)
    .reverse()
    .map((second) => [
      timeOfDay(second.at),
      state.arms[second.arm] ?? "",
      second.phase,
      number(second.rate, 4),
      second.p99_ns === null ? "–" : latency(second.p99_ns),
    ]);
  const events = [...state.events.values()].reverse().map((event) => [timeOfDay(event.at), event.words]);
  return [
    table(`Over the load, ${state.mix}: median of the runs so far`, [state.open ? "Rate, op/s" : "Sessions", "Arm", "op/s", "p99"], load),
    table("The last seconds, the latest first", ["Until", "Arm", "Phase", "op/s", "p99"], seconds),
    ...(events.length > 0 ? [table("Events, the latest first", ["At", "Event"], events)] : []),
  ];
}

export function table(title: string, head: string[], rows: string[][]): HTMLElement {
  const scroll = document.createElement("div");
  scroll.className = "scroll";
  scroll.tabIndex = 0;
  scroll.setAttribute("role", "region");
  scroll.setAttribute("aria-label", title);
  const made = document.createElement("table");
  made.className = "data";
  made.createCaption().textContent = title;
  const headRow = made.createTHead().insertRow();
  for (const words of head) {
    const cell = document.createElement("th");
    cell.scope = "col";
    cell.textContent = words;
    headRow.append(cell);
  }
  const body = made.createTBody();
  for (const row of rows) {
    const line = body.insertRow();
    for (const words of row) line.insertCell().textContent = words;
  }
  scroll.append(made);
  return scroll;
}
