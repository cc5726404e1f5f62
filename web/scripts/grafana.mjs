// Holds the dashboard of Grafana against Grafana's own types (@grafana/schema): unknown keys, wrong kinds of values, and options that a panel does
// not have. `npm run grafana`. Types say nothing of panels as such, so the options of each are held against those of its kind.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const web = dirname(dirname(fileURLToPath(import.meta.url)));
const dashboard = JSON.parse(readFileSync(join(web, "../docs/grafana/plimsoll.json"), "utf8"));

/** Kinds of panels with their modules, and whether they have a configuration of fields of their own. */
const KINDS = { timeseries: ["TimeSeries", true], stat: ["Stat", false], gauge: ["Gauge", false] };

/** A module that compiles only where every value fits. */
function spelled(dashboard) {
  // What an exported dashboard says of its needs is read by the import alone, and has no type.
  const { __requires, ...rest } = dashboard;
  const lines = [
    `import type { Dashboard } from "@grafana/schema";`,
    // In JSON a word is no enumeration of TypeScript.
    "type Json<T> = T extends string ? `${T}` : T extends (infer U)[] ? Json<U>[] : T extends object ? { [K in keyof T]: Json<T[K]> } : T;",
    `export const dashboard: Json<Dashboard> = ${JSON.stringify(rest)};`,
  ];
  for (const [kind, [module]] of Object.entries(KINDS)) {
    lines.push(`import type * as ${kind} from "@grafana/schema/dist/esm/raw/composable/${kind}/panelcfg/x/${module}PanelCfg_types.gen";`);
  }
  for (const [number, panel] of dashboard.panels.filter((panel) => panel.type !== "row").entries()) {
    if (!(panel.type in KINDS)) throw new Error(`no types are known for panels of the kind ${panel.type}: add it to KINDS`);
    lines.push(`export const options${number}: Json<Partial<${panel.type}.Options>> = ${JSON.stringify(panel.options ?? {})};`);
    const custom = panel.fieldConfig?.defaults?.custom;
    if (KINDS[panel.type][1]) lines.push(`export const fields${number}: Json<${panel.type}.FieldConfig> = ${JSON.stringify(custom ?? {})};`);
    else if (custom !== undefined) throw new Error(`${panel.title}: a ${panel.type} has no fields of its own`);
  }
  return lines.join("\n");
}

/** What does not fit. */
function mistakes(dashboard) {
  const name = join(web, "scripts/dashboard.ts");
  const options = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists, readFile } = host;
  const text = spelled(dashboard);
  host.fileExists = (path) => path === name || fileExists.call(host, path);
  host.readFile = (path) => (path === name ? text : readFile.call(host, path));
  host.getSourceFile = (path, ...rest) => (path === name ? ts.createSourceFile(path, text, rest[0]) : getSourceFile.call(host, path, ...rest));
  const program = ts.createProgram([name], options, host);
  return ts.getPreEmitDiagnostics(program).map((one) => ts.flattenDiagnosticMessageText(one.messageText, "\n"));
}

const found = mistakes(dashboard);
if (found.length > 0) {
  console.error(`docs/grafana/plimsoll.json is not what Grafana reads:\n${found.join("\n")}`);
  process.exit(1);
}

// A check that finds nothing proves nothing: each of these must be found.
const first = (kind) => (copy) => copy.panels.find((panel) => panel.type === kind);
const wrongs = {
  "a key that a dashboard does not have": (copy) => (copy.refreshing = "5s"),
  "a version in words": (copy) => (copy.schemaVersion = "39"),
  "a place without a width": (copy) => delete first("stat")(copy).gridPos.w,
  "an option that a stat does not have": (copy) => (first("stat")(copy).options.colourMode = "none"),
  "a value that an option does not have": (copy) => (first("timeseries")(copy).options.tooltip = { mode: "all", sort: "none" }),
  "a line of no width": (copy) => (first("timeseries")(copy).fieldConfig.defaults.custom = { lineWidth: "none" }),
};
for (const [what, change] of Object.entries(wrongs)) {
  const copy = structuredClone(dashboard);
  change(copy);
  if (mistakes(copy).length === 0) {
    console.error(`${what} is not found`);
    process.exit(1);
  }
}
