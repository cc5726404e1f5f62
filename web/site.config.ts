import { defineConfig } from "@playwright/test";
import { join } from "node:path";
import shared from "./playwright.config";
import { target } from "./tests/places";

// The documentation site, which `./x docs` has built. No experiment is made for it.
export default defineConfig({
  ...shared,
  testDir: "site",
  globalSetup: undefined,
  outputDir: join(target, "playwright-site"),
  timeout: 600_000,
});
