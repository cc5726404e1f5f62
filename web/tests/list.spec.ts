// The list of experiments, and what is reached from it.
import { join } from "node:path";
import { grave } from "./checks";
import { HOSTILE } from "./experiments";
import { expect, test } from "./frame";
import { look, LOOKS } from "./looks";
import { screenshots } from "./places";

const names = "table.experiments tbody tr:visible th > a";

test("it filters as one types, and keeps what was asked in the address", async ({ page, served, experiment }) => {
  await experiment("comparison");
  await page.goto(served);
  const all = await page.locator(names).count();
  expect(all).toBeGreaterThan(2);
  await page.getByRole("searchbox").fill("quarter");
  await expect(page.locator(names)).toHaveText(["comparison"]);
  await expect(page.locator("[data-count]")).toHaveText(`1 of ${all} experiments`);
  expect(page.url()).toContain("text=quarter");
  await page.getByRole("searchbox").fill("");
  await page.getByLabel("State").selectOption("interrupted");
  await expect(page.locator(names)).toHaveText(["unfinished"]);
  await page.reload();
  await expect(page.locator(names)).toHaveText(["unfinished"]);
});

test("it filters and compares without a script", async ({ browser, served, experiment }) => {
  await experiment("comparison");
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(served);
  await page.getByRole("searchbox").fill("quarter");
  await page.getByRole("button", { name: "Filter" }).click();
  await expect(page.locator(names)).toHaveText(["comparison"]);
  await page.getByLabel("quarter").check();
  await page.getByLabel("in-cache").check();
  await page.getByRole("button", { name: "Compare" }).click();
  await expect(page).toHaveURL(/\/compare\?first=.*&second=/);
  await expect(page.locator("table.comparisons tbody tr")).not.toHaveCount(0);
  await context.close();
});

test("two arms are chosen with the keyboard alone", async ({ page, served, experiment }) => {
  const id = await experiment("comparison");
  await page.goto(`${served}/?text=comparison`);
  const compare = page.getByRole("button", { name: "Compare" });
  await expect(compare).toBeDisabled();
  await page.getByLabel("in-cache").focus();
  await page.keyboard.press("Space");
  await expect(page.locator("[data-chosen]")).toContainText("Tick another one");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Space");
  await expect(page.locator("[data-chosen]")).toHaveText("in-cache (comparison) and quarter (comparison)");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(new RegExp(`first=${id}%3Ain-cache&second=${id}%3Aquarter`));
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await expect(page.locator(".forest")).not.toHaveCount(0);
  await page.getByRole("link", { name: "The other way round" }).click();
  await expect(page).toHaveURL(new RegExp(`first=${id}%3Aquarter`));
});

test("the declared baseline is compared with, whichever arm is ticked first", async ({ page, served, experiment }) => {
  const id = await experiment("comparison");
  await page.goto(`${served}/?text=comparison`);
  await page.getByLabel("quarter").check();
  await page.getByLabel("in-cache").check();
  await page.getByRole("button", { name: "Compare" }).click();
  await expect(page).toHaveURL(new RegExp(`first=${id}%3Ain-cache&second=${id}%3Aquarter`));
});

test("names from elsewhere are shown and not obeyed", async ({ page, served, experiment }) => {
  await experiment("hostile");
  await page.goto(served);
  const row = page.locator("table.experiments tbody tr").filter({ hasText: "alert" });
  await expect(row).toHaveCount(1);
  await row.locator("th > a").click();
  await expect(page.locator(".masthead")).toContainText("</script><script>alert");
  expect(await page.content()).not.toContain(HOSTILE.password);
  await page.goBack();
  await page.getByRole("searchbox").fill(HOSTILE.name);
  await expect(page.locator(names)).toHaveCount(1);
  await page.getByRole("link", { name: "History of" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
});

test("what a history follows is chosen in it", async ({ page, served, experiment }) => {
  await experiment("comparison");
  await page.goto(served);
  await page.getByRole("searchbox").fill("comparison");
  await page.getByRole("link", { name: "History of comparison" }).first().click();
  const asked = page.locator("p.lead").first();
  await expect(asked).toContainText("throughput of");
  const arms = page.getByRole("combobox", { name: "Arm" });
  const other = await arms.locator("option:not([selected])").first().getAttribute("value");
  await arms.selectOption(other);
  await page.getByRole("combobox", { name: "Metric" }).selectOption("response.p99");
  await page.getByRole("button", { name: "Show" }).click();
  await expect(asked).toContainText(`p99 response time of ${other}`);
  await expect(arms).toHaveValue(other ?? "");
  await page.locator("table.data th a").first().click();
  await expect(page.locator("table.arms").first()).toBeVisible();
});

test("what is not there leads back", async ({ page, served, trouble }) => {
  trouble.expected.push(/404/);
  await page.goto(`${served}/experiment/none`);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("There is no such experiment");
  await page.getByRole("link", { name: "All experiments" }).last().click();
  await expect(page.locator("table.experiments")).toBeVisible();
});

for (const at of LOOKS) {
  test(`list and comparison keep nobody out, ${at.name}`, async ({ page, served, experiment, trouble }) => {
    trouble.expected.push(/400/);
    const id = await experiment("comparison");
    await look(page, at);
    for (const [name, path] of [
      ["list", "/"],
      ["compare", `/compare?first=${id}:in-cache&second=${id}:quarter`],
      ["message", "/compare"],
    ] as const) {
      await page.goto(served + path);
      expect(await grave(page), name).toEqual([]);
      await page.screenshot({ path: join(screenshots, `${name}-${at.name}.png`), fullPage: true });
    }
  });
}
