// An experiment while it goes on: the only tests that measure.
import type { Page } from "@playwright/test";
import { join } from "node:path";
import { axe, grave } from "./checks";
import { onHosts } from "./experiments";
import { expect, test } from "./frame";
import type { Laboratory, Started } from "./laboratory";
import { look, LOOKS } from "./looks";
import { screenshots } from "./places";

// One after the other, also beside tests of other files: each has a run of its own.
test.describe.configure({ mode: "default" });

/** Runs of some seconds, so that a page can be opened while the first goes on. */
function experiment(name: string, milliseconds: number, blocks: number): string {
  return `
plimsoll: 1
name: ${name}
question: Are two servers faster than one?
workload: {records: 10, preset: c}
defaults: {engine: simulated, service: constant, service_mean: 1ms}
arms: {one: , two: {servers: 2}}
load: {closed: {threads: [1, 2]}}
measurement: {warm_up: 0s, duration: ${milliseconds}ms, blocks: ${blocks}}
compare: {primary: [throughput]}
`;
}

/** Starts an experiment and waits until it has an id. */
async function start(laboratory: Laboratory, text: string): Promise<[Started, string]> {
  laboratory.write("live.yaml", text);
  const started = laboratory.start(["run", "live.yaml"]);
  const [, id] = await started.says(/experiment .* \(([0-9a-f]+)\)/, "err");
  return [started, id ?? ""];
}

const live = (page: Page) => page.locator("[data-live]");
const finished = (page: Page) => page.locator("td.run-finished");

test("a run is followed to its end", async ({ page, empty, serve }) => {
  const served = await serve(empty);
  const [started, id] = await start(empty, experiment("followed", 1500, 2));
  await page.goto(`${served}/experiment/${id}`);
  await expect(live(page)).toBeVisible();
  await expect(page.locator("[data-live-part=now]")).toContainText("op/s");
  await expect(page.locator("[data-live-part=left]")).toContainText("left");
  await expect(page.locator("[data-live-part=rate] canvas")).toBeVisible();
  await expect(page.locator("[data-live-part=load-rate] canvas")).toBeVisible();
  await page.getByText("The figures behind these charts").click();
  await expect(page.locator("[data-live-part=figures] table")).toHaveCount(2);
  await expect(page.locator("[data-live-part=figures] tbody tr").first()).toBeVisible();
  // When a run ends its cell changes, and the page below is made again.
  await expect(finished(page)).not.toHaveCount(0);
  await page.evaluate(() => document.querySelector("[data-report]")?.setAttribute("data-was-here", ""));
  await expect(page.locator("[data-report]:not([data-was-here])")).toBeVisible();
  // What the reader has opened stays open.
  const details = page.locator("#provenance details:not(.fold)").first();
  await details.locator("summary").click();
  await expect(live(page)).toHaveCount(0);
  await expect(details).toHaveAttribute("open", "");
  await expect(page.locator(".unfinished")).toHaveCount(0);
  await expect(page.getByRole("heading", { level: 1 })).not.toHaveText("There is no verdict.");
  expect([0, 106]).toContain((await started.end()).code);
});

test("a run that is not valid is marked when it ends", async ({ page, empty, serve }) => {
  const served = await serve(empty);
  // Too many of the operations of one arm fail, from the first point on. The load may not: whether it does is drawn from the seed, and one that fails fails the run.
  const failing = experiment("refused", 1500, 3)
    .replace("records: 10", "records: 2")
    .replace("two: {servers: 2}", "two: {error_share: 5%}")
    .replace("blocks: 3", "blocks: 3, seed: 2");
  const [started, id] = await start(empty, failing);
  await page.goto(`${served}/experiment/${id}`);
  const refused = page.locator("[data-live] td.run-invalid");
  await expect(refused).not.toHaveCount(0);
  await expect(refused.first()).toHaveAttribute("title", /^not valid: c at 1 thread: [0-9]+ of [0-9]+ operations failed/);
  await expect(page.locator("[data-live] td.run-finished:not(.run-invalid)").first()).toHaveText(/✓/);
  // It loads itself again at the end, when its server may be gone already.
  await page.close();
  expect((await started.end()).code).toBe(106);
});

