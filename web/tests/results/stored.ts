// Results that were measured once, and how they are read and written. README.md says how they are made again.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import type { Laboratory } from "../laboratory";

// Playwright is always started in `web/`.
const folder = resolve("tests", "results");
const packed = join(folder, "store.db.gz");

const storeOf = (laboratory: Laboratory) => join(laboratory.folder, "data", "plimsoll", "plimsoll.db");

/** Where the bundle of an experiment is. */
export const bundleOf = (name: string): string => join(folder, `${name}.plimsoll`);

/** Gives a laboratory that has no store the stored one. */
export function unpackInto(laboratory: Laboratory): void {
  const store = storeOf(laboratory);
  mkdirSync(dirname(store), { recursive: true, mode: 0o700 });
  writeFileSync(store, gunzipSync(readFileSync(packed)), { mode: 0o600 });
}

/** Keeps the store of a laboratory in which nothing runs any more. */
export function keepStore(laboratory: Laboratory): void {
  const store = storeOf(laboratory);
  // SQLite takes its log away when the last program closes the file; until then a part of the results is in the log.
  if (existsSync(`${store}-wal`)) throw new Error(`${store} is still open`);
  writeFileSync(packed, gzipSync(readFileSync(store), { level: 9 }));
}

/** Keeps the bundle of the newest experiment of this name. */
export async function keepBundle(laboratory: Laboratory, name: string): Promise<void> {
  rmSync(bundleOf(name), { force: true });
  await laboratory.run(["bundle", name, "--to", bundleOf(name)]);
}
