// Makes one store for all tests, by the real program, before the first of them.
import { accessSync, constants, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { EXPERIMENTS, type ExperimentKey, KEYS } from "./experiments";
import { Laboratory } from "./laboratory";
import { FOLDER, missing, screenshots } from "./places";

/** Experiments that this machine cannot make, each with the reason. */
export type LeftOut = Partial<Record<ExperimentKey, string>>;

const LEFT_OUT = "left-out.json";

/** What was left out of the store in this folder. */
export function leftOut(folder: string): LeftOut {
  return JSON.parse(readFileSync(join(folder, LEFT_OUT), "utf8")) as LeftOut;
}

/** Why there are no emulated disks here, if there are none. */
function withoutDisks(): string | undefined {
  if (process.getuid?.() !== 0) return "emulated disks need root";
  for (const device of ["/dev/fuse", "/dev/loop-control"]) {
    if (!existsSync(device)) return `emulated disks need ${device}`;
  }
  return ["mkfs.xfs", "mount", "losetup", "fio"].filter((tool) => !onPath(tool)).map((tool) => `${tool} is not installed`)[0];
}

function onPath(tool: string): boolean {
  return (process.env["PATH"] ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, tool), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** Makes an experiment unless it is there from an earlier time. */
async function make(laboratory: Laboratory, key: ExperimentKey): Promise<void> {
  const made = join(laboratory.folder, `made-${key}`);
  if (existsSync(made)) return;
  await EXPERIMENTS[key].make(laboratory);
  writeFileSync(made, "");
}

/** With PLIMSOLL_PAGES=FOLDER the store is kept there, and later calls take what it has: measuring takes longer than the tests. */
export default async function setup(): Promise<() => void> {
  const reason = missing();
  if (reason) throw new Error(reason);
  mkdirSync(screenshots, { recursive: true });
  const kept = process.env["PLIMSOLL_PAGES"];
  const laboratory = kept ? new Laboratory(kept) : Laboratory.temporary();
  process.env[FOLDER] = laboratory.folder;
  const remove = () => {
    if (!kept) laboratory.remove();
  };
  try {
    const left: LeftOut = {};
    const disks = withoutDisks();
    if (disks) left.traced = disks;
    if (disks && process.env.PLIMSOLL_REQUIRE) throw new Error(`the pages of traced disks cannot be tried: ${disks}`);
    for (const [key, why] of Object.entries(left)) console.error(`SKIPPED the pages of ${key}: ${why}`);
    writeFileSync(join(laboratory.folder, LEFT_OUT), JSON.stringify(left));
    const wanted = KEYS.filter((key) => !(key in left));
    // All at once: that they disturb each other is no matter here.
    const ended = await Promise.allSettled(wanted.map((key) => make(laboratory, key)));
    for (const end of ended) if (end.status === "rejected") throw end.reason;
    for (const key of wanted) {
      const id = await laboratory.id(EXPERIMENTS[key].name);
      await laboratory.run(["report", id, "--page", laboratory.page(key)], [0, 99, 106]);
    }
    await laboratory.run(["history", EXPERIMENTS.comparison.name, "--page", laboratory.page("history")]);
  } catch (error) {
    remove();
    throw error;
  }
  return remove;
}
