// Throughput and p99 of the last minutes.
import type uPlot from "uplot";
import { colour } from "./colours";
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
    private readonly ratePlace: HTMLElement,
    p99Place: HTMLElement,
  ) {
    this.rate = new Plot(ratePlace, compact);
    this.p99 = new Plot(p99Place, latency);
  }

  draw(state: State): void {
    if (state.seconds.length === 0) return;
    const series = (): uPlot.Series[] => [
      { label: "measuring", stroke: colour(this.ratePlace, "--accent"), width: 2, points: { show: false } },
      { label: "warming up or storing", stroke: colour(this.ratePlace, "--muted"), width: 1.5, dash: [4, 3], points: { show: false } },
    ];
    const x = { time: true };
    this.rate.show(split(state.seconds, (second) => second.rate), "rate", x, series, timeOfDay);
    this.p99.show(split(state.seconds, (second) => second.p99_ns), "p99", x, series, timeOfDay);
  }

  forget(): void {
    this.rate.forget();
    this.p99.forget();
  }
}

/** The measured seconds and the others apart, with nothing where nothing was done. */
function split(seconds: Second[], value: (second: Second) => number | null): Data {
  const data: Data = [[], [], []];
  let before = Infinity;
  for (const second of seconds) {
    if (second.at - before > GAP_SECONDS) {
      data[0].push((second.at + before) / 2);
      data[1]?.push(null);
      data[2]?.push(null);
    }
    before = second.at;
    data[0].push(second.at);
    const measured = second.phase === "measure";
    data[1]?.push(measured ? value(second) : null);
    data[2]?.push(measured ? null : value(second));
  }
  return data;
}
