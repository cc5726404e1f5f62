// Pages as files: they open from a disk, show what they have without scripts, and fit.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { tooWide } from "./checks";
import { HOSTILE } from "./experiments";
import { expect, test } from "./frame";
import { FILES, look, LOOKS } from "./looks";
import { screenshots } from "./places";

for (const key of FILES) {
  for (const at of LOOKS) {
    test(`${key} opens and fits, ${at.name}`, async ({ page, pageFile }) => {
      await look(page, at);
      await page.goto(pageFile(key));
      await expect(page.locator("h1")).toHaveCount(1);
      await page.screenshot({ path: join(screenshots, `${key}-${at.name}.png`), fullPage: true });
      expect(await tooWide(page), "what one has to scroll sideways for").toEqual([]);
    });
  }
}

test("charts are there without scripts", async ({ browser, pageFile }) => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(pageFile("comparison"));
  for (const id of ["arms", "load", "cost", "blocks", "time"]) {
    await expect(page.locator(`section#${id}`), id).toBeVisible();
  }
  await expect(page.locator("section#load svg").first()).toBeVisible();
  await page.locator("section#time summary").first().click();
  await expect(page.locator("section#time svg").first()).toBeVisible();
  await context.close();
});

test.describe("as a reader finds it", () => {
  test.use({ folds: "closed" });

  test("two arms fit into a few screens, and the first one has the answer", async ({ page, pageFile }) => {
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.goto(pageFile("comparison"));
    const height = await page.evaluate(() => document.documentElement.scrollHeight);
    expect(height).toBeLessThanOrEqual(6_000);
    for (const part of ["h1", ".card", ".validity h2"]) {
      const box = await page.locator(part).first().boundingBox();
      expect(box && box.y + box.height, part).toBeLessThanOrEqual(900);
    }
    // The arms are read without scrolling to the side, and their table stays in the column of the text.
    const [table, column] = [await page.locator("table.arms").boundingBox(), await page.locator("h1").boundingBox()];
    if (!table || !column) throw new Error("no table of the arms");
    expect(table.x).toBeGreaterThanOrEqual(column.x - 1);
    const main = await page.locator("main").evaluate((it) => it.clientWidth - 2 * Number.parseFloat(getComputedStyle(it).paddingLeft));
    expect(table.width).toBeLessThanOrEqual(main + 1);
    await page.screenshot({ path: join(screenshots, "comparison-folded.png"), fullPage: true });
  });

  test("a link opens the section that it leads to", async ({ page, pageFile }) => {
    await page.goto(pageFile("comparison"));
    const fold = page.locator("section#provenance > details");
    await expect(fold).not.toHaveAttribute("open", "");
    await page.locator('nav a[href="#provenance"]').click();
    await expect(fold).toHaveAttribute("open", "");
    await expect(page.locator("section#provenance h2")).toBeInViewport();
  });
});

test("every link within a page leads somewhere", async ({ page, pageFile }) => {
  for (const key of FILES) {
    await page.goto(pageFile(key));
    const lost = await page.evaluate(() => {
      const links = Array.from(document.querySelectorAll<HTMLAnchorElement>('a[href^="#"]'), (link) => link.getAttribute("href") ?? "");
      return links.filter((href) => !document.getElementById(decodeURIComponent(href.slice(1))));
    });
    expect(lost, key).toEqual([]);
  }
});

test("hostile names are text", async ({ page, pageFile, laboratory }) => {
  await page.goto(pageFile("hostile"));
  await expect(page).toHaveTitle(/<\/script><script>/);
  // What was turned around is not any more, and what was no markup did not become any.
  const text = (await page.locator("body").textContent()) ?? "";
  expect(text).toContain('<script>alert("arm")');
  expect(text).toContain("<b onmouseover=");
  expect(text).not.toContain("\u202e");
  await expect(page.locator("img")).toHaveCount(0);
  await expect(page.locator("b[onmouseover]")).toHaveCount(0);
  const source = readFileSync(laboratory.page("hostile"), "utf8");
  expect(source).not.toContain(HOSTILE.password);
  expect(source.match(/<script(?![^>]*application\/json)/g), "the page's own script and no other").toHaveLength(1);
});

test("a page that is printed loses nothing", async ({ page, pageFile }) => {
  await page.goto(pageFile("comparison"));
  await page.emulateMedia({ media: "print" });
  const shown = await page.evaluate(() => {
    const sections = Array.from(document.querySelectorAll<HTMLElement>("main section[id]"));
    return sections.filter((section) => section.offsetHeight === 0).map((section) => section.id);
  });
  expect(shown, "sections that are not printed").toEqual([]);
});
