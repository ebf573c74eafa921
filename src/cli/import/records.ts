import { open, stat } from 'node:fs/promises';
import { CannotRunError } from '../command/definition.js';

export type Row = Record<string, unknown>;

/** Where a row stands: in a document, as which user. */
export type RowPosition = { line: number } | { user: number };

export const MAX_LINE_BYTES = 65_536;
const MAX_DOCUMENT_BYTES = 256 * 2 ** 20;

export async function openFile(name: string): Promise<AsyncIterable<Buffer>> {
  if (name === '-') return process.stdin;
  try {
    if ((await stat(name)).isDirectory()) throw new Error(`${name} is a directory`);
    return (await open(name)).createReadStream() as AsyncIterable<Buffer>;
  } catch (error) {
    throw new CannotRunError(`the file cannot be read: ${(error as Error).message}`);
  }
}

const LINE_FEED = 0x0a;
/** The bytes are undefined if the line is too long. Only the last line can lack its line feed. */
type Line = { line: number; bytes: Buffer | undefined; hasEnd: boolean };

export async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Line> {
  let line = 1;
  let bytes: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, from)) {
      yield { line, bytes: extended(bytes, chunk.subarray(from, end)), hasEnd: true };
      line += 1;
      bytes = Buffer.alloc(0);
      from = end + 1;
    }
    bytes = extended(bytes, chunk.subarray(from));
  }
  if (bytes?.length !== 0) yield { line, bytes, hasEnd: false };
}

function extended(line: Buffer | undefined, part: Buffer): Buffer | undefined {
  return line && line.length + part.length <= MAX_LINE_BYTES ? Buffer.concat([line, part]) : undefined;
}

/** Returns undefined unless the bytes are UTF-8. Drops a byte order mark. */
export function textOf(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** The error of JSON.parse would quote the row. */
export function jsonOf(text = ''): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function asRow(value: unknown): Row | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Row) : undefined;
}

/** A list, an object over several lines, or an object with a list of users. */
const DOCUMENT = /^(?:\[|\{\s*$|.*"users"\s*:\s*\[)/;

/** Returns the users of a document, or all chunks again if the file has one user a line. */
export async function readDocument(
  chunks: AsyncIterable<Buffer>,
): Promise<{ users: unknown[] } | { chunks: AsyncIterable<Buffer> }> {
  const iterator = chunks[Symbol.asyncIterator]();
  const begin = await iterator.next();
  const head = begin.done ? Buffer.alloc(0) : begin.value;
  const [first = '', ...others] = head.toString().trimStart().split('\n');
  const isUnfinished = first !== '' && others.length === 0 && jsonOf(first) === undefined;
  const whole = joined(head, iterator);
  return isUnfinished || DOCUMENT.test(first) ? { users: await readUsers(whole) } : { chunks: whole };
}

async function* joined(head: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield head;
  yield* { [Symbol.asyncIterator]: () => rest };
}

async function readUsers(chunks: AsyncIterable<Buffer>): Promise<unknown[]> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of chunks) {
    length += part.length;
    if (length > MAX_DOCUMENT_BYTES)
      throw new CannotRunError('the document is larger than 256 MiB: split it, or give one user a line');
    parts.push(part);
  }
  const value = jsonOf(textOf(Buffer.concat(parts)));
  if (value === undefined) throw new CannotRunError('the document is not JSON in UTF-8');
  const users = Array.isArray(value) ? value : asRow(value)?.['users'];
  if (Array.isArray(users)) return users;
  throw new CannotRunError('the document has no users: expected [ … ] or { "users": [ … ] }');
}
