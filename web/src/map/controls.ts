// The player's buttons, texts and list of files.
import { bytes, count, several } from "./words";
import type { DiskMap } from "./unpack";

/** An element with its class, and its text where it has nothing but that. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  className = "",
  text?: string,
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  if (className !== "") made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

/** How fast it plays: time of the trace per time of the reader. */
export const SPEEDS = [0.0001, 0.001, 0.01, 0.1, 1, 10, 100, 1000];

export interface Controls {
  root: HTMLElement;
  stage: HTMLElement;
  layers: { ground: HTMLCanvasElement; heat: HTMLCanvasElement; marks: HTMLCanvasElement };
  tip: HTMLElement;
  play: HTMLButtonElement;
  steps: { access: [HTMLButtonElement, HTMLButtonElement]; operation: [HTMLButtonElement, HTMLButtonElement] };
  scrub: HTMLInputElement;
  speed: HTMLSelectElement;
  moments: HTMLSelectElement;
  all: HTMLInputElement;
  files: HTMLInputElement[];
  now: HTMLElement;
  what: HTMLElement;
  link: HTMLAnchorElement;
  scale: HTMLElement;
}

function button(text: string, label: string): HTMLButtonElement {
  const made = element("button", "", text);
  made.type = "button";
  made.title = label;
  made.setAttribute("aria-label", label);
  return made;
}

function labelled<Kind extends HTMLElement>(text: string, control: Kind): HTMLLabelElement {
  const label = element("label");
  label.append(element("span", "", text), control);
  return label;
}

/** Makes all of it, without any picture yet. `name` tells which run it is. */
export function controls(map: DiskMap, names: string[], name: string): Controls {
  const root = element("div", "player");
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", `Disk map of ${name}`);

  const stage = element("div", "stage");
  const layers = { ground: element("canvas"), heat: element("canvas"), marks: element("canvas") };
  layers.ground.setAttribute("role", "img");
  layers.ground.tabIndex = 0;
  for (const layer of [layers.heat, layers.marks]) layer.setAttribute("aria-hidden", "true");
  const tip = element("div", "tip");
  tip.hidden = true;
  stage.append(layers.ground, layers.heat, layers.marks, tip);

  const play = button("Play", "Play, or pause (space)");
  play.className = "play";
  const access: [HTMLButtonElement, HTMLButtonElement] = [
    button("‹", "One access back (arrow left)"),
    button("›", "One access on (arrow right)"),
  ];
  const operation: [HTMLButtonElement, HTMLButtonElement] = [
    button("‹", "One operation back (shift and arrow left)"),
    button("›", "One operation on (shift and arrow right)"),
  ];
  const scrub = element("input", "scrub");
  scrub.type = "range";
  scrub.min = "0";
  scrub.setAttribute("aria-label", "Moment");

  const speed = element("select");
  for (const factor of SPEEDS) {
    const words = factor < 1 ? `${Math.round(1 / factor)} times slower` : factor === 1 ? "as it was" : `${factor} times faster`;
    const option = element("option", "", words);
    option.value = String(factor);
    speed.append(option);
  }
  const moments = element("select");
  moments.append(element("option", "", "…"));
  for (const [index, moment] of map.head.moments.entries()) {
    const option = element("option", "", moment.label);
    option.value = String(index);
    moments.append(option);
  }
  const all = element("input");
  all.type = "checkbox";

  const bar = element("div", "bar");
  const group = (title: string, buttons: HTMLButtonElement[]): HTMLElement => {
    const span = element("span", "step");
    const [back, on] = buttons;
    if (back !== undefined && on !== undefined) span.append(back, element("span", "", title), on);
    return span;
  };
  bar.append(play, group("access", access));
  if (map.head.operations !== undefined) bar.append(group("operation", operation));
  bar.append(labelled("Speed", speed));
  if (map.head.moments.length > 1) bar.append(labelled("Go to", moments));
  const whole = labelled("Heat of the whole run", all);
  whole.className = "check";
  bar.append(whole);

  const now = element("p", "now");
  const what = element("p", "what");
  what.setAttribute("aria-live", "polite");
  const link = element("a", "", "Link to this moment");

  const side = element("div", "side");
  const { list, files } = fileList(map, names);
  const scale = element("p", "remark");
  side.append(scrub, bar, now, what, link, list, legend(), scale, element("p", "remark", KEYS));
  for (const words of leftOutInWords(map)) side.append(element("p", "remark", words));
  root.append(stage, side);
  return {
    root, stage, layers, tip, play, steps: { access, operation }, scrub, speed, moments, all, files, now, what, link, scale,
  };
}

const KEYS =
  "With the picture focused: space plays, arrows go by access, shift and arrows by operation, home and end to the ends, H shows the heat of the whole run.";

/** Which files are shown, and what each is. */
function fileList(map: DiskMap, names: string[]): { list: HTMLElement; files: HTMLInputElement[] } {
  const list = element("fieldset", "files");
  list.append(element("legend", "", "Files"));
  const files = map.head.files.map((file, index) => {
    const check = element("input");
    check.type = "checkbox";
    check.checked = true;
    const label = element("label");
    label.title = file.path;
    const text = element("span", "", names[index]);
    const about = `${file.kind === "other" ? "" : `${file.kind}, `}${bytes(file.size)}, ${several(file.reads, "read")}, ${several(file.writes, "write")}`;
    text.append(element("small", "", about));
    label.append(check, text);
    list.append(label);
    return check;
  });
  return { list, files };
}

/** What is not played. */
function leftOutInWords(map: DiskMap): string[] {
  const { before, after, files, elsewhere, overwritten } = map.head.left_out;
  const words: string[] = [];
  if (before + after > 0) {
    const parts = [...(before > 0 ? [`${count(before)} earlier`] : []), ...(after > 0 ? [`${count(after)} later`] : [])];
    words.push(`${parts.join(" and ")} accesses found no room on this page: plimsoll disk map draws them.`);
  }
  if (overwritten > 0) words.push(`The trace had no room for the first ${several(overwritten, "request")}.`);
  const others = [
    ...(files > 0 ? [several(files, "more file, less used", "more files, less used")] : []),
    ...(elsewhere > 0 ? [several(elsewhere, "request to no known file, such as the filesystem's own", "requests to no known file, such as the filesystem's own")] : []),
  ];
  if (others.length > 0) words.push(`Not shown: ${others.join("; ")}.`);
  return words;
}

function legend(): HTMLElement {
  const list = element("ul", "legend");
  for (const [kind, text] of [
    ["read", "read: filled"],
    ["write", "written: outlined, its heat dotted"],
  ] as const) {
    const item = element("li");
    item.append(element("span", `swatch-${kind}`), element("span", "", text));
    list.append(item);
  }
  return list;
}
