// What the server tells: `crates/serve/src/live/update.rs`.

/** What is going on. */
export interface Now {
  run: number;
  block: number;
  arm: number;
  mix: string;
  load: string;
  phase: string;
  second: number;
  seconds: number;
  rate: number | null;
  p99_ns: number | null;
  errors: number;
  /** What each machine does; only where several take part. */
  hosts?: NowHost[];
  /** How many more there are. */
  more_hosts?: number;
}

/** What one machine does. */
export interface NowHost {
  name: string;
  role: string;
  rate: number | null;
  late_p99_ns: number | null;
}

/** How the run of an arm in a block stands. */
export interface Run {
  block: number;
  arm: number;
  state: string;
}

/** What a point of a run came to so far. */
export interface Point {
  key: number;
  arm: number;
  mix: string;
  open: boolean;
  load: number;
  rate: number;
  p99_ns: number | null;
}

/** One slice. */
export interface Second {
  key: number;
  at: number;
  arm: number;
  phase: string;
  rate: number;
  p99_ns: number | null;
}

/** Something that was done to the server on purpose. A mark with an earlier point, event and time replaces that one. */
export interface EventMark {
  point: number;
  event: number;
  /** Which time of it. */
  time: number;
  at: number;
  words: string;
}

/** All that there is, or what changed. */
export interface Message {
  arms: string[];
  runs_finished: number;
  runs_failed: number;
  runs_planned: number;
  left_seconds: number | null;
  now: Now | null;
  runs: Run[];
  points: Point[];
  dropped: number[];
  seconds: Second[];
  events: EventMark[];
  /** Point, event and time of marks of events that did not happen. */
  dropped_events: [number, number, number][];
}

/** Reads a message; lists that are empty are not sent. */
export function read(text: string): Message | null {
  const told: unknown = JSON.parse(text);
  if (typeof told !== "object" || told === null || !("runs_planned" in told)) return null;
  const empty = { arms: [], runs: [], points: [], dropped: [], seconds: [], events: [], dropped_events: [] };
  return { ...empty, ...(told as Partial<Message> & Omit<Message, keyof typeof empty>) };
}
