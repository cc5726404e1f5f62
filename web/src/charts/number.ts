// Numbers as the page spells them (`crates/quantities/src/numbers.rs`): digits that count, narrow spaces, a real minus.

const GAP = "\u202f";
const MINUS = "\u2212";

/** So many digits that count: 1.20, 48.1, 203 000. */
export function significant(value: number, digits: number): string {
  if (Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value < 0 ? `${MINUS}∞` : "∞";
  if (value === 0) return "0";
  if (Math.abs(value) < 1e-6 || Math.abs(value) >= 1e15) return value.toExponential(2).replaceAll("-", MINUS).replace("e+", "e");
  const rounded = Number(value.toPrecision(digits));
  const exponent = Math.floor(Math.log10(Math.abs(rounded)) + 1e-12);
  return fixed(rounded, Math.max(0, digits - 1 - exponent));
}

/** So many decimals, and groups of three digits. */
export function fixed(value: number, decimals: number): string {
  const [whole = "0", fraction] = Math.abs(value).toFixed(decimals).split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, GAP);
  const text = fraction === undefined ? grouped : `${grouped}.${fraction}`;
  return value < 0 && /[1-9]/.test(text) ? MINUS + text : text;
}

function latency(nanos: number): string {
  const rounded = Math.abs(Number(nanos.toPrecision(3)));
  const [unit, name] = rounded >= 1e9 ? [1e9, "s"] : rounded >= 1e6 ? [1e6, "ms"] : rounded >= 1e3 ? [1e3, "µs"] : [1, "ns"];
  return `${significant(nanos / (unit as number), 3)}${GAP}${name}`;
}

function bytes(value: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let size = value;
  let unit = 0;
  while (size >= 1024 && unit + 1 < units.length) {
    size /= 1024;
    unit += 1;
  }
  return `${Number.isInteger(size) ? fixed(size, 0) : significant(size, 3)}${GAP}${units[unit] ?? ""}`;
}

function percent(share: number): string {
  const value = share * 100;
  const size = Math.abs(value);
  if (size !== 0 && size < 0.0995) return `${significant(value, 1)}${GAP}%`;
  return `${fixed(value, size === 0 || size >= 99.95 ? 0 : 1)}${GAP}%`;
}

/** A value with its unit; what is not known is a dash. */
export function spelled(value: number | null | undefined, unit: string): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  switch (unit) {
    case "op/s":
      return `${significant(value, 4)}${GAP}op/s`;
    case "ns":
      return latency(value);
    case "B":
      return bytes(value);
    case "share":
      return percent(value);
    default: {
      const text = Number.isInteger(value) ? fixed(value, 0) : significant(value, 3);
      return unit === "" ? text : `${text}${GAP}${unit}`;
    }
  }
}
