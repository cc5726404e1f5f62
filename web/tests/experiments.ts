// What the tests look at. Nothing here is large, and no test expects a figure of it.
import { join } from "node:path";
import type { Laboratory } from "./laboratory";
import { program } from "./places";

/** Two caches on embedded WiredTiger, closed and open loops, prices and bounds: everything that a page can draw of such a thing. */
const COMPARISON = `
plimsoll: 1
name: comparison
question: Does a cache that holds all of the data pay?
workload: {records: 20k, mixes: [a]}
defaults: {engine: wiredtiger}
arms:
  in-cache:
    about: cache larger than the data
    cache_size: 256MiB
    price: {per_hour: 0.12, currency: USD, source: an invented list, date: 2026-01}
  quarter:
    about: cache a quarter of the data
    cache_size: 8MB
    price: {per_hour: 0.1, currency: USD, source: an invented list, date: 2026-01}
load:
  closed: {threads: [1, 4, 8]}
  open: {rates: [500, 2k], sessions: 16}
measurement: {warm_up: 100ms, duration: 500ms, blocks: 6, seed: 42}
compare: {baseline: in-cache, primary: [throughput], at: {threads: 4}, margins: {throughput: 3%}}
thresholds:
  - throughput >= 1
  - {metric: response.p99 <= 1ns, arm: in-cache, at: {threads: 4}}
`;

/** Two factors, one of them an axis, on the simulated engine: figure, matrix and effects. */
const GRID = `
plimsoll: 1
name: grid
question: What does a slower service cost, and does it depend on how many are served at once?
workload: {records: 100, preset: c}
defaults: {engine: simulated}
factors:
  service_mean: [1ms, 2ms]
  servers: [1, 2, 4]
except: [{service_mean: 2ms, servers: 2}]
load: {closed: {threads: [4]}}
measurement: {warm_up: 100ms, duration: 400ms, blocks: 6}
compare: {factor: service_mean, primary: [throughput], at: {threads: 4}}
`;

/** Far more runs than are waited for. */
const UNFINISHED = `
plimsoll: 1
name: unfinished
question: What is there when it was stopped?
workload: {records: 100, mixes: [a, c]}
defaults: {engine: simulated, service_mean: 2ms}
arms: {slow: {service_mean: 3ms}, fast: }
load: {closed: {threads: [1, 4]}}
measurement: {warm_up: 500ms, duration: 2s, blocks: 200}
compare: {primary: [throughput]}
`;

/** One arm on an emulated disk without limits, so that nothing has to be calibrated, in a group too small for its data: it has to read. */
const TRACED = `
plimsoll: 1
name: traced
question: Where on the disk does it read?
workload: {records: 100k, mixes: [b]}
defaults:
  engine: wiredtiger
  cache_size: 16MB
  filesystem: xfs
  disk: {capacity: 1GiB}
  limits: {memory: 128MiB}
arms: {xfs: }
load: {closed: {threads: [4]}}
measurement: {warm_up: 0s, duration: 10s, operations: 1k, blocks: 2, log_operations: 40}
`;

/** Three machines make one load: this one, and two others that are this one as well. */
export function onHosts(laboratory: Laboratory, name: string, rest: string): string {
  const host = (host: string) => {
    const place = (what: string) => `XDG_${what.toUpperCase()}_HOME=${join(laboratory.folder, host, what)}`;
    return `  ${host}: {command: [env, ${place("state")}, ${place("cache")}, ${program}, agent, --stdio]}`;
  };
  return `
plimsoll: 1
name: ${name}
question: Do three hosts make one load?
hosts:
${host("bench1")}
${host("bench2")}
load_hosts: [bench1, controller, bench2]
workload: {records: 100, preset: c}
defaults: {engine: simulated, service_mean: 1ms}
${rest}`;
}

const HOSTS = `
arms: {one: , two: {servers: 2}}
load: {closed: {threads: [4]}, open: {rates: [300], sessions: 12}}
measurement: {warm_up: 100ms, duration: 500ms, blocks: 6}
compare: {primary: [throughput]}
`;

/** Names that try to be more than text. */
export const HOSTILE = {
  name: `</script><script>alert("name")</script><img src=x onerror=alert('name')> & "both"`,
  mix: `<b onmouseover="alert('mix')">mix</b> & 'all'`,
  arm: `<script>alert("arm")<script>'"&amp;`,
  /** Turned around, in other scripts, and a thousand characters long. */
  other: `\u202eשלום עולם 数据库 ${"long ".repeat(200)}end`,
  version: `0.17.0 <img src=x onerror=alert('version')>`,
  password: "hunter2-never-shown",
};

/** A report of YCSB: so many reads in ten seconds, by threads that are busy nearly all of the time. */
function report(threads: number, reads: number): string {
  const mean = Math.round((threads * 9_875_000) / reads);
  return [
    `Command line: -db site.ycsb.db.MongoDbClient -P workloads/workloadc -p mongodb.url=mongodb://me:${HOSTILE.password}@db/ycsb -threads ${threads} -t`,
    `YCSB Client ${HOSTILE.version}`,
    "[OVERALL], RunTime(ms), 10000",
    `[OVERALL], Throughput(ops/sec), ${reads / 10}.0`,
    `[READ], Operations, ${reads}`,
    `[READ], AverageLatency(us), ${mean}.0`,
    "[READ], MinLatency(us), 5",
    "[READ], MaxLatency(us), 900000",
    `[READ], 95thPercentileLatency(us), ${mean * 2}`,
    `[READ], 99thPercentileLatency(us), ${mean * 3}`,
    `[READ], Return=OK, ${reads}`,
    "",
  ].join("\n");
}

/** Reads reports of YCSB with such names. */
export async function importHostile(laboratory: Laboratory): Promise<void> {
  const words = ["import", "--name", HOSTILE.name, "--mix", HOSTILE.mix];
  for (const [arm, factor] of [[HOSTILE.arm, 1], [HOSTILE.other, 1.3]] as const) {
    const files: string[] = [];
    for (let block = 0; block < 6; block += 1) {
      for (const threads of [1, 4, 16]) {
        const name = `hostile-${factor}-${block}-${threads}.txt`;
        laboratory.write(name, report(threads, Math.round(factor * (10_000 + 100 * block) * Math.sqrt(threads))));
        files.push(name);
      }
    }
    words.push(`${arm}=${files.join(",")}`);
  }
  await laboratory.run(words);
}

/** An experiment whose result is stored in results/. */
export interface Measured {
  text: (laboratory: Laboratory) => string;
  /** How its run may end. A busy machine may make points invalid, which is 106. */
  codes: number[];
  /** It is stopped as soon as it has said this. */
  until?: RegExp;
}

export const MEASURED = {
  // 99: a bound is broken, as written.
  comparison: { text: () => COMPARISON, codes: [99, 106] },
  grid: { text: () => GRID, codes: [0, 106] },
  hosts: { text: (laboratory) => onHosts(laboratory, "hosts", HOSTS), codes: [0, 106] },
  // In a pipe each point is a line when it is over: after the first run, and within the second.
  unfinished: { text: () => UNFINISHED, codes: [105], until: /^run 2 of .* op\/s/m },
  traced: { text: () => TRACED, codes: [0, 106] },
} satisfies Record<string, Measured>;

/** What tests call an experiment. */
export type ExperimentKey = keyof typeof MEASURED | "hostile";

/** As it is called in the store. */
export const nameOf = (key: ExperimentKey): string => (key === "hostile" ? HOSTILE.name : key);
