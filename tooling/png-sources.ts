import { hash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';

const SIGNATURE_BYTES = 8;
const KEYWORD = 'Sources';

/** The picture with a record of the files that it shows, and of what they contain now. */
export function withSources(png: Buffer, patterns: string[]): Buffer {
  const text = Buffer.from(`tEXt${KEYWORD}\0${digestOf(patterns)} ${patterns.join(' ')}`, 'latin1');
  const chunk = Buffer.alloc(text.length + 8);
  chunk.writeUInt32BE(text.length - 4);
  text.copy(chunk, 4);
  chunk.writeUInt32BE(crc32(text), text.length + 4);
  // After the first chunk, IHDR, which has 13 bytes.
  const place = SIGNATURE_BYTES + 12 + 13;
  return Buffer.concat([png.subarray(0, place), chunk, png.subarray(place)]);
}

/** @returns `undefined` for a picture without such a record */
export function isCurrent(png: Buffer): boolean | undefined {
  for (let at = SIGNATURE_BYTES; at < png.length;) {
    const length = png.readUInt32BE(at);
    const [keyword, text] = png
      .subarray(at + 4, at + 8 + length)
      .toString('latin1')
      .split('\0');
    if (keyword === `tEXt${KEYWORD}`) {
      const [digest, ...patterns] = text!.split(' ');
      return digest === digestOf(patterns);
    }
    at += length + 12;
  }
  return undefined;
}

function digestOf(patterns: string[]): string {
  const files = patterns.flatMap((pattern) => globSync(pattern).toSorted());
  if (files.length < patterns.length) throw new Error(`a file is missing: ${patterns.join(', ')}`);
  return hash('sha256', files.map((file) => `${file}\n${readFileSync(file, 'utf8')}`).join('\n'));
}
