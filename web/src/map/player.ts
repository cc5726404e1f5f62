// Plays a disk map: puts the moment, the picture and the controls together.
import { controls, SPEEDS, type Controls } from "./controls";
import { Course } from "./course";
import { Heat, shadesOf } from "./heat";
import { at, layout, type Layout } from "./layout";
import { Marks } from "./marks";
import { operationInWords, operationOf, shortNames } from "./operations";
import { IS_WRITE, SECTOR_BYTES, type DiskMap } from "./unpack";
import { bytes, count, seconds, several } from "./words";

/** Seconds of the reader that a mark takes to fade. */
const FADE = 0.7;
/** Seconds of the reader that the whole takes at the speed that is chosen first. */
const WHOLE = 20;
/** Seconds of the reader between two steps where motion is unwanted. */
const PAUSE = 1;
/** Marks behind a single access. */
const TRAIL = 8;
const CELL = 2;
const LINE = 20;

export class Player {
  readonly parts: Controls;
  readonly course: Course;
  private readonly names: string[];
  private readonly still = matchMedia("(prefers-reduced-motion: reduce)");
  private layout!: Layout;
  private heat!: Heat;
  private marks!: Marks;
  private playing = false;
  private lastFrame = 0;
  private speed = 1;
  private scale = 1;

  /** `address` makes the link to a moment. */
  constructor(
    private readonly map: DiskMap,
    name: string,
    private readonly address: (seconds: string) => string,
  ) {
    this.names = shortNames(map.head.files.map((file) => file.path));
    this.course = new Course(map);
    this.parts = controls(map, this.names, name);
    const { scrub, speed } = this.parts;
    scrub.max = String(this.course.lastTick);
    // A step that does not divide the whole would keep it from its end; so arrows move by a hundredth.
    scrub.step = "any";
    const span = ((this.course.lastTick - this.course.opening) * map.head.tick_ns) / 1e9;
    this.speed = nearest(SPEEDS, span / WHOLE);
    speed.value = String(this.speed);
    this.listen();
  }

  /** Draws for the first time, in the width that there is now, and whenever that changes. */
  begin(): void {
    this.course.seek(this.course.opening);
    this.build();
    let width = this.parts.stage.clientWidth;
    new ResizeObserver(() => {
      if (this.parts.stage.clientWidth === width) return;
      width = this.parts.stage.clientWidth;
      this.build();
    }).observe(this.parts.stage);
  }

  /** Goes to a moment after the first request of the trace. */
  goTo(nanoseconds: number): void {
    this.pause();
    this.course.seek(Math.round(this.course.tickAt(nanoseconds)));
    this.show();
  }

  private build(): void {
    const { stage, layers, files } = this.parts;
    this.scale = Math.max(1, Math.round(devicePixelRatio));
    const cell = CELL * this.scale;
    const columns = Math.max(16, Math.floor((stage.clientWidth * this.scale) / cell));
    const chosen = files.map((file) => file.checked);
    this.layout = layout(this.map.head.files, chosen, columns, cell, LINE * this.scale);
    stage.style.aspectRatio = `${this.layout.width} / ${this.layout.height}`;
    this.heat = new Heat(this.map, this.layout, layers.heat, shadesOf(stage));
    this.heat.showAll(this.parts.all.checked);
    this.marks = new Marks(this.map, this.layout, layers.marks);
    this.ground();
    this.show();
  }

  /** The files as they are without any access, and their labels. */
  private ground(): void {
    const { ground } = this.parts.layers;
    const { layout: places, scale } = this;
    ground.width = places.width;
    ground.height = places.height;
    const context = ground.getContext("2d");
    if (context === null) return;
    const style = getComputedStyle(ground);
    const colour = (name: string): string => style.getPropertyValue(name).trim();
    context.font = `${12 * scale}px ${style.fontFamily}`;
    context.textBaseline = "middle";
    for (const block of places.blocks) {
      const file = this.map.head.files[block.file];
      if (file === undefined) continue;
      context.fillStyle = colour("--map-file");
      const whole = Math.floor(block.cells / places.columns);
      context.fillRect(0, block.y, places.width, whole * places.cell);
      context.fillRect(0, block.y + whole * places.cell, (block.cells % places.columns) * places.cell, places.cell);
      context.fillStyle = colour("--ink");
      const kind = file.kind === "other" ? "" : ` · ${file.kind}`;
      context.fillText(`${this.names[block.file] ?? ""}${kind} · ${bytes(file.size)}`, 0, block.labelY + LINE * scale * 0.5, places.width);
    }
    const row = bytes(places.cellBytes * places.columns);
    setText(this.parts.scale, `A row is ${row}, a cell ${bytes(places.cellBytes)}.`);
    ground.setAttribute(
      "aria-label",
      `${several(places.blocks.length, "file")} laid out row by row, ${row} a row; the accesses are told in words beside it`,
    );
  }

