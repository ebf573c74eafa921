const CHUNK_BITS = 16;
const CHUNK_LENGTH = 2 ** CHUNK_BITS;
const CHUNK_MASK = CHUNK_LENGTH - 1;

type Numbers = Uint32Array | Float64Array;

/**
 * A long array of numbers, all 0 at first, that takes memory 65,536 elements at a time, when they are first
 * written. Growing copies nothing, and the garbage collector has nothing to trace.
 */
export class ChunkedArray {
  private readonly chunks: Numbers[] = [];

  constructor(private readonly NumberArray: new (length: number) => Numbers) {}

  get(index: number): number {
    return this.chunks[index >>> CHUNK_BITS]?.[index & CHUNK_MASK] ?? 0;
  }

  set(index: number, value: number): void {
    const chunk = index >>> CHUNK_BITS;
    while (this.chunks.length <= chunk) this.chunks.push(new this.NumberArray(CHUNK_LENGTH));
    this.chunks[chunk]![index & CHUNK_MASK] = value;
  }
}
