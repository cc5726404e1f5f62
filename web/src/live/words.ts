// Numbers and sentences for people.
import type { State } from "./state";

const THIN = "\u202f";

/** Three digits, groups apart: 203 456, 12.3. */
export function number(value: number, digits = 3): string {
  if (!Number.isFinite(value)) return "–";
  const whole = Math.abs(value) >= 10 ** (digits - 1);
  const text = whole ? Math.round(value).toFixed(0) : Number(value.toPrecision(digits)).toString();
  const [integer = "", fraction] = text.split(".");
  const grouped = integer.length > 4 ? integer.replace(/\B(?=(\d{3})+$)/g, THIN) : integer;
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/** 203k, 1.25M. */
export function compact(value: number): string {
  for (const [size, letter] of [
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
  ] as const) {
    if (Math.abs(value) >= size) return `${Number((value / size).toPrecision(3))}${letter}`;
  }
  return `${Number(value.toPrecision(3))}`;
}

/** Nanoseconds with their unit: 48.1 µs. */
export function latency(nanos: number): string {
  if (nanos === 0) return "0";
  for (const [size, unit] of [
    [1e9, "s"],
    [1e6, "ms"],
    [1e3, "µs"],
  ] as const) {
    if (nanos >= size) return `${Number((nanos / size).toPrecision(3))}${THIN}${unit}`;
  }
  return `${Number(nanos.toPrecision(3))}${THIN}ns`;
}

/** Time of day at this place: 14:03:09. */
export function timeOfDay(seconds: number): string {
  return new Date(seconds * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
}

/** 45 s, 2 min 10 s, 1 h 5 min. */
export function span(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole}${THIN}s`;
  if (whole < 600) return `${Math.floor(whole / 60)}${THIN}min ${whole % 60}${THIN}s`;
  if (whole < 3600) return `${Math.round(whole / 60)}${THIN}min`;
  return `${Math.floor(whole / 3600)}${THIN}h ${Math.floor((whole % 3600) / 60)}${THIN}min`;
}

/** What is going on, in one line. */
export function nowWords(state: State): string {
  const { now } = state;
  const runs = `${state.runsFinished} of ${state.runsPlanned} runs finished`;
  const failed = state.runsFailed > 0 ? `, ${state.runsFailed} failed` : "";
  if (!now) return `${runs}${failed}. Between two runs.`;
  const parts = [`Run ${now.run} of ${state.runsPlanned}`, `block ${now.block}`, state.arms[now.arm] ?? ""];
  if (now.mix !== "" && now.phase !== "load") parts.push(now.mix, now.load);
  const so = now.seconds > 0 ? `${Math.floor(now.second)} of ${Math.round(now.seconds)}${THIN}s` : span(now.second);
  parts.push(now.second > 0 || now.seconds > 0 ? `${doing(now.phase)}, ${so}` : doing(now.phase));
  if (now.rate !== null) parts.push(`${number(now.rate, 4)} op/s`);
  if (now.p99_ns !== null) parts.push(`p99 ${latency(now.p99_ns)}`);
  if (now.errors > 0) parts.push(`${number(now.errors)} errors`);
  return parts.join(" · ");
}

function doing(phase: string): string {
  const words: Record<string, string> = {
    prepare: "preparing",
    load: "storing the data",
    "warm up": "warming up",
    measure: "measuring",
    "tear down": "taking down",
  };
  return words[phase] ?? phase;
}

/** How long it will take. */
export function leftWords(state: State): string {
  if (state.leftSeconds === null) return "";
  return `about ${span(state.leftSeconds)} left`;
}

/** For a screen reader: what is going on, and the figures that change all the time. */
export function spokenWords(state: State): [string, string] {
  const { now } = state;
  const runs = `${state.runsFinished} of ${state.runsPlanned} runs finished. `;
  if (!now) return [runs, ""];
  const point = now.mix !== "" && now.phase !== "load" ? `, ${now.mix} at ${now.load}` : "";
  const what = `${runs}Block ${now.block}, ${state.arms[now.arm] ?? ""}${point}: ${doing(now.phase)}. `;
  const rate = now.rate === null ? "" : `${number(now.rate)} operations per second. `;
  return [what, `${rate}${leftWords(state)}`];
}
