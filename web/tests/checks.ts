// What every page is checked for, whichever part of the program made it.
import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";

/** axe with all of its rules. It tells of what it finds alone, and of no frames, of which the pages have none: that is three times as fast. */
export function axe(page: Page): AxeBuilder {
  return new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ["violations"] });
}

/** Findings of axe that keep somebody out, in a line each. */
export async function grave(page: Page): Promise<string[]> {
  const { violations } = await axe(page).analyze();
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
