// Throughput and p99 of the last minutes.
import type uPlot from "uplot";
import type { ArmLooks } from "./looks";
import type { Second } from "./message";
import { type Data, Plot } from "./plot";
import type { State } from "./state";
import { compact, latency, timeOfDay } from "./words";

/** A pause of more seconds than this is a gap. */
const GAP_SECONDS = 2.5;

/** Two charts over the same seconds. */
export class TimeCharts {
  private readonly rate: Plot;
  private readonly p99: Plot;

  constructor(
    ratePlace: HTMLElement,
    p99Place: HTMLElement,
    private readonly looks: ArmLooks,
  ) {
    this.rate = new Plot(ratePlace, compact);
    this.p99 = new Plot(p99Place, latency, true);
  }

  draw(state: State): void {
    if (state.seconds.length === 0) return;
    const { seconds } = state;
    // Only arms of which something is shown: an experiment may have many.
    const arms = [...new Set(seconds.map((second) => second.arm))].sort((a, b) => a - b);
    const series = (): uPlot.Series[] =>
      arms.flatMap((arm): uPlot.Series[] => {
        const label = state.arms[arm] ?? "";
        const stroke = this.looks.of(arm).colour;
        return [
          { label, stroke, width: 2, points: { show: false } },
          { label: `${label}, warming up or storing`, stroke, width: 1.2, dash: [2, 3], points: { show: false } },
        ];
      });
    const x = { scale: { time: true }, title: "time of day", words: timeOfDay };
    const shape = arms.join(" ");
    const names = beginnings(seconds).map(({ at, arm }) => ({ at, text: state.arms[arm] ?? "", colour: this.looks.of(arm).colour }));
    const events = [...state.events.values()];
    this.rate.show(split(seconds, arms, (second) => second.rate), shape, x, series, names, events);
    this.p99.show(split(seconds, arms, (second) => second.p99_ns), shape, x, series, names, events);
  }

  forget(): void {
    this.rate.forget();
    this.p99.forget();
  }
}

/** The first second of every stretch of one arm. */
function beginnings(seconds: readonly Second[]): Second[] {
  return seconds.filter((second, place) => second.arm !== seconds[place - 1]?.arm);
}

/** Of every arm the measured seconds and the others apart, with nothing where nothing was done. */
function split(seconds: readonly Second[], arms: readonly number[], value: (second: Second) => number | null): Data {
  const ends: number[] = [];
  const lists = Array.from({ length: 2 * arms.length }, (): (number | null)[] => []);
  const put = (at: number, shown: number, told: number | null): void => {
    ends.push(at);
    lists.forEach((list, series) => list.push(series === shown ? told : null));
  };
  let before = Infinity;
  for (const second of seconds) {
    if (second.at - before > GAP_SECONDS) put((second.at + before) / 2, -1, null);
    before = second.at;
    put(second.at, 2 * arms.indexOf(second.arm) + (second.phase === "measure" ? 0 : 1), value(second));
  }
  return [ends, ...lists];
}
