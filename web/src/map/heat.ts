// What was touched so far, or in the whole run: counted for each cell, and drawn pixel by pixel into a layer of its own.
import { touched, type Block, type Layout } from "./layout";
import type { DiskMap } from "./unpack";

const SHADES = 16;
/** From so many accesses on, counting first and drawing once is faster. */
const MANY = 20_000;

/** Shades from few accesses to many, as pixels. */
export interface Shades {
  reads: Uint32Array;
  writes: Uint32Array;
}

/** A pixel of the colour that is `share` of the way from `few` to `many`, both `#rrggbb`. */
function between(few: string, many: string, share: number): number {
  const part = (at: number): number => {
    const [from, to] = [few, many].map((colour) => Number.parseInt(colour.slice(at, at + 2), 16)) as [number, number];
    return Math.round(from + (to - from) * share);
  };
  // A canvas holds red, green, blue and opacity one after the other, which as one number begins with the last.
  return ((255 << 24) | (part(5) << 16) | (part(3) << 8) | part(1)) >>> 0;
}

/** The shades that the style sheet names. */
export function shadesOf(element: Element): Shades {
  const style = getComputedStyle(element);
  const shade = (name: string): Uint32Array => {
    const [few, many] = ["few", "many"].map((end) => style.getPropertyValue(`--${name}-${end}`).trim()) as [string, string];
    return Uint32Array.from({ length: SHADES }, (_, index) => between(few, many, index / (SHADES - 1)));
  };
  return { reads: shade("read"), writes: shade("write") };
}

/** Counts of each cell. */
interface Counts {
  reads: Uint32Array;
  writes: Uint32Array;
}

export class Heat {
  private readonly context: CanvasRenderingContext2D;
  private readonly image: ImageData;
  private readonly pixels: Uint32Array;
  private readonly soFar: Counts;
  private readonly all: Counts;
  /** The shade of each number of accesses, up to the most. */
  private readonly shadeOf: Uint8Array;
  /** Accesses that are counted in `soFar`. */
  private done = 0;
  /** Rows of pixels that changed since they were last shown. */
  private dirty: [number, number] = [Infinity, -Infinity];
  private showsAll = false;

  constructor(
    private readonly map: DiskMap,
    private readonly layout: Layout,
    canvas: HTMLCanvasElement,
    private shades: Shades,
  ) {
    canvas.width = layout.width;
    canvas.height = layout.height;
    const context = canvas.getContext("2d");
    if (context === null) throw new Error("this browser cannot draw");
    this.context = context;
    this.image = context.createImageData(layout.width, layout.height);
    this.pixels = new Uint32Array(this.image.data.buffer);
    const counts = (): Counts => ({ reads: new Uint32Array(layout.cells), writes: new Uint32Array(layout.cells) });
    this.soFar = counts();
    this.all = counts();
    for (let index = 0; index < map.head.accesses; index++) this.count(this.all, index, 1);
    let most = 1;
    for (let cell = 0; cell < layout.cells; cell++) {
      most = Math.max(most, this.all.reads[cell]!, this.all.writes[cell]!);
    }
    this.shadeOf = Uint8Array.from({ length: Math.min(most, 65_535) + 1 }, (_, number) =>
      Math.round((Math.log1p(number) / Math.log1p(most)) * (SHADES - 1)),
    );
  }

  /** Counts the accesses before `index`, forwards or backwards from where it was. */
  reach(index: number): void {
    const steps = Math.abs(index - this.done);
    if (steps > MANY || index < this.done / 2) {
      if (index < this.done / 2) {
        this.soFar.reads.fill(0);
        this.soFar.writes.fill(0);
        this.done = 0;
      }
      for (; this.done < index; this.done++) this.count(this.soFar, this.done, 1);
      while (this.done > index) this.count(this.soFar, --this.done, -1);
      this.repaint();
      return;
    }
    for (; this.done < index; this.done++) this.countAndPaint(this.done, 1);
    while (this.done > index) this.countAndPaint(--this.done, -1);
  }

  /** Whether the heat of the whole run is shown, or that of what was reached. */
  showAll(all: boolean): void {
    this.showsAll = all;
    this.repaint();
  }

  recolour(shades: Shades): void {
    this.shades = shades;
    this.repaint();
  }

  /** What was counted of a cell. */
  of(block: Block, cell: number): { reads: number; writes: number } {
    const at = block.firstCell + cell;
    return { reads: this.soFar.reads[at] ?? 0, writes: this.soFar.writes[at] ?? 0 };
  }

  /** Brings what changed onto the canvas. */
  show(): void {
    const [from, to] = this.dirty;
    if (to <= from) return;
    this.context.putImageData(this.image, 0, 0, 0, from, this.layout.width, to - from);
    this.dirty = [Infinity, -Infinity];
  }

  private count(counts: Counts, index: number, by: number): void {
    touched(this.map, this.layout, index, (block, first, last, isWrite) => {
      const column = isWrite ? counts.writes : counts.reads;
      for (let cell = block.firstCell + first; cell <= block.firstCell + last; cell++) column[cell]! += by;
    });
  }

  private countAndPaint(index: number, by: number): void {
    touched(this.map, this.layout, index, (block, first, last, isWrite) => {
      const column = isWrite ? this.soFar.writes : this.soFar.reads;
      for (let cell = first; cell <= last; cell++) {
        column[block.firstCell + cell]! += by;
        if (!this.showsAll) this.paint(block, cell, this.soFar);
      }
    });
  }

  private repaint(): void {
    const counts = this.showsAll ? this.all : this.soFar;
    this.pixels.fill(0);
    for (const block of this.layout.blocks) {
      for (let cell = 0; cell < block.cells; cell++) this.paint(block, cell, counts);
    }
    this.dirty = [0, this.layout.height];
  }

  /** Cells that are mostly read are filled, those that are mostly written are dotted: told apart without colours as well. */
  private paint(block: Block, cell: number, counts: Counts): void {
    const { columns, cell: side, width } = this.layout;
    const reads = counts.reads[block.firstCell + cell]!;
    const writes = counts.writes[block.firstCell + cell]!;
    const isWrite = writes > reads;
    const number = isWrite ? writes : reads;
    const shade = this.shadeOf[Math.min(number, this.shadeOf.length - 1)]!;
    const pixel = number === 0 ? 0 : isWrite ? this.shades.writes[shade]! : this.shades.reads[shade]!;
    const top = block.y + Math.floor(cell / columns) * side;
    const left = (cell % columns) * side;
    const dot = side >> 1;
    for (let y = 0; y < side; y++) {
      const row = (top + y) * width + left;
      for (let x = 0; x < side; x++) {
        const isDot = ((x / dot) ^ (y / dot)) % 2 === 0;
        this.pixels[row + x] = isWrite && !isDot ? 0 : pixel;
      }
    }
    if (top < this.dirty[0]) this.dirty[0] = top;
    if (top + side > this.dirty[1]) this.dirty[1] = top + side;
  }
}
