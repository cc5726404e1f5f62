// Brings the stored results and an import into one store for all tests, and draws their pages by the real program, before the first of them.
import { mkdirSync } from "node:fs";
import { type ExperimentKey, importHostile, nameOf } from "./experiments";
import { Laboratory } from "./laboratory";
import { FOLDER, missing, screenshots } from "./places";
import { bundleOf, unpackInto } from "./results/stored";

/** What is in the store. */
const IN_STORE: ExperimentKey[] = ["comparison", "grid", "hosts", "unfinished", "hostile"];

export default async function setup(): Promise<() => void> {
  const reason = missing();
  if (reason) throw new Error(reason);
  mkdirSync(screenshots, { recursive: true });
  const laboratory = Laboratory.temporary();
  process.env[FOLDER] = laboratory.folder;
  try {
    unpackInto(laboratory);
    await importHostile(laboratory);
    // The exit code is the answer of the experiment.
    const draw = (result: string, key: ExperimentKey) => laboratory.run(["report", result, "--page", laboratory.page(key)], [0, 99, 106]);
    const pages = IN_STORE.map(async (key) => draw(await laboratory.id(nameOf(key)), key));
    pages.push(draw(bundleOf("traced"), "traced"));
    pages.push(laboratory.run(["history", "comparison", "--page", laboratory.page("history")]));
    const ended = await Promise.allSettled(pages);
    for (const end of ended) if (end.status === "rejected") throw end.reason;
  } catch (error) {
    laboratory.remove();
    throw error;
  }
  return () => laboratory.remove();
}
