// Charts that tell their exact values, with one cursor over all that share their seconds or their loads.
//
// The page draws every chart and puts the values beside it (`crates/report/src/page/chart/values.rs`); here they are only read out. Charts of one group
// move their cursors together. A pointer, a finger and the arrow keys do the same.
import { Chart, read } from "./charts/chart";
import { Group } from "./charts/group";
import { offerTables } from "./charts/save";

const groups = new Map<string, Group>();

/** Takes the charts below `root`. Those that a live page has replaced leave their groups. */
export function take(root: ParentNode): void {
  for (const group of groups.values()) group.forget();
  for (const drawing of root.querySelectorAll<SVGSVGElement>("svg[data-cursor]")) {
    if (drawing.dataset["taken"] !== undefined) continue;
    const chart = read(drawing);
    if (chart === undefined) continue;
    drawing.dataset["taken"] = "";
    join(chart);
  }
  offerTables(root);
}

function join(chart: Chart): void {
  const name = chart.drawing.dataset["cursor"] ?? "";
  let group = groups.get(name);
  if (group === undefined) {
    group = new Group();
    groups.set(name, group);
  }
  group.add(chart);
}
