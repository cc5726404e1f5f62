// The documentation site as a reader meets it: every link leads somewhere, every page fits and keeps nobody out.
import { existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, test } from "@playwright/test";
import { grave, tooWide } from "../tests/checks";
import { look, LOOKS } from "../tests/looks";
import { screenshots, target } from "../tests/places";

const site = join(target, "docs");
const start = pathToFileURL(join(site, "index.html")).href;
/** One page of each kind, looked at on a wide screen in both schemes: text and figures, long tables, code, a tutorial. */
const KINDS = ["index.html", "docs/methods.html", "docs/experiment-file.html", "docs/command-line.html", "docs/tutorials/first-verdict.html"];
/** All pages are too many for one browser while the other has nothing to do. */
const PARTS = 4;

const name = (address: string) => relative(site, fileURLToPath(address.replace(/[?#].*$/, "")));

/** All pages of the book, by the links of its list of chapters. */
function chapters(): string[] {
  const text = readFileSync(join(site, "toc.html"), "utf8");
  return [...new Set([...text.matchAll(/href="([^"#]+\.html)"/g)].map((found) => found[1] ?? ""))];
}

test.beforeAll(() => {
  if (!existsSync(join(site, "toc.html"))) throw new Error(`there is no site in ${site}: ./x docs`);
  expect(chapters().length, "chapters").toBeGreaterThan(30);
  mkdirSync(screenshots, { recursive: true });
});

test("every link and every picture of every page leads somewhere", async ({ page }) => {
  const asked = new Map<string, { links: string[]; ids: Set<string> }>();
  const queue = [start];
  const lost: string[] = [];
  for (let address = queue.shift(); address; address = queue.shift()) {
    if (asked.has(address)) continue;
    await page.goto(address);
    const found = await page.evaluate(() => ({
      links: Array.from(document.querySelectorAll<HTMLAnchorElement>("a[href]"), (link) => link.href),
      pictures: Array.from(document.querySelectorAll<HTMLImageElement>("img"), (image) => [image.src, image.complete && image.naturalWidth > 0, image.alt] as const),
      ids: Array.from(document.querySelectorAll("[id]"), (element) => element.id),
    }));
    asked.set(address, { links: found.links, ids: new Set(found.ids) });
    for (const [source, drawn, words] of found.pictures) {
      if (!drawn) lost.push(`${name(address)}: picture ${source}`);
      if (!words) lost.push(`${name(address)}: picture ${source} has no words`);
    }
    for (const link of found.links) {
      if (!link.startsWith("file:")) continue;
      const bare = link.replace(/[?#].*$/, "");
      const path = fileURLToPath(bare);
      if (!existsSync(path) || statSync(path).isDirectory()) lost.push(`${name(address)}: ${relative(site, path)}`);
      else if (bare.endsWith(".html") && !asked.has(bare)) queue.push(bare);
    }
  }
  for (const [address, { links }] of asked) {
    for (const link of links) {
      const [bare, id] = link.split("#");
      const there = asked.get(bare ?? "");
      if (id && there && !there.ids.has(decodeURIComponent(id))) lost.push(`${name(address)}: ${name(link)}#${id}`);
    }
  }
  expect(lost).toEqual([]);
  expect(chapters().filter((chapter) => !asked.has(pathToFileURL(join(site, chapter)).href))).toEqual([]);
});

for (let part = 0; part < PARTS; part += 1) {
  test(`every page fits a phone and keeps nobody out, part ${part + 1} of ${PARTS}`, async ({ page }) => {
    const phone = LOOKS.find(({ width }) => width < 400);
    if (!phone) throw new Error("there is no narrow look");
    await look(page, phone);
    const found: string[] = [];
    for (const chapter of chapters().filter((_, index) => index % PARTS === part)) {
      await page.goto(pathToFileURL(join(site, chapter)).href);
      for (const what of [...(await tooWide(page)), ...(await grave(page))]) found.push(`${chapter}: ${what}`);
    }
    expect(found).toEqual([]);
  });
}

for (const kind of KINDS) {
  for (const at of LOOKS.filter(({ width }) => width > 400)) {
    test(`${kind} keeps nobody out, ${at.name}`, async ({ page }) => {
      await look(page, at);
      await page.goto(pathToFileURL(join(site, kind)).href);
      await expect(page.locator("main h1")).toHaveCount(1);
      await expect(page.locator("main p").first()).toBeVisible();
      await page.screenshot({ path: join(screenshots, `site-${kind.replace(/\W+/g, "-")}-${at.name}.png`) });
      expect(await grave(page)).toEqual([]);
    });
  }
}

test("a word is found", async ({ page }) => {
  await page.goto(start);
  await page.keyboard.press("s");
  await page.locator("#mdbook-searchbar").pressSequentially("duets");
  await expect(page.locator("#mdbook-searchresults a").first()).toBeVisible();
});