  private listen(): void {
    const { parts } = this;
    parts.play.addEventListener("click", () => (this.playing ? this.pause() : this.play()));
    parts.steps.access.forEach((button, index) => button.addEventListener("click", () => this.stepAccess(index * 2 - 1)));
    parts.steps.operation.forEach((button, index) => button.addEventListener("click", () => this.stepOperation(index * 2 - 1)));
    parts.scrub.addEventListener("input", () => {
      this.course.seek(Number(parts.scrub.value));
      this.show();
    });
    parts.speed.addEventListener("change", () => (this.speed = Number(parts.speed.value)));
    parts.moments.addEventListener("change", () => {
      const moment = this.map.head.moments[Number(parts.moments.value)];
      if (moment === undefined) return;
      this.course.seek(moment.tick);
      this.show();
    });
    parts.all.addEventListener("change", () => {
      this.heat.showAll(parts.all.checked);
      this.heat.show();
    });
    for (const file of parts.files) file.addEventListener("change", () => this.build());
    parts.layers.ground.addEventListener("keydown", (event) => this.key(event));
    parts.stage.addEventListener("pointermove", (event) => this.point(event));
    parts.stage.addEventListener("pointerleave", () => (parts.tip.hidden = true));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      this.heat.recolour(shadesOf(parts.stage));
      this.marks.recolour();
      this.ground();
      this.show();
    });
  }

  private key(event: KeyboardEvent): void {
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (by !== 0 && event.shiftKey) this.stepOperation(by);
    else if (by !== 0) this.stepAccess(by);
    else if (event.key === " ") this.parts.play.click();
    else if (event.key === "Home") this.goTo(this.map.head.begin_ns);
    else if (event.key === "End") this.goTo(Infinity);
    else if (event.key.toLowerCase() === "h") this.parts.all.click();
    else return;
    event.preventDefault();
  }

  private stepAccess(by: number): void {
    this.pause();
    this.course.stepAccess(by);
    this.show();
  }

  private stepOperation(by: number): void {
    this.pause();
    if (this.course.operations === undefined) this.course.stepAccess(by);
    else this.course.stepOperation(by);
    this.show();
  }

  private play(): void {
    if (this.course.tick >= this.course.lastTick) this.course.seek(this.course.opening);
    this.playing = true;
    this.parts.play.textContent = "Pause";
    this.parts.root.classList.add("playing");
    // What changes many times a second is not read out.
    this.parts.what.setAttribute("aria-live", "off");
    this.lastFrame = performance.now();
    requestAnimationFrame((now) => this.frame(now));
  }

  private pause(): void {
    if (!this.playing) return;
    this.playing = false;
    this.parts.play.textContent = "Play";
    this.parts.root.classList.remove("playing");
    this.parts.what.setAttribute("aria-live", "polite");
    this.show();
  }

  private frame(now: number): void {
    if (!this.playing) return;
    const elapsed = (now - this.lastFrame) / 1e3;
    if (!this.still.matches) {
      this.lastFrame = now;
      // A page that was hidden goes on where it was.
      this.on(Math.min(elapsed, 0.25));
    } else if (elapsed >= PAUSE) {
      this.lastFrame = now;
      this.onByStep();
    }
    if (this.course.done >= this.map.time.length) this.pause();
    else requestAnimationFrame((next) => this.frame(next));
  }

  private on(elapsed: number): void {
    this.course.seek(this.course.tick + (elapsed * this.speed * 1e9) / this.map.head.tick_ns);
    this.show();
  }

  /** Where motion is unwanted: one picture a second, of an operation, or of as much as would have been played. */
  private onByStep(): void {
    const { course } = this;
    const last = course.operations?.begin.length ?? 0;
    const isLast = course.focus.kind === "operation" && course.focus.index === last - 1;
    if (last > 0 && !isLast) {
      course.stepOperation(1);
      this.show();
    } else {
      this.on(PAUSE);
    }
  }

  /** Draws what is to be seen at this moment, and says it. */
  private show(): void {
    const { course, map, heat } = this;
    heat.reach(course.done);
    heat.show();
    const { focus } = course;
    if (focus.kind === "operation" && course.operations !== undefined) {
      const first = course.operations.first[focus.index]!;
      this.marks.draw(first, course.done, () => 1);
    } else if (focus.kind === "access" || !this.playing) {
      const { done } = course;
      this.marks.draw(done - TRAIL, done, (index) => 0.75 ** (done - 1 - index));
    } else {
      const window = (FADE * this.speed * 1e9) / map.head.tick_ns;
      const since = course.upTo(course.tick - window);
      this.marks.draw(since, course.done, (index) => 1 - (course.tick - map.time[index]!) / window);
    }
    this.say();
  }

  private say(): void {
    const { course, map, parts } = this;
    const decimals = this.playing ? 3 : 6;
    const time = seconds(course.nanoseconds, decimals);
    const progress = `${count(course.done)} of ${several(map.time.length, "access", "accesses")}`;
    parts.scrub.value = String(Math.round(course.tick));
    parts.scrub.setAttribute("aria-valuetext", `${time}, ${progress}`);
    setText(parts.now, `${time} · ${progress}${course.moment === "" ? "" : ` · ${course.moment}`}`);
    setText(parts.what, this.what());
    if (!this.playing) parts.link.href = this.address((course.nanoseconds / 1e9).toFixed(9));
  }

  /** The operation of this moment, or the last access. */
  private what(): string {
    const { course, map, names } = this;
    const { operations } = course;
    if (course.focus.kind === "operation" && operations !== undefined) {
      return operationInWords(map, operations, names, course.focus.index);
    }
    if (course.done === 0) return "Before the first access";
    const last = course.done - 1;
    const access = this.accessInWords(last);
    const of = operations === undefined ? undefined : operationOf(operations, last);
    if (operations === undefined || of === undefined) return access;
    return this.playing ? operationInWords(map, operations, names, of) : `${access}. ${operationInWords(map, operations, names, of)}`;
  }

  private accessInWords(index: number): string {
    const { map, names } = this;
    const byte = map.file[index]!;
    const [offset, length] = [map.offset[index]! * SECTOR_BYTES, map.length[index]! * SECTOR_BYTES];
    const kind = (byte & IS_WRITE) === 0 ? "Read" : "Write";
    return `${kind} of ${bytes(length)} at ${count(offset)} of ${names[byte & ~IS_WRITE] ?? "?"}`;
  }

  /** What lies under the pointer. */
  private point(event: PointerEvent): void {
    const { tip, stage } = this.parts;
    const box = stage.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const factor = this.layout.width / box.width;
    const found = at(this.layout, x * factor, y * factor);
    if (found === undefined) {
      tip.hidden = true;
      return;
    }
    const { block, cell } = found;
    const from = cell * this.layout.cellBytes;
    const so = this.heat.of(block, cell);
    const lines = [
      `${this.names[block.file] ?? ""}, ${bytes(this.layout.cellBytes)} from ${count(from)} on`,
      `so far ${several(so.reads, "read")}, ${several(so.writes, "write")}`,
    ];
    const last = so.reads + so.writes > 0 ? this.lastOn(block.file, from) : undefined;
    if (last !== undefined) {
      const time = this.map.head.begin_ns + this.map.time[last]! * this.map.head.tick_ns;
      lines.push(`last: ${this.accessInWords(last)}, at ${seconds(time, 6)}`);
    }
    tip.textContent = lines.join("\n");
    tip.hidden = false;
    const isRight = x > box.width / 2;
    tip.style.left = isRight ? "auto" : `${x + 14}px`;
    tip.style.right = isRight ? `${box.width - x + 14}px` : "auto";
    tip.style.top = `${y + 14}px`;
  }

  /** The last access up to now that touched a cell. */
  private lastOn(file: number, from: number): number | undefined {
    const { map } = this;
    const first = from / SECTOR_BYTES;
    const end = first + this.layout.cellBytes / SECTOR_BYTES;
    for (let index = this.course.done - 1; index >= 0; index--) {
      const offset = map.offset[index]!;
      const isOn = (map.file[index]! & ~IS_WRITE) === file && offset < end && offset + map.length[index]! > first;
      if (isOn) return index;
    }
    return undefined;
  }
}

/** A text that did not change is not touched, so that it is not read out again. */
function setText(target: HTMLElement, text: string): void {
  if (target.textContent !== text) target.textContent = text;
}

/** The one of ascending positive numbers that is nearest by its ratio. */
function nearest(numbers: number[], to: number): number {
  const far = (number: number): number => Math.abs(Math.log(number / Math.max(to, 1e-9)));
  return numbers.reduce((best, number) => (far(number) < far(best) ? number : best));
}
