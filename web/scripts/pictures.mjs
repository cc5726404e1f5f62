// Takes the pictures of pages in docs/img from the results in docs/results, as the program draws them now: `./x docs --pictures`.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

/** A picture, its result, and how far down its page the picture goes, in CSS pixels. */
const PICTURES = [
  ["page", "quickstart-1", 1500],
  ["study-versions", "versions-1", 1500],
  ["study-which-settings", "which-settings-1", 1500],
  ["study-failover", "failover-1", 1500],
];

// npm starts it in `web/`.
const docs = resolve("../docs");
const program = resolve("..", process.env["PLIMSOLL_PROGRAM"]);
const executablePath = process.env["PLIMSOLL_CHROMIUM"];
const work = mkdtempSync(join(tmpdir(), "plimsoll-pictures-"));
const browser = await chromium.launch({ executablePath, args: ["--disable-gpu"] });
try {
  for (const [picture, result, height] of PICTURES) {
    const drawn = join(work, `${result}.html`);
    // Its exit code is the answer of the experiment; what went wrong it says itself.
    spawnSync(program, ["report", join(docs, "results", `${result}.plimsoll`), "--page", drawn], { stdio: ["ignore", "ignore", "inherit"] });
    const page = await browser.newPage({ viewport: { width: 1200, height }, locale: "en-GB", timezoneId: "UTC" });
    await page.goto(pathToFileURL(drawn).href);
    await page.screenshot({ path: join(docs, "img", `${picture}.png`), animations: "disabled" });
    await page.close();
    console.log(`docs/img/${picture}.png: ${result}`);
  }
} finally {
  await browser.close();
  rmSync(work, { recursive: true, force: true });
}
