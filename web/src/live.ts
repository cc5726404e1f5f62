// An experiment while it runs: what the server tells is shown as it comes, and when a run ends, the page below is fetched again.
import { LoadCharts } from "./live/load-charts";
import { figures } from "./live/figures";
import { showRuns } from "./live/grid";
import { showHosts } from "./live/hosts";
import { ArmLooks } from "./live/looks";
import { read } from "./live/message";
import { Refresher } from "./live/refresh";
import { State } from "./live/state";
import { TimeCharts } from "./live/time-charts";
import { leftWords, nowWords, spokenWords } from "./live/words";

/** Milliseconds between two looks of a server that refused. */
const AGAIN_MS = 10_000;
/** Milliseconds between two tellings to a screen reader, when nothing but figures is new. */
const SPOKEN_MS = 30_000;
/** Milliseconds between two versions of the table behind the charts. */
const FIGURES_MS = 2_000;

/** Takes the places below `root`. */
export function take(root: ParentNode): void {
  for (const place of root.querySelectorAll<HTMLElement>("[data-live]")) new Live(place).connect();
}

/** One live view. */
class Live {
  private readonly state = new State();
  private readonly refresher: Refresher;
  private readonly times: TimeCharts;
  private readonly loads: LoadCharts;
  private readonly looks: ArmLooks;
  private frame = 0;
  private spoken = "";
  private spokenAt = 0;
  private figuresAt = 0;
  private heard = new Date();

  constructor(private readonly place: HTMLElement) {
    this.refresher = new Refresher(() => this.end());
    this.looks = new ArmLooks(place);
    this.times = new TimeCharts(this.part("rate"), this.part("p99"), this.looks);
    this.loads = new LoadCharts(this.part("load-rate"), this.part("load-p99"), this.looks);
    const scheme = window.matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", () => {
      this.looks.forget();
      this.times.forget();
      this.loads.forget();
      this.draw();
    });
    place.querySelector("details")?.addEventListener("toggle", () => {
      this.figuresAt = 0;
      this.draw();
    });
  }

  /** Begins to listen. A browser connects again by itself when the connection is lost. */
  connect(): void {
    const events = new EventSource(this.place.dataset["live"] ?? "");
    events.addEventListener("open", () => this.lost(null));
    events.addEventListener("snapshot", (event) => this.take(event, true));
    events.addEventListener("update", (event) => this.take(event, false));
    events.addEventListener("end", () => {
      events.close();
      this.refresher.now();
    });
    events.addEventListener("error", () => {
      const since = this.heard.toLocaleTimeString();
      this.lost(`The connection is lost. What is shown is as of ${since}; it is tried again.`);
      if (events.readyState === EventSource.CLOSED && this.place.isConnected) {
        window.setTimeout(() => this.connect(), AGAIN_MS);
      }
    });
  }

  private take(event: MessageEvent<string>, whole: boolean): void {
    const message = read(event.data);
    if (!message) return;
    this.heard = new Date();
    // The page below was made earlier than this: it may not know of runs that have ended since.
    const behind = whole && message.runs_finished !== this.place.querySelectorAll(".run-finished").length;
    const ended = !whole && message.runs.some((run) => run.state !== "going");
    if (whole) this.state.begin(message);
    else this.state.add(message);
    showRuns(this.place, message.runs);
    if (behind || ended) this.refresher.soon();
    if (this.frame === 0) {
      this.frame = requestAnimationFrame(() => {
        this.frame = 0;
        this.draw();
      });
    }
  }

  private draw(): void {
    const { state } = this;
    this.say("now", nowWords(state));
    this.say("left", leftWords(state));
    const share = (100 * state.runsFinished) / Math.max(1, state.runsPlanned);
    this.place.querySelector("[data-live-part=bar]")?.setAttribute("width", share.toFixed(1));
    showHosts(this.part("hosts"), state.now);
    this.speak();
    this.times.draw(state);
    this.loads.draw(state);
    const details = this.place.querySelector("details");
    if (details?.open === true && performance.now() - this.figuresAt > FIGURES_MS) {
      this.figuresAt = performance.now();
      this.part("figures").replaceChildren(...figures(state));
    }
    this.place.dataset["updates"] = String(state.updates);
  }

  /** Not every second: only what is new, and figures now and then. */
  private speak(): void {
    const [what, figures] = spokenWords(this.state);
    const now = performance.now();
    if (what === this.spoken && now - this.spokenAt < SPOKEN_MS) return;
    this.spoken = what;
    this.spokenAt = now;
    this.say("spoken", what + figures);
  }

  private say(name: string, words: string): void {
    const part = this.part(name);
    if (part.textContent !== words) part.textContent = words;
  }

  private lost(words: string | null): void {
    const part = this.part("lost");
    part.hidden = words === null;
    part.textContent = words;
    this.place.classList.toggle("stale", words !== null);
  }

  private part(name: string): HTMLElement {
    const found = this.place.querySelector<HTMLElement>(`[data-live-part="${name}"]`);
    if (!found) throw new Error(`the live view has no part ${name}`);
    return found;
  }

  /** Nobody works on the experiment any more. */
  private end(): void {
    cancelAnimationFrame(this.frame);
    this.times.forget();
    this.loads.forget();
    this.place.remove();
  }
}
