import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** The lines that are written to a file from now on. */
export class LogFile {
  private readonly complete: string[] = [];
  private partial = '';
  private position: number;

  constructor(private readonly file: string) {
    this.position = this.open((descriptor) => fstatSync(descriptor).size);
  }

  lines(): string[] {
    const bytes = this.open((descriptor) => {
      const chunk = Buffer.alloc(fstatSync(descriptor).size - this.position);
      return chunk.subarray(0, readSync(descriptor, chunk, 0, chunk.length, this.position));
    });
    this.position += bytes.length;
    const lines = (this.partial + bytes.toString('latin1')).split('\n');
    this.partial = lines.pop() ?? '';
    this.complete.push(...lines.map((line) => Buffer.from(line, 'latin1').toString()));
    return this.complete;
  }

  private open<T>(use: (descriptor: number) => T): T {
    const descriptor = openSync(this.file, 'r');
    try {
      return use(descriptor);
    } finally {
      closeSync(descriptor);
    }
  }
}
