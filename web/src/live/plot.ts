// A chart on a canvas, in the page's colours and as wide as its place.
import uPlot from "uplot";
import { colour } from "./colours";

const HEIGHT = 190;

/** What a chart shows: x, then one list for each series. */
export type Data = [xs: number[], ...series: (number | null)[][]];

/** One chart. It is made anew where its series change, and given new data otherwise. */
export class Plot {
  private chart: uPlot | null = null;
  private made = "";

  constructor(
    private readonly place: HTMLElement,
    private readonly spelled: (value: number) => string,
  ) {
    new ResizeObserver(() => {
      const width = this.place.clientWidth;
      if (this.chart && width > 0 && width !== this.chart.width) this.chart.setSize({ width, height: HEIGHT });
    }).observe(place);
  }

  /** Shows data. `shape` tells whether the series are the same as before. */
  show(data: Data, shape: string, x: Partial<uPlot.Scale>, series: () => uPlot.Series[], xWords: (value: number) => string): void {
    if (this.chart && this.made === shape) {
      this.chart.setData(data);
      return;
    }
    this.forget();
    this.made = shape;
    const muted = colour(this.place, "--muted");
    const hair = colour(this.place, "--hair");
    const font = `12px ${getComputedStyle(this.place).fontFamily}`;
    const axis = { stroke: muted, font, grid: { stroke: hair, width: 1 }, ticks: { stroke: hair, width: 1, size: 5 } };
    const xAxis: uPlot.Axis = { ...axis, grid: { show: false }, size: 34, space: 80, values: (_, values) => values.map(xWords) };
    this.chart = new uPlot(
      {
        width: Math.max(this.place.clientWidth, 160),
        height: HEIGHT,
        legend: { show: false },
        cursor: { drag: { x: false, y: false }, points: { size: 7 } },
        scales: { x, y: { range: (_, __, most) => [0, most > 0 ? most * 1.08 : 1] } },
        axes: [xAxis, { ...axis, size: 62, values: (_, values) => values.map((value) => this.spelled(value)) }],
        series: [{}, ...series()],
        hooks: { setCursor: [(chart) => this.tell(chart, xWords)] },
      },
      data,
      this.place,
    );
    this.chart.root.setAttribute("aria-hidden", "true");
  }

  /** The exact values below the pointer. */
  private tell(chart: uPlot, xWords: (value: number) => string): void {
    const at = chart.cursor.idx;
    let words = "";
    if (at !== null && at !== undefined) {
      const told = chart.series.slice(1).flatMap((series, place) => {
        const value = chart.data[place + 1]?.[at];
        return value === null || value === undefined ? [] : [`${String(series.label ?? "")} ${this.spelled(value)}`];
      });
      if (told.length > 0) words = `${xWords(chart.data[0][at] ?? 0)}: ${told.join(", ")}`;
    }
    this.place.title = words;
    this.place.dataset["told"] = words;
  }

  /** Takes the chart away. */
  forget(): void {
    this.chart?.destroy();
    this.chart = null;
    this.made = "";
  }
}