test("each host of a run is shown with what it does now", async ({ page, empty, serve }) => {
  const served = await serve(empty);
  const rest = `
arms: {one: }
load: {open: {rates: [90], sessions: 12}}
measurement: {warm_up: 0s, duration: 4s, blocks: 2, order: as-written}
`;
  const [started, id] = await start(empty, onHosts(empty, "hosts", rest));
  await page.goto(`${served}/experiment/${id}`);
  const rows = page.locator("[data-live-part=hosts] tbody tr");
  await expect(rows).toHaveCount(3);
  await expect(rows.locator("td:nth-child(1)")).toHaveText(["bench1", "controller", "bench2"]);
  await expect(rows.locator("td:nth-child(2)")).toHaveText(["load", "load", "load"]);
  // Each makes a third of the 90.
  for (const row of await rows.all()) await expect(row.locator("td:nth-child(3)")).toHaveText(/^(2[5-9]|3[0-5])(\.\d+)?$/);
  // How late each was is known when a point is over.
  await expect(rows.first().locator("td:nth-child(4)")).toHaveText(/\d/);
  const { violations } = await axe(page).include("[data-live-part=hosts]").analyze();
  expect(violations.map(({ id }) => id)).toEqual([]);
  await page.locator("section.live").screenshot({ path: join(screenshots, "live-hosts.png") });
  await page.close();
  await started.stop("SIGINT");
});

test("two look at the same run, and one that was stopped is interrupted", async ({ page, context, empty, serve }) => {
  const served = await serve(empty);
  const [started, id] = await start(empty, experiment("stopped", 60_000, 2));
  const other = await context.newPage();
  for (const one of [page, other]) {
    await one.goto(`${served}/experiment/${id}`);
    await expect(one.locator("td.run-going")).toHaveCount(1);
  }
  await page.goto(served);
  await expect(page.locator("tr .state")).toHaveText("● running");
  await started.stop("SIGINT");
  await expect(page.locator("tr .state")).toHaveText("◐ interrupted");
  await expect(live(other)).toHaveCount(0);
  await expect(other.locator(".unfinished")).toContainText("Incomplete");
  await page.close();
});

test("a lost connection is said, and taken up again", async ({ page, empty, serve, trouble }) => {
  trouble.expected.push(/ERR_|Failed to load/);
  const first = await empty.serve();
  trouble.own.add(first.origin);
  const [started, id] = await start(empty, experiment("lost", 60_000, 2));
  await page.goto(`${first.origin}/experiment/${id}`);
  // Not while the data is stored: a rate is shown then as well, and gone when the next point begins.
  await expect(page.locator("[data-live-part=now]")).toContainText(/measuring.*op\/s/);
  await first.started.stop();
  await expect(page.getByRole("alert")).toContainText("The connection is lost");
  await expect(page.locator("[data-live-part=now]")).toContainText("op/s");
  const port = new URL(first.origin).port;
  await serve(empty, ["--listen", `127.0.0.1:${port}`]);
  await expect(page.getByRole("alert")).toHaveCount(0);
  await expect(page.locator("[data-live-part=now]")).toContainText("op/s");
  await page.close();
  await started.stop("SIGINT");
});

test("an experiment that is run appears by itself", async ({ page, empty, serve }) => {
  const served = await serve(empty);
  await page.goto(served);
  await expect(page.getByText("plimsoll run studies/quickstart.yaml")).toBeVisible();
  empty.write(
    "tiny.yaml",
    `
plimsoll: 1
name: tiny
workload: {records: 2, preset: c}
arms: {one: {engine: simulated, service: constant, service_mean: 30ms}}
load: {closed: {threads: 1}}
measurement: {warm_up: 0s, duration: 60s, operations: 10, blocks: 1}
`,
  );
  await empty.run(["run", "tiny.yaml", "--quiet"], [0, 106]);
  await expect(page.locator("table.experiments tbody th > a")).toHaveText(["tiny"]);
});

for (const at of LOOKS) {
  test(`what goes on keeps nobody out, ${at.name}`, async ({ page, empty, serve }) => {
    const served = await serve(empty);
    const [started, id] = await start(empty, experiment("looked-at", 3000, 3));
    await look(page, at);
    await page.goto(`${served}/experiment/${id}`);
    await expect(finished(page)).not.toHaveCount(0);
    await expect(page.locator("[data-live-part=load-rate] canvas")).toBeVisible();
    expect(await grave(page)).toEqual([]);
    await page.screenshot({ path: join(screenshots, `live-${at.name}.png`) });
    // Before its server goes, which it would miss.
    await page.close();
    await started.stop("SIGINT");
  });
}
