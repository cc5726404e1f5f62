// The accesses of this moment, each a mark that fades, on a layer above the heat.
import { touched, type Layout } from "./layout";
import type { DiskMap } from "./unpack";

/** Marks that are drawn at most at a time, so that a frame takes no longer when there are more. */
const MOST_MARKS = 1_500;

export class Marks {
  private readonly context: CanvasRenderingContext2D;
  private colours: { read: string; write: string } = { read: "", write: "" };

  constructor(
    private readonly map: DiskMap,
    private readonly layout: Layout,
    private readonly canvas: HTMLCanvasElement,
  ) {
    canvas.width = layout.width;
    canvas.height = layout.height;
    const context = canvas.getContext("2d");
    if (context === null) throw new Error("this browser cannot draw");
    this.context = context;
    this.recolour();
  }

  recolour(): void {
    const style = getComputedStyle(this.canvas);
    const colour = (name: string): string => style.getPropertyValue(name).trim();
    this.colours = { read: colour("--read-mark"), write: colour("--write-mark") };
  }

  /** Draws the accesses from `first` to before `last`; how strong each is, from 0 to 1, is asked. */
  draw(first: number, last: number, strength: (index: number) => number): void {
    this.context.clearRect(0, 0, this.layout.width, this.layout.height);
    for (let index = Math.max(first, last - MOST_MARKS); index < last; index++) {
      const alpha = strength(index);
      if (alpha > 0.02) this.mark(index, Math.min(alpha, 1));
    }
  }

  /** Reads are filled and writes are outlined, larger the newer they are. */
  private mark(index: number, alpha: number): void {
    const { context, layout } = this;
    touched(this.map, layout, index, (block, first, last, isWrite) => {
      const side = layout.cell;
      const grow = Math.round(side * (0.4 + 1.1 * alpha));
      context.globalAlpha = alpha;
      if (isWrite) context.strokeStyle = this.colours.write;
      else context.fillStyle = this.colours.read;
      const [top, bottom] = [Math.floor(first / layout.columns), Math.floor(last / layout.columns)];
      for (let row = top; row <= bottom; row++) {
        const from = row === top ? first % layout.columns : 0;
        const to = row === bottom ? last % layout.columns : layout.columns - 1;
        const [x, y] = [from * side - grow, block.y + row * side - grow];
        const [width, height] = [(to - from + 1) * side + 2 * grow, side + 2 * grow];
        if (isWrite) {
          context.lineWidth = Math.max(1, side / 2);
          context.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
        } else {
          context.fillRect(x, y, width, height);
        }
      }
    });
  }
}
