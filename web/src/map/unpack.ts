// Packed accesses of a trace, as `plimsoll_trace::diskmap::pack` writes them: its documentation says what lies where.

export type FileKind = "collection" | "index" | "journal" | "other";

export interface MappedFile {
  path: string;
  kind: FileKind;
  /** Bytes. */
  size: number;
  reads: number;
  writes: number;
  read_bytes: number;
  written_bytes: number;
  touched_bytes: number;
}

export interface Moment {
  tick: number;
  label: string;
}

/** Columns of equal length, in the order in which operations began. */
export interface Operations {
  sessions: number;
  points: string[];
  point: number[];
  number: number[];
  kind: string[];
  session: number[];
  begin: number[];
  end: number[];
  first: number[];
  count: number[];
}

export interface LeftOut {
  before: number;
  after: number;
  files: number;
  elsewhere: number;
  overwritten: number;
  operations: number;
}

export interface Head {
  accesses: number;
  tick_ns: number;
  begin_ns: number;
  columns: number;
  cell_bytes: number;
  files: MappedFile[];
  moments: Moment[];
  operations?: Operations;
  left_out: LeftOut;
}

/** Accesses in the order of time. */
export interface DiskMap {
  head: Head;
  /** Ticks since the beginning. */
  time: Uint32Array;
  /** Sectors of 512 bytes in the file. */
  offset: Uint32Array;
  /** Sectors. */
  length: Uint32Array;
  /** Place among the files; `IS_WRITE` more for a write. */
  file: Uint8Array;
}

export const SECTOR_BYTES = 512;
export const IS_WRITE = 0x80;

const MAGIC = "PLMDKMAP";
const VERSION = 1;
const HEAD_AT = 16;
const ACCESS_BYTES = 13;

/** Reads what was packed. Fails with words for people. */
export async function unpack(packed: Uint8Array<ArrayBuffer>): Promise<DiskMap> {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  if (packed.length < HEAD_AT) throw new Error("the map is cut off");
  if (String.fromCharCode(...packed.subarray(0, 8)) !== MAGIC) throw new Error("this is no disk map");
  if (view.getUint32(8, true) !== VERSION) {
    throw new Error("the map is of another version than this page: make the page again");
  }
  const body = HEAD_AT + view.getUint32(12, true);
  if (body > packed.length) throw new Error("the map is cut off");
  const head = JSON.parse(new TextDecoder().decode(packed.subarray(HEAD_AT, body))) as Head;
  const columns = await inflate(packed.subarray(body));
  const count = head.accesses;
  if (columns.length !== ACCESS_BYTES * count) throw new Error("the map is cut off");
  const time = words(columns, 0, count);
  const offset = words(columns, 1, count);
  const length = words(columns, 2, count);
  const file = columns.slice(12 * count);
  const ends = new Uint32Array(head.files.length);
  let tick = 0;
  for (let index = 0; index < count; index++) {
    tick += time[index]!;
    time[index] = tick;
    const of = file[index]! & ~IS_WRITE;
    if (of >= ends.length) throw new Error("the map is damaged: an access is to no file");
    const folded = offset[index]!;
    const begin = (ends[of]! + ((folded >>> 1) ^ -(folded & 1))) >>> 0;
    offset[index] = begin;
    ends[of] = begin + length[index]!;
  }
  return { head, time, offset, length, file };
}

async function inflate(deflated: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([deflated]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** The numbers of a column, of which the lowest bytes come first. */
function words(columns: Uint8Array, column: number, count: number): Uint32Array {
  const numbers = new Uint32Array(count);
  for (let plane = 0; plane < 4; plane++) {
    const at = (column * 4 + plane) * count;
    const shift = 8 * plane;
    for (let index = 0; index < count; index++) numbers[index]! |= columns[at + index]! << shift;
  }
  return numbers;
}
