import { defineConfig } from "@playwright/test";
import { join } from "node:path";
import shared from "./playwright.config";
import { target } from "./tests/places";

// No test: measures the results that the tests of the pages open. `npm run results`, see tests/results/README.md.
export default defineConfig({
  ...shared,
  testDir: "tests/results",
  testMatch: "make.ts",
  globalSetup: undefined,
  outputDir: join(target, "playwright-results"),
  timeout: 1_200_000,
});
