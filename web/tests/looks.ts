// The pages there are, and the ways in which each is looked at.
import type { Page } from "@playwright/test";
import type { FileKey } from "./frame";

/** One way of looking. */
export interface Look {
  name: "light" | "dark" | "phone";
  scheme: "light" | "dark";
  width: number;
  height: number;
}

/** A wide screen in both schemes, and a narrow one. */
export const LOOKS: Look[] = [
  { name: "light", scheme: "light", width: 1280, height: 900 },
  { name: "dark", scheme: "dark", width: 1280, height: 900 },
  { name: "phone", scheme: "light", width: 390, height: 844 },
];

/** Pages that are files. */
export const FILES: FileKey[] = ["comparison", "grid", "hosts", "unfinished", "hostile", "traced", "history"];

/** Looks at a page so, without motion. */
export async function look(page: Page, at: Look): Promise<void> {
  await page.emulateMedia({ colorScheme: at.scheme, reducedMotion: "reduce" });
  await page.setViewportSize({ width: at.width, height: at.height });
}
