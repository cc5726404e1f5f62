// Each page in each look, by the rules of axe.
import { grave } from "./checks";
import { expect, test } from "./frame";
import { FILES, look, LOOKS } from "./looks";

for (const key of FILES) {
  for (const at of LOOKS) {
    test(`${key} keeps nobody out, ${at.name}`, async ({ page, pageFile }) => {
      await look(page, at);
      await page.goto(pageFile(key));
      expect(await grave(page)).toEqual([]);
    });
  }
}

/** Pages that are served alone, by their paths below a server of the tests' store. */
const SERVED: Record<string, (id: string) => string> = {
  list: () => "/",
  experiment: (id) => `/experiment/${id}`,
  compare: (id) => `/compare?first=${id}:in-cache&second=${id}:quarter`,
  "history of a metric": () => "/history/comparison",
};

for (const [name, path] of Object.entries(SERVED)) {
  for (const at of LOOKS) {
    test(`${name} as it is served keeps nobody out, ${at.name}`, async ({ page, served, experiment }) => {
      await look(page, at);
      const answer = await page.goto(served + path(await experiment("comparison")));
      expect(answer?.status()).toBe(200);
      expect(await grave(page)).toEqual([]);
    });
  }
}
