// What Rust packs is what the page reads: the same golden files hold `crates/trace/src/diskmap/it/packing.rs`.
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Readable, Writable } from "node:stream";
import { createInflateRaw } from "node:zlib";
import { cellBytes } from "../src/map/layout";
import { operationInWords, operationOf, shortNames } from "../src/map/operations";
import { IS_WRITE, SECTOR_BYTES, unpack, type Head } from "../src/map/unpack";
import { expect, test } from "@playwright/test";

// Playwright is always started in `web/`.
const folder = resolve("..", "crates", "trace", "tests", "golden");

interface Golden {
  head: Head;
  time_ns: number[];
  file: number[];
  offset: number[];
  length: number[];
  is_write: number[];
}

const packed = (): Uint8Array<ArrayBuffer> => new Uint8Array(readFileSync(join(folder, "finds.map")));

// These run in Node, which knows `deflate-raw` from 20.12 on, as browsers do since 2023; Debian 12 has Node 18.
test.beforeAll(() => {
  try {
    new DecompressionStream("deflate-raw");
  } catch {
    globalThis.DecompressionStream = function () {
      const inflated = createInflateRaw();
      return { readable: Readable.toWeb(inflated), writable: Writable.toWeb(inflated) };
    } as unknown as typeof DecompressionStream;
  }
});

test("packed accesses are read as they were written", async () => {
  const golden = JSON.parse(readFileSync(join(folder, "finds.json"), "utf8")) as Golden;
  const map = await unpack(packed());
  expect(map.head).toEqual(golden.head);
  const { tick_ns, begin_ns } = map.head;
  expect(Array.from(map.time, (tick) => begin_ns + tick * tick_ns)).toEqual(golden.time_ns);
  expect(Array.from(map.offset, (sectors) => sectors * SECTOR_BYTES)).toEqual(golden.offset);
  expect(Array.from(map.length, (sectors) => sectors * SECTOR_BYTES)).toEqual(golden.length);
  expect(Array.from(map.file, (byte) => byte & ~IS_WRITE)).toEqual(golden.file);
  expect(Array.from(map.file, (byte) => (byte & IS_WRITE) >> 7)).toEqual(golden.is_write);
  expect(cellBytes(map.head.files.map((file) => file.size), map.head.columns)).toBe(map.head.cell_bytes);
});

test("an access is told by its operation", async () => {
  const map = await unpack(packed());
  const operations = map.head.operations;
  if (operations === undefined) throw new Error("the golden file has operations");
  const found = Array.from(map.time, (_, index) => operationOf(operations, index));
  expect(found).toEqual([undefined, undefined, 0, 0, undefined, 1, 1]);
  const names = shortNames(map.head.files.map((file) => file.path));
  expect(operationInWords(map, operations, names, 1).replaceAll("\u202f", " ")).toBe(
    "Operation 2 of 2: read in 7.95 ms, 2 reads, 36.0 KiB: index.wt 1, collection.wt 1",
  );
  // With more sessions it is not certain, and is not claimed.
  expect(operationOf({ ...operations, sessions: 2 }, 2)).toBeUndefined();
});

test("what is damaged is refused in words", async () => {
  const whole = packed();
  await expect(unpack(whole.slice(0, 10))).rejects.toThrow("cut off");
  const other = whole.slice();
  other[0] = 0;
  await expect(unpack(other)).rejects.toThrow("no disk map");
  const later = whole.slice();
  later[8] = 2;
  await expect(unpack(later)).rejects.toThrow("another version");
});
