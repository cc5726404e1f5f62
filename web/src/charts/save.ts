// The values behind charts as files, made of what the page holds already.
import { read, type Chart } from "./chart";

/** One field of CSV. What a spreadsheet would take for a formula is kept as text. */
export function field(value: string | number | null | undefined): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** A row for each place of each line. */
export function csv(charts: readonly Chart[]): string {
  const rows = [["chart", "place", "x", "line", "unit", "value", "low", "high"].join(",")];
  for (const chart of charts) {
    chart.places.forEach((x, index) => {
      for (const one of chart.series) {
        const cells = [chart.name, chart.place(index), x, one.name, one.unit, one.values[index], one.low?.[index], one.high?.[index]];
        rows.push(cells.map(field).join(","));
      }
    });
  }
  return `${rows.join("\n")}\n`;
}

/** Puts a button into the list of downloads. */
export function offerTables(root: ParentNode): void {
  const list = root.querySelector("#downloads");
  if (list === null || list.querySelector(".save") !== null) return;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "save";
  button.textContent = "Save the values of all charts on this page (charts.csv)";
  button.addEventListener("click", () => {
    const charts: Chart[] = [];
    for (const drawing of document.querySelectorAll<SVGSVGElement>("svg[data-cursor]")) {
      const chart = read(drawing);
      if (chart !== undefined) charts.push(chart);
    }
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([csv(charts)], { type: "text/csv" }));
    link.download = "charts.csv";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  });
  list.append(button);
}
