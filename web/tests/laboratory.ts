// The real program in a folder of its own: its store, its data and its journal are there and nowhere else.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { program } from "./places";

/** What the program said and how it ended. */
export interface Said {
  code: number | null;
  out: string;
  err: string;
}

/** A program that is going on. */
export class Started {
  private out = "";
  private err = "";
  private readonly ended: Promise<Said>;
  private wake: (() => void)[] = [];

  constructor(
    private readonly child: ChildProcess,
    private readonly words: string,
  ) {
    child.stdout?.setEncoding("utf8").on("data", (text: string) => this.more("out", text));
    child.stderr?.setEncoding("utf8").on("data", (text: string) => this.more("err", text));
    this.ended = new Promise((done, failed) => {
      child.on("error", failed);
      child.on("close", (code) => {
        this.awaken();
        done({ code, out: this.out, err: this.err });
      });
    });
  }

  /** The first match in what it says; fails when it ends without. */
  async says(pattern: RegExp, where: "out" | "err" = "out"): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this[where]);
      if (found) return found;
      if (this.child.exitCode !== null || this.child.signalCode !== null) {
        const said = await this.ended;
        const last = pattern.exec(said[where]);
        if (last) return last;
        throw new Error(`${this.words} ended with ${said.code} and never said ${pattern}:\n${said.out}${said.err}`);
      }
      await new Promise<void>((done) => this.wake.push(done));
    }
  }

  /** Waits for its end. */
  end(): Promise<Said> {
    return this.ended;
  }

  /** Asks it to end, and waits until it has. */
  stop(signal: NodeJS.Signals = "SIGTERM"): Promise<Said> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill(signal);
    return this.ended;
  }

  private more(where: "out" | "err", text: string): void {
    this[where] += text;
    this.awaken();
  }

  private awaken(): void {
    const wake = this.wake;
    this.wake = [];
    for (const done of wake) done();
  }
}

/** What every browser of the tests shows to servers. */
export const TOKEN = "0123456789abcdef0123";

/** A server, and where it is. */
export interface Served {
  /** Without a path: `http://127.0.0.1:40123`. */
  origin: string;
  started: Started;
}

/** A folder with a store. */
export class Laboratory {
  constructor(readonly folder: string) {
    mkdirSync(join(folder, "pages"), { recursive: true });
  }

  /** A new one in a temporary folder; `remove` takes it away. */
  static temporary(): Laboratory {
    return new Laboratory(mkdtempSync(join(tmpdir(), "plimsoll-pages-")));
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** A file of this text, by its path. */
  write(name: string, text: string): string {
    const path = join(this.folder, name);
    writeFileSync(path, text);
    return path;
  }

  /** Where the page of this name is. */
  page(name: string): string {
    return join(this.folder, "pages", `${name}.html`);
  }

  /** The same as an address. */
  pageAddress(name: string): string {
    return pathToFileURL(this.page(name)).href;
  }

  start(words: string[]): Started {
    const child = spawn(program, words, {
      cwd: this.folder,
      env: {
        PATH: process.env["PATH"],
        HOME: this.folder,
        XDG_DATA_HOME: join(this.folder, "data"),
        XDG_CACHE_HOME: join(this.folder, "cache"),
        XDG_STATE_HOME: join(this.folder, "state"),
        LC_ALL: "C.UTF-8",
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    return new Started(child, `plimsoll ${words.join(" ").slice(0, 200)}`);
  }

  /** Runs the program to its end, which must be one of these. */
  async run(words: string[], codes = [0]): Promise<Said> {
    const said = await this.start(words).end();
    if (said.code === null || !codes.includes(said.code)) {
      throw new Error(`plimsoll ${words.join(" ").slice(0, 400)} ended with ${said.code}:\n${said.out}${said.err}`);
    }
    return said;
  }

  /** The id of the newest experiment of this name. */
  async id(name: string): Promise<string> {
    const list: unknown = JSON.parse((await this.run(["list", "--name", name, "--json"])).out);
    const first: unknown = Array.isArray(list) ? list[0] : undefined;
    if (typeof first === "object" && first !== null && "id" in first && typeof first.id === "string") return first.id;
    throw new Error(`there is no experiment ${name} in ${this.folder}`);
  }

  /** `plimsoll serve` on a port that is free. */
  async serve(more: string[] = []): Promise<Served> {
    const token = join(this.folder, "token");
    writeFileSync(token, TOKEN, { mode: 0o600 });
    const started = this.start(["serve", "--listen", "127.0.0.1:0", "--token-file", token, ...more]);
    const [origin] = await started.says(/http:\/\/127\.0\.0\.1:\d+/);
    return { origin, started };
  }
}
