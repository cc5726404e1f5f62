// Measures the results that the tests of the pages open, and stores them: `npm run results`.
import { test } from "@playwright/test";
import { type Measured, MEASURED } from "../experiments";
import { Laboratory } from "../laboratory";
import { keepBundle, keepStore } from "./stored";

async function measure(laboratory: Laboratory, name: string, { text, codes, until }: Measured): Promise<void> {
  laboratory.write(`${name}.yaml`, text(laboratory));
  const started = laboratory.start(["run", `${name}.yaml`]);
  if (until) {
    await started.says(until, "err");
    await started.stop("SIGINT");
  }
  const said = await started.end();
  if (said.code === null || !codes.includes(said.code)) throw new Error(`${name} ended with ${said.code}:\n${said.out}${said.err}`);
}

// One after the other, so that they do not disturb each other.
test("results", async () => {
  const { traced, ...inStore } = MEASURED;
  const laboratory = Laboratory.temporary();
  const other = Laboratory.temporary();
  try {
    for (const [name, measured] of Object.entries(inStore)) await measure(laboratory, name, measured);
    keepStore(laboratory);
    // The store has no disk maps, its bundle has.
    await measure(other, "traced", traced);
    await keepBundle(other, "traced");
  } finally {
    laboratory.remove();
    other.remove();
  }
});
