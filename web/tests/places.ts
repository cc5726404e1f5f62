// Where the program, the browser and what tests leave for looking at are.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";

// Playwright is always started in `web/`.
const checkout = resolve("..");

/** Cargo's folder, in which everything is kept that tests make and leave. */
export const target = resolve(checkout, process.env["CARGO_TARGET_DIR"] ?? "target");

/** The program under test. */
export const program = resolve(checkout, process.env["PLIMSOLL_PROGRAM"] ?? join(target, "debug", "plimsoll"));

/** The browser: one that the system keeps up to date. */
export const chromium = process.env["PLIMSOLL_CHROMIUM"] ?? "/usr/bin/chromium";

/** Pictures of the pages, for looking at. */
export const screenshots = join(target, "screenshots");

/** A place in the environment through which the setup tells the tests where the pages are. */
export const FOLDER = "PLIMSOLL_PAGES_FOLDER";

/** Says what is missing for any test at all. */
export function missing(): string | undefined {
  if (!existsSync(program)) return `there is no program at ${program}: build it (cargo build), or name it in PLIMSOLL_PROGRAM`;
  if (!existsSync(chromium)) return `there is no browser at ${chromium}: install Chromium, or name one in PLIMSOLL_CHROMIUM`;
  return undefined;
}
