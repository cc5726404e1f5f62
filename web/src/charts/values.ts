// The small sheet beside the cursor that says the exact values. It floats above the page, so nothing moves.
import type { Chart } from "./chart";

const SVG = "http://www.w3.org/2000/svg";
const AWAY = 14;

let sheet: HTMLElement | undefined;
let shown: { chart: Chart; index: number } | undefined;

export function isShown(): boolean {
  return sheet !== undefined && !sheet.hidden;
}

export function hide(): void {
  shown = undefined;
  if (sheet !== undefined) sheet.hidden = true;
}

/** Stays at its chart while the page moves below it. */
function follow(): void {
  if (sheet !== undefined && shown !== undefined) beside(shown.chart, shown.index, sheet);
}

export function show(chart: Chart, index: number): void {
  if (sheet === undefined) {
    sheet = document.createElement("div");
    sheet.className = "values";
    // What it says is said by the chart itself, to those who do not see it.
    sheet.setAttribute("aria-hidden", "true");
    document.body.append(sheet);
    addEventListener("scroll", follow, { passive: true, capture: true });
    addEventListener("resize", follow, { passive: true });
    addEventListener("keydown", (event) => {
      if (event.key === "Escape") hide();
    });
  }
  const head = document.createElement("strong");
  head.textContent = chart.place(index);
  const list = document.createElement("dl");
  for (const one of chart.told(index)) {
    const [name, value] = [document.createElement("dt"), document.createElement("dd")];
    if (one.look !== undefined) name.append(swatch(one.look));
    name.append(one.name);
    value.textContent = one.value;
    if (one.interval !== "") {
      const interval = document.createElement("small");
      interval.textContent = one.interval;
      value.append(interval);
    }
    list.append(name, value);
  }
  sheet.replaceChildren(head, list);
  sheet.hidden = false;
  shown = { chart, index };
  beside(chart, index, sheet);
}

/** A piece of the arm's line, as in the legends. */
function swatch(look: string): SVGSVGElement {
  const picture = document.createElementNS(SVG, "svg");
  picture.setAttribute("class", `swatch ${/^a[0-9x]$/.test(look) ? look : ""}`);
  picture.setAttribute("viewBox", "0 0 30 14");
  const line = document.createElementNS(SVG, "path");
  line.setAttribute("class", "line");
  line.setAttribute("d", "M1 7H29");
  picture.append(line);
  return picture;
}

function beside(chart: Chart, index: number, what: HTMLElement): void {
  const box = chart.drawing.getBoundingClientRect();
  const own = what.getBoundingClientRect();
  const x = chart.clientX(index);
  const fits = x + AWAY + own.width < document.documentElement.clientWidth - 8;
  const left = fits ? x + AWAY : Math.max(8, x - AWAY - own.width);
  const top = Math.min(Math.max(8, box.top + 24), Math.max(8, innerHeight - own.height - 8));
  what.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
}
