// What every page is held against, whoever made it.
import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";

/** Findings of axe that keep somebody out, in a line each. */
export async function grave(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  const found = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  return found.map(({ id, help, nodes }) => `${id}: ${help} (${nodes.length}): ${nodes.slice(0, 5).map(({ target }) => target.join(" ")).join(" | ")}`);
}

/** What reaches beyond the right edge, unless it scrolls by itself; nothing where the page does not scroll sideways. */
export function tooWide(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const root = document.documentElement;
    if (root.scrollWidth <= root.clientWidth) return [];
    const reaching = Array.from(document.querySelectorAll("body *")).filter((element) => element.getBoundingClientRect().right > root.clientWidth + 0.5);
    const scrolls = (element: Element): boolean => {
      for (let around: Element | null = element; around; around = around.parentElement) {
        if (getComputedStyle(around).overflowX !== "visible") return true;
      }
      return false;
    };
    const told = reaching.filter((element) => !scrolls(element)).map((element) => `${element.localName}.${element.getAttribute("class") ?? ""} in #${element.closest("[id]")?.id ?? ""}`);
    return [`${root.scrollWidth - root.clientWidth} px`, ...new Set(told)].slice(0, 8);
  });
}
