// What every test of the pages stands on: `import { expect, test } from "./frame"` in place of Playwright's own.
//
// A page that complains, breaks its policy, opens a dialogue or asks anything of anybody but its own server fails the test, whatever the test looks at.
import { test as base, expect } from "@playwright/test";
import { type ExperimentKey, nameOf } from "./experiments";
import { Laboratory, type Served } from "./laboratory";
import { FOLDER } from "./places";

/** A page that was written as a file. */
export type FileKey = ExperimentKey | "history";

/** What went wrong in the browser. */
export class Trouble {
  readonly seen: string[] = [];
  /** What a test brings about on purpose, such as a lost connection. */
  readonly expected: RegExp[] = [];
  /** Addresses of files, and beginnings of addresses of servers, that pages may ask for. */
  readonly own = new Set<string>();

  add(what: string): void {
    if (!this.expected.some((pattern) => pattern.test(what))) this.seen.push(what);
  }

  /** Whether this is the page's own file or server. */
  owns(address: string): boolean {
    if (/^(data|blob|about):/.test(address)) return true;
    const bare = address.replace(/[#?].*$/s, "");
    if (bare.startsWith("file:")) return this.own.has(bare);
    return this.own.has(new URL(address).origin);
  }
}

interface Frame {
  /** Whether the sections behind headings are opened as soon as a page is there. */
  folds: "open" | "closed";
  /** Fails the test when it is not empty at its end. */
  trouble: Trouble;
  /** A laboratory of the test's own, for runs that go on while somebody looks. */
  empty: Laboratory;
  /** The address of a page that `plimsoll report --page` wrote. */
  pageFile: (key: FileKey) => string;
  /** The id of an experiment in the store. */
  experiment: (key: Exclude<ExperimentKey, "traced">) => Promise<string>;
  /** `plimsoll serve` over the store of all tests, at this origin. */
  served: string;
  /** `plimsoll serve` over any store; all are stopped at the end. */
  serve: (laboratory: Laboratory, more?: string[]) => Promise<string>;
}

/** What the tests of a worker share. */
interface Shared {
  /** The store that was made before all tests. Nothing may be written into it. */
  laboratory: Laboratory;
  /** The origin of `plimsoll serve` over it, which remembers what it has drawn. */
  server: string;
}

export const test = base.extend<Frame, Shared>({
  folds: ["open", { option: true }],

  trouble: async ({}, use) => use(new Trouble()),

  context: async ({ context, trouble, folds }, use) => {
    context.on("console", (message) => {
      if (message.type() === "error") trouble.add(`console: ${message.text()} (${message.location().url})`);
    });
    context.on("weberror", (error) => trouble.add(`script: ${error.error().message}`));
    context.on("dialog", (dialog) => {
      trouble.add(`dialogue: ${dialog.message()}`);
      void dialog.dismiss();
    });
    context.on("request", (request) => {
      if (!trouble.owns(request.url())) trouble.add(`asked for ${request.method()} ${request.url()}`);
    });
    await context.addInitScript(() => {
      document.addEventListener("securitypolicyviolation", (event) => {
        console.error(`policy: ${event.violatedDirective} forbids ${event.blockedURI || "what is inline"}`);
      });
    });
    if (folds === "open") {
      await context.addInitScript(() => {
        const open = () => {
          for (const fold of document.querySelectorAll<HTMLDetailsElement>("details.fold")) fold.open = true;
        };
        document.addEventListener("DOMContentLoaded", () => {
          open();
          new MutationObserver(open).observe(document.documentElement, { childList: true, subtree: true });
        });
      });
    }
    await use(context);
    expect(trouble.seen, "what went wrong in the browser").toEqual([]);
  },

  laboratory: [
    async ({}, use) => {
      const folder = process.env[FOLDER];
      if (!folder) throw new Error("the setup did not run");
      await use(new Laboratory(folder));
    },
    { scope: "worker" },
  ],

  server: [
    async ({ laboratory }, use) => {
      const { origin, started } = await laboratory.serve();
      await use(origin);
      await started.stop();
    },
    { scope: "worker" },
  ],

  empty: async ({}, use) => {
    const laboratory = Laboratory.temporary();
    await use(laboratory);
    laboratory.remove();
  },

  pageFile: async ({ laboratory, trouble }, use) => {
    await use((key) => {
      const address = laboratory.pageAddress(key);
      trouble.own.add(address);
      return address;
    });
  },

  experiment: async ({ laboratory }, use) => {
    await use((key) => laboratory.id(nameOf(key)));
  },

  serve: async ({ trouble }, use) => {
    const all: Served[] = [];
    await use(async (laboratory, more) => {
      const served = await laboratory.serve(more);
      all.push(served);
      trouble.own.add(served.origin);
      return served.origin;
    });
    for (const { started } of all) await started.stop();
  },

  served: async ({ server, trouble }, use) => {
    trouble.own.add(server);
    await use(server);
  },
});

export { expect };
