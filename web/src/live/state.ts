// What has been told so far.
import type { EventMark, Message, Now, Point, Second } from "./message";

/** Seconds that are shown; the server forgets earlier ones as well. */
const SHOWN_SECONDS = 300;
const SHOWN_COUNT = 3_000;

/** What the page shows. */
export class State {
  arms: string[] = [];
  runsFinished = 0;
  runsFailed = 0;
  runsPlanned = 0;
  leftSeconds: number | null = null;
  now: Now | null = null;
  /** The mix of the curve, and whether its load is a rate: those of the point that goes on, or of the last one. */
  mix = "";
  open = false;
  readonly points = new Map<number, Point>();
  seconds: Second[] = [];
  /** Of the seconds that are shown, by point, event and time. */
  readonly events = new Map<string, EventMark>();
  /** How often anything was told. */
  updates = 0;

  /** Forgets all that was, and takes all that is. */
  begin(message: Message): void {
    this.arms = message.arms;
    this.points.clear();
    this.seconds = [];
    this.events.clear();
    this.add(message);
  }

  /** Takes what changed. */
  add(message: Message): void {
    this.updates += 1;
    this.runsFinished = message.runs_finished;
    this.runsFailed = message.runs_failed;
    this.runsPlanned = message.runs_planned;
    this.leftSeconds = message.left_seconds;
    this.now = message.now;
    for (const key of message.dropped) this.points.delete(key);
    for (const point of message.points) {
      this.points.set(point.key, point);
      this.mix = point.mix;
      this.open = point.open;
    }
    for (const second of message.seconds) this.addSecond(second);
    const newest = this.seconds.at(-1)?.at ?? 0;
    const from = this.seconds.findIndex((second) => second.at >= newest - SHOWN_SECONDS);
    const cut = Math.max(from, this.seconds.length - SHOWN_COUNT, 0);
    if (cut > 0) this.seconds.splice(0, cut);
    for (const event of message.events) this.events.set([event.point, event.event, event.time].join(":"), event);
    for (const key of message.dropped_events) this.events.delete(key.join(":"));
    const oldest = this.seconds[0]?.at ?? 0;
    for (const [key, event] of this.events) if (event.at < oldest) this.events.delete(key);
  }

  private addSecond(second: Second): void {
    // A late share replaces one of the last.
    for (let place = this.seconds.length - 1; place >= 0 && place > this.seconds.length - 40; place -= 1) {
      if (this.seconds[place]?.key === second.key) {
        this.seconds[place] = second;
        return;
      }
    }
    this.seconds.push(second);
  }
}
