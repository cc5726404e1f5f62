// Numbers as the page spells them.

const NARROW = "\u202f";

/** A whole number in groups of three digits. */
export function count(value: number): string {
  return value.toFixed(0).replace(/\B(?=(\d{3})+(?!\d))/g, NARROW);
}

/** One or several: `1 read`, `3 reads`. */
export function several(value: number, one: string, more = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : more}`;
}

/** Bytes in three digits that count. */
export function bytes(value: number): string {
  const units: [number, string][] = [
    [2 ** 30, "GiB"],
    [2 ** 20, "MiB"],
    [2 ** 10, "KiB"],
  ];
  for (const [unit, name] of units) {
    if (value >= unit) return `${significant(value / unit)}${NARROW}${name}`;
  }
  return `${count(value)}${NARROW}B`;
}

/** A duration in the unit that suits it. */
export function duration(nanoseconds: number): string {
  if (nanoseconds >= 1e9) return `${significant(nanoseconds / 1e9)}${NARROW}s`;
  if (nanoseconds >= 1e6) return `${significant(nanoseconds / 1e6)}${NARROW}ms`;
  return `${significant(nanoseconds / 1e3)}${NARROW}µs`;
}

/** A moment in seconds, to so many decimals. */
export function seconds(nanoseconds: number, decimals: number): string {
  const [whole = "0", fraction = ""] = (nanoseconds / 1e9).toFixed(decimals).split(".");
  const grouped = fraction.replace(/(\d{3})(?=\d)/g, `$1${NARROW}`);
  return `${count(Number(whole))}${grouped === "" ? "" : `.${grouped}`}${NARROW}s`;
}

function significant(value: number): string {
  const decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  const [whole = "0", fraction] = value.toFixed(decimals).split(".");
  return fraction === undefined ? count(Number(whole)) : `${count(Number(whole))}.${fraction}`;
}
