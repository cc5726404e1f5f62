// How long a page takes to open in a headless Chromium, from the file to the first picture and to the end of loading:
//
//   cargo run --release -p plimsoll-page --example page -- page.html 10 50 2 8 60
//   cd web && node bench/open.mjs ../page.html
import { chromium } from "@playwright/test";
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const TIMES = 11;
const executablePath = process.env["PLIMSOLL_CHROMIUM"] ?? "/usr/bin/chromium";
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
const file = resolve(process.argv[2] ?? "page.html");
const found = [];
for (let time = 0; time < TIMES; time += 1) {
  // A context of its own, so that nothing is kept from the time before.
  const context = await browser.newContext({ viewport: { width: 1280, height: 1000 } });
  const page = await context.newPage();
  await page.goto(pathToFileURL(file).href);
  await page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint").length > 0);
  found.push(
    await page.evaluate(() => ({
      painted: performance.getEntriesByName("first-contentful-paint")[0].startTime,
      loaded: performance.getEntriesByType("navigation")[0].loadEventEnd,
    })),
  );
  await context.close();
}
await browser.close();

/** Median and the worst, in seconds. */
function spelled(what) {
  const times = found.map((one) => one[what] / 1e3).sort((a, b) => a - b);
  return `${times[(times.length - 1) / 2].toFixed(2)} s (at most ${times.at(-1).toFixed(2)} s)`;
}
console.log(`${(statSync(file).size / 1e6).toFixed(2)} MB, ${TIMES} times: first picture after ${spelled("painted")}, loaded after ${spelled("loaded")}`);
