// A chart on a canvas, in the page's colours and as wide as its place.
import uPlot from "uplot";
import { colour } from "./looks";

const HEIGHT = 208;
/** Of a mark, in the units of the page's swatches and on the canvas. */
const MARK_CENTRE = [15, 7] as const;
const MARK_SCALE = 0.85;
/** Room before and behind a name over the chart, pixels of the page. */
const NAME_GAP = 5;
/** Of the line of an event: as on the page. */
const EVENT_DASH = [6, 3, 1, 3];
/** An event this far from the pointer is told with the values, pixels of the page. */
const EVENT_REACH = 8;

/** What a chart shows: x, then one list for each series. */
export type Data = [xs: number[], ...series: (number | null)[][]];

/** The lower axis. */
export interface XAxis {
  scale: Partial<uPlot.Scale>;
  title: string;
  words: (value: number) => string;
}

/** A name over the chart, from where on it holds. */
export interface Name {
  at: number;
  text: string;
  colour: string;
}

/** Something that happened, and when. */
export interface Happening {
  at: number;
  words: string;
}

/** Draws the points of a series as this mark of the page. */
export function marks(outline: string): uPlot.Series.Points.PathBuilder {
  const mark = new Path2D(outline);
  return (chart, place, from, to) => {
    const all = new Path2D();
    const size = devicePixelRatio * MARK_SCALE;
    // On a scale of equal distances the place of a value is its index.
    const ordinal = chart.scales["x"]?.distr === 2;
    for (let index = from; index <= to; index += 1) {
      const x = ordinal ? index : chart.data[0][index];
      const y = chart.data[place]?.[index];
      if (x === undefined || y === null || y === undefined) continue;
      const at = new DOMMatrix()
        .translate(chart.valToPos(x, "x", true), chart.valToPos(y, "y", true))
        .scale(size)
        .translate(-MARK_CENTRE[0], -MARK_CENTRE[1]);
      all.addPath(mark, at);
    }
    return { stroke: null, fill: all, flags: 3 };
  };
}

function fromZero(_: uPlot, __: number, most: number): [number, number] {
  return [0, most > 0 ? most * 1.08 : 1];
}

/** Whole powers of ten around the values, for a logarithmic scale. */
function decades(_: uPlot, least: number | null, most: number | null): [number, number] {
  if (!least || !most || least <= 0) return [1, 10];
  const low = Math.floor(Math.log10(least));
  return [10 ** low, 10 ** Math.max(Math.ceil(Math.log10(most)), low + 1)];
}

/** One chart. It is made again where its series change, and given new data otherwise. */
export class Plot {
  private chart: uPlot | null = null;
  private made = "";
  private names: readonly Name[] = [];
  private events: readonly Happening[] = [];

  constructor(
    private readonly place: HTMLElement,
    private readonly spelled: (value: number) => string,
    private readonly isLog = false,
  ) {
    new ResizeObserver(() => {
      const width = this.place.clientWidth;
      if (this.chart && width > 0 && width !== this.chart.width) this.chart.setSize({ width, height: HEIGHT });
    }).observe(place);
  }

  /** Shows data. `shape` tells whether the series are the same as before. */
  show(
    data: Data,
    shape: string,
    x: XAxis,
    series: () => uPlot.Series[],
    names: readonly Name[] = [],
    events: readonly Happening[] = [],
  ): void {
    this.names = names;
    this.events = events;
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
    const xAxis: uPlot.Axis = {
      ...axis,
      grid: { show: false },
      size: 30,
      space: 80,
      label: x.title,
      labelSize: 18,
      labelFont: font,
      values: (_, values) => values.map(x.words),
    };
    this.chart = new uPlot(
      {
        width: Math.max(this.place.clientWidth, 160),
        height: HEIGHT,
        legend: { show: false },
        cursor: { drag: { x: false, y: false }, points: { size: 7 } },
        scales: { x: x.scale, y: this.isLog ? { distr: 3, range: decades } : { range: fromZero } },
        axes: [
          xAxis,
          {
            ...axis,
            size: 62,
            // A logarithmic axis has no words at most of its lines.
            values: (_, values: (number | null)[]) => values.map((value) => (value === null ? "" : this.spelled(value))),
          },
        ],
        series: [{}, ...series()],
        hooks: { setCursor: [(chart) => this.tell(chart, x.words)], draw: [(chart) => this.strike(chart, muted), (chart) => this.write(chart, font)] },
      },
      data,
      this.place,
    );
    this.chart.root.setAttribute("aria-hidden", "true");
  }

  /** The names over the chart. One for which there is no room before the next is left out. */
  private write(chart: uPlot, font: string): void {
    const { ctx, bbox } = chart;
    ctx.save();
    ctx.font = font.replace("12px", `${12 * devicePixelRatio}px`);
    ctx.textAlign = "left";
    ctx.textBaseline = "bottom";
    let free = -Infinity;
    for (const name of this.names) {
      const x = Math.max(chart.valToPos(name.at, "x", true), bbox.left);
      const end = x + ctx.measureText(name.text).width + NAME_GAP * devicePixelRatio;
      if (x < free || end > bbox.left + bbox.width + NAME_GAP * devicePixelRatio) continue;
      ctx.fillStyle = name.colour;
      ctx.fillText(name.text, x, bbox.top);
      free = end;
    }
    ctx.restore();
  }

  /** A dash-dotted line at every event. */
  private strike(chart: uPlot, stroke: string): void {
    const { ctx, bbox } = chart;
    ctx.save();
    ctx.strokeStyle = stroke;
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash(EVENT_DASH.map((length) => length * devicePixelRatio));
    for (const event of this.events) {
      const x = chart.valToPos(event.at, "x", true);
      if (x < bbox.left || x > bbox.left + bbox.width) continue;
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
    }
    ctx.restore();
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
      const { left } = chart.cursor;
      const near = this.events.filter((event) => Math.abs(chart.valToPos(event.at, "x") - (left ?? -Infinity)) <= EVENT_REACH);
      told.push(...near.map((event) => event.words));
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
