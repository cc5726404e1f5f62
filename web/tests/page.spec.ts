// The page of one experiment: its charts, and what they answer to pointer and keys.
import { readFileSync } from "node:fs";
import type { Locator, Page } from "@playwright/test";
import { expect, test } from "./frame";

/** Charts that share a cursor with the first one of the section. */
function together(page: Page, group: string): Locator {
  return page.locator(`svg[data-cursor="${group}"]`);
}

const sheet = (page: Page): Locator => page.locator(".values");

/** Where the cursor of each chart stands, as a share of the width of its axis. */
async function cursors(charts: Locator): Promise<number[]> {
  return charts.evaluateAll((drawings) =>
    drawings.map((drawing) => {
      const [left = 0, right = 1] = (drawing.getAttribute("data-plot") ?? "").split(" ").map(Number);
      const line = drawing.querySelector(".cursor-line");
      return line === null ? -1 : (Number(line.getAttribute("x1")) - left) / (right - left);
    }),
  );
}

async function point(page: Page, chart: Locator, share: number): Promise<void> {
  await chart.scrollIntoViewIfNeeded();
  const box = await chart.boundingBox();
  if (box === null) throw new Error("the chart is not shown");
  await page.mouse.move(box.x + box.width * share, box.y + box.height / 2);
}

test("a grid opens with its figure, its matrix and its effects", async ({ page, pageFile }) => {
  await page.goto(pageFile("grid"));
  const factors = page.locator("section#factors");
  // The first section, right below the answer.
  expect(await page.locator("main section[id]").first().getAttribute("id")).toBe("factors");
  expect(await page.locator(".card").count()).toBe(0);
  const figures = factors.locator("svg.chart");
  expect(await figures.count()).toBe(2);
  await expect(figures.first().locator("path.mark")).toHaveCount(5);
  const cells = factors.locator("table.cells tbody td");
  await expect(cells).toHaveCount(6);
  await expect(cells.filter({ hasText: "left out" })).toHaveCount(1);
  // Two simple effects, three main effects, one interaction of what is there.
  await expect(factors.locator("table.effects").last().locator("tbody tr:not(.mix)")).toHaveCount(6);
  // The cursor of one figure is that of its neighbour.
  await point(page, figures.first(), 0.9);
  const group = (await figures.first().getAttribute("data-cursor")) ?? "";
  const [one, other] = await cursors(together(page, group));
  expect(one).toBeGreaterThan(0.5);
  expect(other).toBeCloseTo(one ?? 0, 2);
});

test("each host of each arm has a row", async ({ page, pageFile }) => {
  await page.goto(pageFile("hosts"));
  const table = page.getByRole("region", { name: "Table of the hosts" }).locator("table");
  const names = ["bench1", "controller", "bench2"];
  await expect(table.locator("tr:not(.mix) th[scope=row]")).toHaveText([...names, ...names]);
  for (const row of await table.locator("tbody tr:not(.mix)").all()) {
    // Role, throughput, processors of the load generator, lateness of the open loop.
    await expect(row.locator("td").nth(0)).toHaveText("load");
    for (const place of [1, 2, 3]) await expect(row.locator("td").nth(place)).toHaveText(/\d/);
  }
});

test("every chart of the first screen and below is there", async ({ page, pageFile }) => {
  await page.goto(pageFile("comparison"));
  for (const [section, least] of [["load", 4], ["percentiles", 1], ["time", 4]] as const) {
    const charts = page.locator(`section#${section} svg.chart`);
    expect(await charts.count(), section).toBeGreaterThanOrEqual(least);
    for (const chart of await charts.all()) {
      const words = (await chart.locator("title").first().textContent()) ?? "";
      expect(words.length).toBeGreaterThan(10);
      expect(((await chart.locator("desc").first().textContent()) ?? "").length).toBeGreaterThan(10);
    }
  }
  await expect(page.locator("section#load path.ideal")).not.toHaveCount(0);
  await expect(page.locator("section#time mask image")).not.toHaveCount(0);
});

