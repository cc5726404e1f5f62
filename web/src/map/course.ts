// Where the player is: a moment, the accesses up to it, and how it goes on. No picture and no clock: both are given from outside.
import { begunBy } from "./operations";
import type { DiskMap, Operations } from "./unpack";

/** How the player came to where it is, which decides what it shows. */
export type Focus =
  /** A moment: the accesses shortly before it. */
  | { kind: "moment" }
  /** A single access. */
  | { kind: "access" }
  /** All accesses of an operation. */
  | { kind: "operation"; index: number };

export class Course {
  /** Ticks since the beginning; between two when it plays slowly. */
  tick = 0;
  /** Accesses up to this moment. */
  done = 0;
  focus: Focus = { kind: "moment" };
  readonly lastTick: number;
  readonly operations: Operations | undefined;

  constructor(private readonly map: DiskMap) {
    const { time } = map;
    this.lastTick = time.length > 0 ? time[time.length - 1]! : 0;
    this.operations = map.head.operations;
  }

  /** Nanoseconds after the first request of the trace. */
  get nanoseconds(): number {
    return this.map.head.begin_ns + this.tick * this.map.head.tick_ns;
  }

  /** The tick of a moment after the first request of the trace. */
  tickAt(nanoseconds: number): number {
    return (nanoseconds - this.map.head.begin_ns) / this.map.head.tick_ns;
  }

  /** Where it is worth to begin: with what was measured first. */
  get opening(): number {
    const measuring = this.map.head.moments.find((moment) => moment.label.endsWith("measuring"));
    // The mark is set by another thread than those that ask, and so a little late.
    return Math.min(measuring?.tick ?? 0, this.operations?.begin[0] ?? Infinity);
  }

  /** Goes to a moment. */
  seek(tick: number): void {
    this.tick = Math.min(Math.max(tick, 0), this.lastTick);
    this.done = this.upTo(this.tick);
    this.focus = { kind: "moment" };
  }

  /** Goes so many accesses on or back, to right after one. */
  stepAccess(by: number): void {
    const total = this.map.time.length;
    if (total === 0) return;
    this.done = Math.min(Math.max(this.done + by, 1), total);
    this.tick = this.map.time[this.done - 1]!;
    this.focus = { kind: "access" };
  }

  /** Goes so many operations on or back, to the end of one. */
  stepOperation(by: number): void {
    const { operations } = this;
    if (operations === undefined || operations.begin.length === 0) return;
    let from: number;
    if (this.focus.kind === "operation") {
      from = this.focus.index;
    } else {
      // On from the middle of an operation is to its own end, back is to the one before; between two it is to either of them.
      const begun = begunBy(operations, this.tick);
      const isUnderWay = begun >= 0 && operations.end[begun]! > this.tick;
      if (by < 0) from = isUnderWay ? begun : begun + 1;
      else from = isUnderWay ? begun - 1 : begun;
    }
    this.toOperation(Math.min(Math.max(from + by, 0), operations.begin.length - 1));
  }

  toOperation(index: number): void {
    const { operations } = this;
    if (operations === undefined) return;
    this.tick = Math.min(operations.end[index]!, this.lastTick);
    this.done = operations.first[index]! + operations.count[index]!;
    this.focus = { kind: "operation", index };
  }

  /** The moment of the last mark of the trace up to now. */
  get moment(): string {
    let label = "";
    for (const moment of this.map.head.moments) {
      if (moment.tick > this.tick) break;
      label = moment.label;
    }
    return label;
  }

  /** How many accesses there are up to a tick. */
  upTo(tick: number): number {
    const { time } = this.map;
    let low = 0;
    let high = time.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (time[middle]! <= tick) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
