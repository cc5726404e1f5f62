// The disk map: played, scrubbed, stepped through by access and by operation, with the pointer and with keys.
import type { Page } from "@playwright/test";
import { expect, test } from "./frame";

/** The page with the map in view, and its player there. */
async function open(page: Page, address: string): Promise<void> {
  await page.goto(address);
  await page.locator("section#map").scrollIntoViewIfNeeded();
  await expect(page.locator(".player").first()).toBeVisible();
}

/** Accesses up to the moment that is shown. */
async function done(page: Page): Promise<number> {
  const words = (await page.locator(".player .now").first().textContent()) ?? "";
  const found = / · ([\d\u202f]+) of /.exec(words);
  return Number((found?.[1] ?? "").replaceAll("\u202f", ""));
}

test("a still and its numbers are there without scripts", async ({ browser, pageFile }) => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(pageFile("traced"));
  await expect(page.locator("section#map svg.still").first()).toBeVisible();
  await page.locator("section#map summary").first().click();
  await expect(page.locator("section#map table.data").first()).toContainText("collection");
  await context.close();
});

test("it plays until it is paused, and is scrubbed", async ({ page, pageFile }) => {
  await open(page, pageFile("traced"));
  await page.getByLabel("Moment").first().press("Home");
  const before = await done(page);
  await page.locator(".player .play").first().click();
  await expect.poll(() => done(page)).toBeGreaterThan(before);
  await page.locator(".player .play").first().click();
  await expect(page.locator(".player .play").first()).toHaveText("Play");
  const paused = await done(page);
  await page.waitForTimeout(300);
  expect(await done(page)).toBe(paused);

  await page.getByLabel("Moment").first().press("End");
  await expect(page.locator(".player .now").first()).toContainText(/ · ([\d\u202f]+) of \1 access/);
  await expect(page.locator("section#map svg.still").first()).toBeHidden();
});

test("keys step through it", async ({ page, pageFile }) => {
  await open(page, pageFile("traced"));
  const picture = page.locator(".stage canvas").first();
  await picture.focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowRight");
  const first = await done(page);
  await page.keyboard.press("ArrowRight");
  expect(await done(page)).toBe(first + 1);
  await expect(page.locator(".player .what").first()).toContainText(/^(Read|Write) of .* at .* of /);
  await page.keyboard.press("ArrowLeft");
  expect(await done(page)).toBe(first);
  await page.keyboard.press("h");
  await expect(page.getByLabel("Heat of the whole run").first()).toBeChecked();
});

test("operations are stepped through where they were noted", async ({ page, pageFile }) => {
  await open(page, pageFile("traced"));
  const on = page.getByRole("button", { name: /One operation on/ }).first();
  await on.click();
  const what = page.locator(".player .what").first();
  await expect(what).toContainText(/^Operation 1 of /);
  await on.click();
  await expect(what).toContainText(/^Operation 2 of /);
  await page.locator(".stage canvas").first().focus();
  await page.keyboard.press("Shift+ArrowLeft");
  await expect(what).toContainText(/^Operation 1 of /);
});

test("a link leads to its moment", async ({ page, pageFile }) => {
  await open(page, pageFile("traced"));
  await page.getByLabel("Moment").first().press("End");
  await page.getByRole("button", { name: /One access back/ }).first().click();
  const [there, href] = [await done(page), await page.locator(".player a").first().getAttribute("href")];
  expect(href).toMatch(/^#map:xfs\/\d+\/\d+\.\d{9}$/);
  await page.goto("about:blank");
  await page.goto(pageFile("traced") + href);
  await expect.poll(() => done(page)).toBe(there);
});

test("files are chosen, and places told under the pointer", async ({ page, pageFile }) => {
  await open(page, pageFile("traced"));
  await page.getByLabel("Moment").first().press("End");
  const stage = page.locator(".stage").first();
  const files = page.locator(".player .files input");
  for (let index = (await files.count()) - 1; index > 0; index--) await files.nth(index).uncheck();
  await stage.hover({ position: { x: 200, y: 120 } });
  await expect(page.locator(".tip").first()).toContainText(/so far/);
  await expect(page.locator(".stage canvas").first()).toHaveAttribute("aria-label", /^1 file laid out/);
});

test("with reduced motion it goes on step by step", async ({ page, pageFile }) => {
  await page.emulateMedia({ reducedMotion: "reduce" });
  await open(page, pageFile("traced"));
  await page.locator(".player .play").first().click();
  await expect(page.locator(".player .what").first()).toContainText(/^Operation 1 of /);
  await expect(page.locator(".player .what").first()).toContainText(/^Operation 2 of /);
});