test("one cursor moves over all charts of the same seconds", async ({ page, pageFile }) => {
  await page.goto(pageFile("comparison"));
  const charts = together(page, "time-0");
  expect(await charts.count()).toBeGreaterThanOrEqual(4);
  await point(page, charts.first(), 0.7);
  const at = await cursors(charts);
  expect(Math.max(...at) - Math.min(...at)).toBeLessThan(0.02);
  expect(at[0]).toBeGreaterThan(0.4);
  await expect(sheet(page)).toBeVisible();
  await expect(sheet(page)).toContainText("op/s");
  await point(page, charts.nth(1), 0.4);
  await expect(sheet(page)).toContainText("p99");
  expect((await cursors(charts))[0]).toBeLessThan(at[0] ?? 0);
  await page.mouse.move(2, 2);
  await expect(sheet(page)).toBeHidden();
  await expect(page.locator(".cursor-line")).toHaveCount(0);
});

test("a chart over the load tells medians and intervals", async ({ page, pageFile }) => {
  await page.goto(pageFile("comparison"));
  const chart = page.locator("section#load svg[data-cursor]").first();
  const told: string[] = [];
  for (const share of [0.05, 0.35, 0.65, 0.95]) {
    await point(page, chart, share);
    await expect(sheet(page).locator("strong")).toHaveText(/^\d+ threads?$/);
    await expect(sheet(page).locator("dd")).toHaveCount(2);
    told.push(...(await sheet(page).locator("dd").allTextContents()));
  }
  for (const words of told) expect(words).toContain("op/s");
  // A machine that stood still meanwhile leaves a point with fewer valid blocks, and then without an interval.
  expect(told.join("\n")).toMatch(/op\/s.*\d to /);
});

test("keys walk along a chart, across its group, and out", async ({ page, pageFile }) => {
  await page.goto(pageFile("comparison"));
  const charts = together(page, "time-0");
  // One stop of the tab key for all charts that move together.
  await expect(charts.and(page.locator('[tabindex="0"]'))).toHaveCount(1);
  await charts.first().focus();
  const said = (): Promise<string | null> => page.evaluate(() => document.activeElement?.getAttribute("aria-valuetext") ?? null);
  await page.keyboard.press("Home");
  const first = await said();
  await page.keyboard.press("ArrowRight");
  expect(await said()).not.toBe(first);
  await page.keyboard.press("ArrowLeft");
  expect(await said()).toBe(first);
  await page.keyboard.press("End");
  const last = await said();
  expect(last).toContain("op/s");
  expect(last).not.toBe(first);
  await page.keyboard.press("ArrowDown");
  expect(await said()).toContain("p99");
  const at = await cursors(charts);
  expect(Math.max(...at) - Math.min(...at)).toBeLessThan(0.02);
  await page.keyboard.press("Escape");
  await expect(sheet(page)).toBeHidden();
  await expect(page.locator(".cursor-line")).toHaveCount(0);
});

test("nothing moves when values are told", async ({ page, pageFile }) => {
  await page.goto(pageFile("comparison"));
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  const places = await page.locator("section[id]").evaluateAll((all) => all.map((one) => one.getBoundingClientRect().top + scrollY));
  await point(page, page.locator("svg[data-cursor]").first(), 0.6);
  await expect(sheet(page)).toBeVisible();
  expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBe(height);
  const after = await page.locator("section[id]").evaluateAll((all) => all.map((one) => one.getBoundingClientRect().top + scrollY));
  expect(after.map(Math.round)).toEqual(places.map(Math.round));
});

test("the values of the charts can be saved", async ({ page, pageFile }) => {
  await page.goto(pageFile("hostile"));
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: /charts\.csv/ }).click()]);
  expect(download.suggestedFilename()).toBe("charts.csv");
  const text = readFileSync(await download.path(), "utf8");
  expect(text).toMatch(/^chart,place,x,line,unit,value,low,high\n/);
  expect(text.split("\n").length).toBeGreaterThan(10);
  // Nothing that a spreadsheet would take for a formula begins a field.
  expect(text).not.toMatch(/(^|,|\n)"?[=+@]/);
});

test("the sections can be linked to, and the page of a stopped experiment says so", async ({ page, pageFile }) => {
  await page.goto(`${pageFile("unfinished")}#order`);
  await expect(page.locator("section#order")).toBeInViewport();
  await expect(page.locator(".unfinished")).toContainText("Incomplete");
});
