import { defineConfig } from "@playwright/test";
import { join } from "node:path";
import { TOKEN } from "./tests/laboratory";
import { chromium, target } from "./tests/places";

// The pages as a reader meets them: made by the real program, opened in Debian's Chromium. `./x pages` runs them.
export default defineConfig({
  testDir: "tests",
  outputDir: join(target, "playwright"),
  globalSetup: "./tests/setup.ts",
  // One for each core of the machines that these tests usually run on.
  workers: 2,
  fullyParallel: true,
  // A test that passes at the second try has failed at the first.
  retries: 0,
  forbidOnly: true,
  reporter: "list",
  timeout: 180_000,
  expect: { timeout: 20_000 },
  use: {
    browserName: "chromium",
    // What is not there is named after this time, and not only when the whole test runs out of it.
    actionTimeout: 30_000,
    launchOptions: { executablePath: chromium, args: ["--disable-gpu"] },
    viewport: { width: 1280, height: 900 },
    locale: "en-GB",
    timezoneId: "UTC",
    extraHTTPHeaders: { authorization: `Bearer ${TOKEN}` },
  },
});
