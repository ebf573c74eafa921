import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { PwnedPasswords } from '../../config/pwned-passwords.js';

export type RangeSource = (prefix: string, signal: AbortSignal) => Promise<string>;

/** Says in words of ours why there is no list. Other errors could name the prefix. */
export class UnusableRangeError extends Error {}

const MAX_BYTES = 1_048_576;
const ENTRY = /^([0-9A-F]{35}):(\d{1,10})$/i;

export function rangeSource(source: PwnedPasswords): RangeSource {
  return source.kind === 'directory'
    ? (prefix) => readRangeFile(join(source.path, `${prefix}.txt`))
    : (prefix, signal) => requestRange(source.url + prefix, signal);
}

/** A count of 0 is padding. @throws UnusableRangeError if any line is not a suffix with its count */
export function isInRange(list: string, suffix: string): boolean {
  const lines = list.trimEnd().split(/\r?\n/);
  const entries = lines.map((line) => ENTRY.exec(line));
  if (!entries.every((entry) => entry !== null)) throw new UnusableRangeError('not a list of hashes');
  return entries.some(([, found, count]) => found!.toUpperCase() === suffix && Number(count) > 0);
}

async function readRangeFile(path: string): Promise<string> {
  // Opening a pipe would otherwise wait for its writer.
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  return readBounded(file.createReadStream());
}

/** A redirect could lead anywhere, so it is a failure. */
async function requestRange(url: string, signal: AbortSignal): Promise<string> {
  const headers = { 'Add-Padding': 'true' };
  const { status, body } = await fetch(url, { headers, redirect: 'manual', signal });
  if (status === 200 && body) return readBounded(body);
  await body?.cancel();
  throw new UnusableRangeError(`status ${status}`);
}

async function readBounded(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const read: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length > MAX_BYTES) throw new UnusableRangeError('more than 1 MiB');
    read.push(chunk);
  }
  return Buffer.concat(read).toString('latin1');
}
