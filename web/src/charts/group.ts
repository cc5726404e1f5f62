// Charts that share their cursor: one of them is looked at, all of them show where.
import type { Chart } from "./chart";
import * as values from "./values";

export class Group {
  private charts: Chart[] = [];
  private active: Chart | undefined;
  private index = 0;

  add(chart: Chart): void {
    const drawing = chart.drawing;
    // A screen reader is told of a thing with a value that keys change. One stop of the tab key for each group, arrows go on from there.
    drawing.setAttribute("role", "slider");
    drawing.setAttribute("aria-orientation", "horizontal");
    drawing.setAttribute("aria-valuemin", "0");
    drawing.setAttribute("aria-valuemax", String(chart.places.length - 1));
    this.tell(chart, 0);
    drawing.setAttribute("tabindex", this.charts.length === 0 ? "0" : "-1");
    drawing.addEventListener("pointermove", (event) => this.at(chart, chart.nearest(chart.valueAt(event.clientX))));
    drawing.addEventListener("pointerdown", (event) => this.at(chart, chart.nearest(chart.valueAt(event.clientX))));
    drawing.addEventListener("pointerleave", (event) => {
      // A finger that is lifted leaves the values where they were asked for.
      if (event.pointerType === "mouse" && document.activeElement !== drawing) this.hide();
    });
    drawing.addEventListener("focus", () => {
      if (drawing.matches(":focus-visible")) this.at(chart, Math.min(this.index, chart.places.length - 1));
    });
    drawing.addEventListener("blur", () => this.hide());
    drawing.addEventListener("keydown", (event) => this.key(chart, event));
    this.charts.push(chart);
  }

  /** Lets go of charts that are no longer in the page. */
  forget(): void {
    this.charts = this.charts.filter((chart) => chart.drawing.isConnected);
    const first = this.charts[0];
    if (first !== undefined && !this.charts.some((chart) => chart.drawing.getAttribute("tabindex") === "0")) {
      first.drawing.setAttribute("tabindex", "0");
    }
  }

  private key(chart: Chart, event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const last = chart.places.length - 1;
    const now = this.active === chart ? this.index : -1;
    const to: Record<string, number> = {
      ArrowLeft: Math.max(0, now - 1),
      ArrowRight: Math.min(last, now + 1),
      PageDown: Math.min(last, now + 10),
      PageUp: Math.max(0, now - 10),
      Home: 0,
      End: last,
    };
    const next = to[event.key];
    if (next !== undefined) {
      this.at(chart, next);
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      this.step(chart, event.key === "ArrowDown" ? 1 : -1);
    } else if (event.key === "Escape") {
      this.hide();
    } else {
      return;
    }
    event.preventDefault();
  }

  /** Goes to the next chart of the group at the same place. */
  private step(chart: Chart, by: number): void {
    const next = this.charts[this.charts.indexOf(chart) + by];
    if (next === undefined) return;
    const value = chart.places[this.index] ?? 0;
    for (const one of this.charts) one.drawing.setAttribute("tabindex", one === next ? "0" : "-1");
    next.drawing.focus();
    this.at(next, next.nearest(value));
  }

  private at(chart: Chart, index: number): void {
    if (this.active === chart && this.index === index && values.isShown()) return;
    this.active = chart;
    this.index = index;
    const value = chart.places[index] ?? 0;
    for (const one of this.charts) one.show(one.nearest(value), one !== chart);
    this.tell(chart, index);
    values.show(chart, index);
  }

  private tell(chart: Chart, index: number): void {
    const told = chart.told(index).map((one) => `${one.name} ${one.value}${one.interval === "" ? "" : ` (${one.interval})`}`);
    chart.drawing.setAttribute("aria-valuenow", String(index));
    chart.drawing.setAttribute("aria-valuetext", `${chart.place(index)}: ${told.join(", ")}`);
  }

  private hide(): void {
    for (const chart of this.charts) chart.hide();
    this.active = undefined;
    values.hide();
  }
}
