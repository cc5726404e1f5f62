// How many updates a second the live page shows of 16 arms whose slices come ten times a second. From `web/`, after
// `cargo build && cargo build -p plimsoll-serve --example feed`:
//
//     node scripts/live-rate.mjs
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { chromium } from "@playwright/test";

const target = resolve("..", process.env.CARGO_TARGET_DIR ?? "target", "debug");
const SECONDS = 20;
const folder = mkdtempSync(join(tmpdir(), "plimsoll-live-rate-"));
const store = join(folder, "plimsoll.db");

/** Starts a program and waits for the first line that it says. */
function start(program, words) {
  const child = spawn(program, words, { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, HOME: folder } });
  const line = new Promise((done, failed) => {
    child.on("error", failed);
    child.stdout.once("data", (text) => done(String(text).trim()));
  });
  return { child, line };
}

const feed = start(join(target, "examples", "feed"), [store, String(SECONDS + 20)]);
const id = await feed.line;
const serve = start((process.env.PLIMSOLL_PROGRAM ?? join(target, "plimsoll")), ["--store", store, "serve", "--listen", "0"]);
const printed = await serve.line;
const browser = await chromium.launch({ executablePath: process.env.PLIMSOLL_CHROMIUM ?? "/usr/bin/chromium", args: ["--disable-gpu"] });
try {
  const page = await browser.newPage();
  await page.goto(printed);
  await page.goto(new URL(`/experiment/${id}`, printed).href);
  await page.locator("[data-live-part=load-p99] canvas").waitFor();
  const told = await page.evaluate(async (seconds) => {
    const live = document.querySelector("[data-live]");
    const updates = () => Number(live.dataset.updates);
    let drawn = 0;
    let longest = 0;
    let last = performance.now();
    new MutationObserver(() => {
      drawn += 1;
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }).observe(live, { attributeFilter: ["data-updates"] });
    let busy = 0;
    new PerformanceObserver((list) => {
      for (const task of list.getEntries()) busy += task.duration;
    }).observe({ type: "longtask" });
    const [from, begin] = [updates(), performance.now()];
    await new Promise((done) => setTimeout(done, seconds * 1000));
    const took = (performance.now() - begin) / 1000;
    return { told: (updates() - from) / took, drawn: drawn / took, longest, busy: busy / took };
  }, SECONDS);
  const rows = await page.locator("table.run-grid tbody tr").count();
  console.log(
    `${rows} arms: ${told.told.toFixed(1)} updates a second told, ${told.drawn.toFixed(1)} drawn; longest pause ${told.longest.toFixed(0)} ms; ` +
      `tasks over 50 ms: ${told.busy.toFixed(0)} ms a second`,
  );
} finally {
  await browser.close();
  serve.child.kill();
  feed.child.kill();
  rmSync(folder, { recursive: true, force: true });
}
