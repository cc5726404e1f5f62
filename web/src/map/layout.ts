// Where each part of each file is on the picture: row by row from its first byte, all files at one scale.
import { IS_WRITE, SECTOR_BYTES, type DiskMap, type MappedFile } from "./unpack";

/** One file on the picture. */
export interface Block {
  /** Its place among the files of the map. */
  file: number;
  /** The first of its cells, among those of all blocks. */
  firstCell: number;
  cells: number;
  rows: number;
  /** Of its label and of its first row, pixels of the picture. */
  labelY: number;
  y: number;
}

export interface Layout {
  columns: number;
  cellBytes: number;
  /** Pixels of the side of a cell. */
  cell: number;
  width: number;
  height: number;
  blocks: Block[];
  /** For each file of the map its block, or none where it is not shown. */
  blockOf: (Block | undefined)[];
  cells: number;
}

/** Bytes that share a cell, so that files of these sizes fill a square of so many columns: as `plimsoll_trace::diskmap::Layout` has it. */
export function cellBytes(sizes: number[], columns: number): number {
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  const least = Math.max(Math.ceil(bytes / (columns * columns)), SECTOR_BYTES);
  return Math.ceil(least / SECTOR_BYTES) * SECTOR_BYTES;
}

/** Lays out the chosen files in so many columns of cells; `line` is the height of a label in pixels. */
export function layout(files: MappedFile[], chosen: boolean[], columns: number, cell: number, line: number): Layout {
  const shown = files.flatMap((file, index) => (chosen[index] ? [{ file, index }] : []));
  const bytes = cellBytes(shown.map(({ file }) => file.size), columns);
  const blocks: Block[] = [];
  const blockOf: (Block | undefined)[] = files.map(() => undefined);
  let y = 0;
  let cells = 0;
  for (const { file, index } of shown) {
    const own = Math.max(Math.ceil(file.size / bytes), 1);
    const rows = Math.ceil(own / columns);
    const block = { file: index, firstCell: cells, cells: own, rows, labelY: y, y: y + line };
    blocks.push(block);
    blockOf[index] = block;
    cells += own;
    y += line + rows * cell + Math.round(line / 3);
  }
  return { columns, cellBytes: bytes, cell, width: columns * cell, height: Math.max(y, 2 * line), blocks, blockOf, cells };
}

/** Calls back with the block and its first and last cell that an access touches, if its file is shown. */
export function touched(
  map: DiskMap,
  layout: Layout,
  index: number,
  take: (block: Block, first: number, last: number, isWrite: boolean) => void,
): void {
  const byte = map.file[index]!;
  const block = layout.blockOf[byte & ~IS_WRITE];
  if (block === undefined) return;
  const sectors = layout.cellBytes / SECTOR_BYTES;
  const offset = map.offset[index]!;
  const first = Math.floor(offset / sectors);
  const last = Math.min(Math.floor((offset + map.length[index]! - 1) / sectors), block.cells - 1);
  take(block, first, last, (byte & IS_WRITE) !== 0);
}

/** The block and the cell at a place of the picture. */
export function at(layout: Layout, x: number, y: number): { block: Block; cell: number } | undefined {
  for (const block of layout.blocks) {
    const row = Math.floor((y - block.y) / layout.cell);
    const column = Math.floor(x / layout.cell);
    const cell = row * layout.columns + column;
    const isInside = y >= block.y && column >= 0 && column < layout.columns && cell < block.cells;
    if (isInside) return { block, cell };
  }
  return undefined;
}
