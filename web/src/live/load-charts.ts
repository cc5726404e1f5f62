// The curve so far: throughput and p99 over the load, the median of the runs of each arm.
import type uPlot from "uplot";
import type { ArmLooks } from "./looks";
import type { Point } from "./message";
import { type Data, marks, Plot } from "./plot";
import type { State } from "./state";
import { compact, latency, number } from "./words";

/** Two charts over the same loads, where there are at least two: a single dot is no curve. */
export class LoadCharts {
  private readonly rate: Plot;
  private readonly p99: Plot;

  private readonly places: HTMLElement[];

  constructor(
    ratePlace: HTMLElement,
    p99Place: HTMLElement,
    private readonly looks: ArmLooks,
  ) {
    this.places = [ratePlace, p99Place];
    this.rate = new Plot(ratePlace, compact);
    this.p99 = new Plot(p99Place, latency, true);
  }

  draw(state: State): void {
    const points = curve(state);
    const isCurve = new Set(points.map((point) => point.load)).size > 1;
    for (const place of this.places) (place.closest("figure") ?? place).hidden = !isCurve;
    if (!isCurve) return;
    const series = (): uPlot.Series[] =>
      state.arms.map((arm, place) => {
        const look = this.looks.of(place);
        return {
          label: arm,
          stroke: look.colour,
          fill: "transparent",
          width: 2,
          dash: look.dash,
          spanGaps: true,
          points: { show: true, size: 6, fill: look.colour, paths: marks(look.mark) },
        };
      });
    // Loads that were chosen stand at equal distances; rates that a search tried stand where they are.
    const x = state.open ? { time: false } : { time: false, distr: 2 as const };
    const unit = state.open ? " op/s" : "";
    const words = (load: number): string => (state.open ? compact(load) : number(load)) + unit;
    const shape = `${state.arms.length} ${state.open}`;
    const axis = { scale: x, title: state.open ? "offered operations per second" : "threads", words };
    this.rate.show(medians(points, state.arms.length, (point) => point.rate), shape, axis, series);
    this.p99.show(medians(points, state.arms.length, (point) => point.p99_ns), shape, axis, series);
  }

  forget(): void {
    this.rate.forget();
    this.p99.forget();
  }
}

/** The points of the mix and kind of load that are being measured. */
export function curve(state: State): Point[] {
  return [...state.points.values()].filter((point) => point.mix === state.mix && point.open === state.open);
}

/** One list for each arm over all loads. */
export function medians(points: Point[], arms: number, value: (point: Point) => number | null): Data {
  const loads = [...new Set(points.map((point) => point.load))].sort((a, b) => a - b);
  const data: Data = [loads];
  for (let arm = 0; arm < arms; arm += 1) {
    const own = points.filter((point) => point.arm === arm);
    data.push(loads.map((load) => median(own.filter((point) => point.load === load).map(value))));
  }
  return data;
}

function median(values: (number | null)[]): number | null {
  const known = values.filter((value): value is number => value !== null).sort((a, b) => a - b);
  const upper = known[Math.floor(known.length / 2)];
  const lower = known[Math.floor((known.length - 1) / 2)];
  return upper === undefined || lower === undefined ? null : (upper + lower) / 2;
}
