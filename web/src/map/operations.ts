// Which accesses belong to which operation, and that in words.
import { bytes, count, duration, several } from "./words";
import { IS_WRITE, SECTOR_BYTES, type DiskMap, type Operations } from "./unpack";

/** A path without what it shares with the others: its last part, if that is its own. */
export function shortNames(paths: string[]): string[] {
  const last = paths.map((path) => path.slice(path.lastIndexOf("/") + 1));
  return last.map((name, index) => {
    const isOwn = last.indexOf(name) === index && last.lastIndexOf(name) === index;
    return isOwn ? name : (paths[index] ?? name);
  });
}

/** The operation during which an access was made, where that is certain: with one session. */
export function operationOf(operations: Operations, access: number): number | undefined {
  if (operations.sessions !== 1) return undefined;
  const candidate = lastUpTo(operations.first, access);
  // Those without any access share their place with the next one that has some.
  for (let index = candidate; index >= 0 && operations.first[index] === operations.first[candidate]; index--) {
    const first = operations.first[index]!;
    if (access >= first && access < first + operations.count[index]!) return index;
  }
  return undefined;
}

/** The last operation that had begun at that tick; -1 before the first. */
export function begunBy(operations: Operations, tick: number): number {
  return lastUpTo(operations.begin, tick);
}

/** What the accesses from `first` on were, in all and by file: `3 reads, 44 KiB: index 1, collection 2`. */
export function accessesInWords(map: DiskMap, names: string[], first: number, number: number): string {
  if (number === 0) return "no access to these files";
  let reads = 0;
  let sectors = 0;
  const byFile = new Map<number, number>();
  for (let index = first; index < first + number; index++) {
    const byte = map.file[index]!;
    const file = byte & ~IS_WRITE;
    if (byte === file) reads++;
    sectors += map.length[index]!;
    byFile.set(file, (byFile.get(file) ?? 0) + 1);
  }
  const kinds = [
    ...(reads > 0 ? [several(reads, "read")] : []),
    ...(reads < number ? [several(number - reads, "write")] : []),
  ];
  // In the order in which they were first accessed.
  const files = [...byFile].map(([file, times]) => `${names[file] ?? "?"} ${count(times)}`);
  return `${kinds.join(" and ")}, ${bytes(sectors * SECTOR_BYTES)}: ${files.join(", ")}`;
}

/** An operation as the player tells it: `Operation 12 of 100: read in 7.31 ms, 3 reads, 44 KiB: index 1, collection 2`. */
export function operationInWords(map: DiskMap, operations: Operations, names: string[], index: number): string {
  const of = operations.point[index]!;
  const first = operations.point.indexOf(of);
  const inPoint = operations.point.lastIndexOf(of) - first + 1;
  const point = operations.points.length > 1 ? `, ${operations.points[of] ?? ""}` : "";
  const took = duration((operations.end[index]! - operations.begin[index]!) * map.head.tick_ns);
  const what = accessesInWords(map, names, operations.first[index]!, operations.count[index]!);
  const shared = operations.sessions > 1 ? " (made while it was under way; others were as well)" : "";
  const number = operations.number[index]! + 1;
  return `Operation ${count(number)} of ${count(inPoint)}${point}: ${operations.kind[index] ?? ""} in ${took}, ${what}${shared}`;
}

/** The place of the last number in an ascending column that is at most `value`; -1 where there is none. */
function lastUpTo(ascending: number[], value: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ascending[middle]! <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
