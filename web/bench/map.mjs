// How many frames a second the disk map plays in a headless Chromium, and how long its parts take:
//
//   cargo run --release -p plimsoll-page --example page -- map.html map 1000000
//   cd web && node bench/map.mjs ../map.html
import { chromium } from "@playwright/test";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const SECONDS = 10;
const executablePath = process.env["PLIMSOLL_CHROMIUM"] ?? "/usr/bin/chromium";
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
const page = await browser.newPage({ viewport: { width: 1280, height: 1000 } });
await page.goto(pathToFileURL(resolve(process.argv[2] ?? "map.html")).href);
const begun = performance.now();
await page.locator("#map").scrollIntoViewIfNeeded();
await page.locator(".player .scrub").waitFor();
console.log(`ready ${((performance.now() - begun) / 1e3).toFixed(1)} s after it was scrolled to`);

/** Plays for some seconds and tells the frames, and the accesses that were drawn in them. */
async function plays(what, before) {
  await before();
  const from = await done();
  await page.locator(".play").click();
  const { frames, longest, seconds } = await page.evaluate(
    (seconds) =>
      new Promise((tell) => {
        const times = [];
        const frame = (now) => {
          times.push(now);
          if (now - times[0] < seconds * 1e3) requestAnimationFrame(frame);
          else tell({ frames: times.length - 1, seconds: (now - times[0]) / 1e3, longest: Math.max(...times.slice(1).map((time, index) => time - times[index])) });
        };
        requestAnimationFrame(frame);
      }),
    SECONDS,
  );
  const drawn = (await done()) - from;
  if ((await page.locator(".play").textContent()) === "Pause") await page.locator(".play").click();
  console.log(`${what}: ${(frames / seconds).toFixed(1)} frames a second, the longest took ${longest.toFixed(0)} ms; ${drawn} accesses in ${seconds.toFixed(1)} s`);
}

/** Accesses up to now. */
async function done() {
  const words = (await page.locator(".now").textContent()) ?? "";
  return Number((/ · ([\d\u202f]+) of/.exec(words)?.[1] ?? "0").replaceAll("\u202f", ""));
}

const speed = (value) => page.locator(".bar select").first().selectOption(value);
const chosen = await page.locator(".bar select").first().inputValue();
await plays(`at the speed that is chosen first (${chosen})`, async () => {});
await plays("ten times as fast", async () => {
  await page.getByLabel("Moment").focus();
  await page.keyboard.press("Home");
  await speed(String(Number(chosen) * 10));
});
const scrubbed = await page.evaluate(() => {
  const scrub = document.querySelector(".scrub");
  const times = [];
  for (const share of [0.9, 0.1, 0.5, 0.95, 0.45, 0.05, 1, 0]) {
    const begin = performance.now();
    scrub.value = String(Number(scrub.max) * share);
    scrub.dispatchEvent(new Event("input"));
    times.push(performance.now() - begin);
  }
  return times;
});
console.log(`scrubbed to eight far places: ${scrubbed.map((time) => time.toFixed(0)).join(", ")} ms`);
await browser.close();
