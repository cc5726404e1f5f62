// One chart with its values, and the cursor that is drawn over it.
import { spelled } from "./number";

const SVG = "http://www.w3.org/2000/svg";

/** One line of a chart: as many values as there are places. */
export interface Series {
  name: string;
  unit: string;
  values: (number | string | null)[];
  low?: (number | null)[];
  high?: (number | null)[];
  /** Class of the look of an arm. */
  look?: string;
}

interface Data {
  x: number[];
  unit: string;
  labels?: string[];
  /** Seconds of which a value is the mean. */
  stretch?: number;
  series: Series[];
}

/** What is told of one series at one place. */
export interface Told {
  name: string;
  value: string;
  interval: string;
  look: string | undefined;
}

export class Chart {
  private line: SVGLineElement | undefined;
  private text: SVGTextElement | undefined;

  constructor(
    readonly drawing: SVGSVGElement,
    private readonly data: Data,
    /** Left and right end in the view box, and the values there. */
    private readonly plot: readonly [number, number, number, number],
    private readonly isLogarithmic: boolean,
  ) {}

  get places(): readonly number[] {
    return this.data.x;
  }

  get name(): string {
    return this.drawing.querySelector("title")?.textContent ?? "";
  }

  get series(): readonly Series[] {
    return this.data.series;
  }

  /** Where a value lies in the view box. */
  private across(value: number): number {
    const [left, right, from, to] = this.plot;
    const share = this.isLogarithmic ? Math.log(value / from) / Math.log(to / from) : (value - from) / (to - from);
    return left + Math.min(1, Math.max(0, share)) * (right - left);
  }

  /** The value at a place on the screen. */
  valueAt(clientX: number): number {
    const box = this.drawing.getBoundingClientRect();
    const [left, right, from, to] = this.plot;
    const inside = ((clientX - box.left) / box.width) * this.drawing.viewBox.baseVal.width;
    const share = Math.min(1, Math.max(0, (inside - left) / (right - left)));
    return this.isLogarithmic ? from * (to / from) ** share : from + share * (to - from);
  }

  /** The place nearest to a value, as it looks on the chart. */
  nearest(value: number): number {
    const at = this.across(value);
    let best = 0;
    let distance = Infinity;
    this.places.forEach((place, index) => {
      const off = Math.abs(this.across(place) - at);
      if (off < distance) [best, distance] = [index, off];
    });
    return best;
  }

  /** What the horizontal axis says of a place. */
  place(index: number): string {
    const label = this.data.labels?.[index];
    if (label !== undefined) return label;
    const value = this.places[index];
    const stretch = this.data.stretch ?? 1;
    const at = spelled(value, this.data.unit);
    if (this.data.unit !== "s" || value === undefined) return at;
    return stretch > 1 ? `around ${at}, mean of ${spelled(stretch, "s")}` : at;
  }

  told(index: number): Told[] {
    const all: Told[] = [];
    for (const one of this.data.series) {
      const value = one.values[index];
      const text = typeof value === "string" ? value : spelled(value, one.unit);
      const [low, high] = [one.low?.[index], one.high?.[index]];
      const known = typeof low === "number" && typeof high === "number";
      all.push({ name: one.name, value: text, interval: known ? between(spelled(low, one.unit), spelled(high, one.unit)) : "", look: one.look });
    }
    return all;
  }

  /** The screen's place of the cursor. */
  clientX(index: number): number {
    const box = this.drawing.getBoundingClientRect();
    return box.left + (this.across(this.places[index] ?? 0) / this.drawing.viewBox.baseVal.width) * box.width;
  }

  /** Draws the cursor; with `value`, what the first line is there, for charts that are not looked at themselves. */
  show(index: number, withValue: boolean): void {
    const box = this.drawing.viewBox.baseVal;
    const x = this.across(this.places[index] ?? 0).toFixed(1);
    if (this.line === undefined) {
      this.line = document.createElementNS(SVG, "line");
      this.line.classList.add("cursor-line");
      this.line.setAttribute("y1", "16");
      this.line.setAttribute("y2", String(box.height - 16));
      this.text = document.createElementNS(SVG, "text");
      this.text.classList.add("cursor-value", "halo");
      this.text.setAttribute("y", "30");
      this.drawing.append(this.line, this.text);
    }
    this.line.setAttribute("x1", x);
    this.line.setAttribute("x2", x);
    if (this.text === undefined) return;
    const single = this.data.series.length <= 2 ? this.told(index)[0] : undefined;
    this.text.textContent = withValue && single !== undefined ? single.value : "";
    const isRight = Number(x) > box.width * 0.62;
    this.text.setAttribute("x", String(Number(x) + (isRight ? -5 : 5)));
    this.text.classList.toggle("end", isRight);
  }

  hide(): void {
    this.line?.remove();
    this.text?.remove();
    this.line = undefined;
    this.text = undefined;
  }
}

/** Two ends; a unit that both have is said once. */
function between(low: string, high: string): string {
  const unit = /\u202f[^\d\u202f]+$/;
  const same = unit.exec(low)?.[0] === unit.exec(high)?.[0];
  return `${same ? low.replace(unit, "") : low} to ${high}`;
}

function isData(value: unknown): value is Data {
  if (typeof value !== "object" || value === null) return false;
  const data = value as Partial<Data>;
  return Array.isArray(data.x) && data.x.length > 0 && Array.isArray(data.series) && data.series.length > 0;
}

/** The chart of a drawing; nothing where it has no values. */
export function read(drawing: SVGSVGElement): Chart | undefined {
  const beside = drawing.nextElementSibling;
  if (!(beside instanceof HTMLScriptElement) || !beside.classList.contains("chart-data")) return undefined;
  const [left, right, from, to] = (drawing.dataset["plot"] ?? "").split(" ").map(Number);
  if (left === undefined || right === undefined || from === undefined || to === undefined) return undefined;
  try {
    const data: unknown = JSON.parse(beside.textContent ?? "");
    return isData(data) ? new Chart(drawing, data, [left, right, from, to], drawing.dataset["scale"] === "log") : undefined;
  } catch {
    return undefined;
  }
}
