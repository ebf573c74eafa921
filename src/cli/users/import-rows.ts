import { foreignHashFault, MAX_BCRYPT_COST } from '../../auth/passwords/hash-engines.js';
import { isEntityId } from '../../identifiers/entity-id.js';
import { canonicalEmail } from '../../users/email-address.js';
import type { ForeignUser } from '../../users/user-import.service.js';

/** more than any row needs */
const MAX_LINE_BYTES = 4096;
const LINE_FEED = 0x0a;

/** They never quote the row. */
export const REFUSALS = {
  line_too_long: 'longer than 4096 bytes',
  invalid_json: 'not a JSON object in UTF-8',
  unknown_field: 'a field other than email, passwordHash, emailVerified and id',
  invalid_email: 'email is not an e-mail address',
  invalid_hash: `passwordHash is neither argon2id (PHC) nor bcrypt of a cost from 4 to ${MAX_BCRYPT_COST}`,
  hash_too_costly: 'passwordHash would take more than 256 MiB, 1 GiB in all passes, or 16 lanes',
  invalid_email_verified: 'emailVerified is neither true nor false',
  invalid_id: 'id is not a UUID',
  email_taken: 'another account has this e-mail',
  id_taken: 'another account has this id',
  id_deleted: 'the account of this id was deleted',
} as const;

export type Refusal = keyof typeof REFUSALS;

type Row = Partial<Record<'email' | 'passwordHash' | 'emailVerified' | 'id', unknown>>;

const FIELDS = new Set(['email', 'passwordHash', 'emailVerified', 'id']);

/** @returns undefined for an empty line */
export function parseRow({ bytes }: Pick<Line, 'bytes'>): ForeignUser | Refusal | undefined {
  if (bytes === undefined) return 'line_too_long';
  const text = decode(bytes);
  if (text?.trim() === '') return undefined;
  const row = text === undefined ? undefined : parseObject(text);
  if (row === undefined) return 'invalid_json';
  if (Object.keys(row).some((field) => !FIELDS.has(field))) return 'unknown_field';
  return userOf(row);
}

function userOf({ email: rawEmail, passwordHash, emailVerified, id: rawId }: Row): ForeignUser | Refusal {
  const email = canonicalEmail(rawEmail);
  if (email === undefined) return 'invalid_email';
  if (typeof passwordHash !== 'string') return 'invalid_hash';
  const fault = foreignHashFault(passwordHash);
  if (fault !== undefined) return fault;
  if (emailVerified !== undefined && typeof emailVerified !== 'boolean') return 'invalid_email_verified';
  const id = typeof rawId === 'string' ? rawId.toLowerCase() : rawId;
  if (id !== undefined && !isEntityId(id)) return 'invalid_id';
  return { email, passwordHash, isEmailVerified: emailVerified === true, id };
}

function parseObject(text: string): Row | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** @returns undefined if the bytes are not UTF-8 */
function decode(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

export interface Line {
  /** counts from 1 */
  number: number;
  /** undefined if too long */
  bytes: Buffer | undefined;
}

/** Memory holds one line at a time. */
export async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Line> {
  let number = 1;
  let line = new LineBuffer();
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, from)) {
      line.append(chunk.subarray(from, end));
      yield { number, bytes: line.bytes };
      number += 1;
      line = new LineBuffer();
      from = end + 1;
    }
    line.append(chunk.subarray(from));
  }
  if (line.bytes?.length !== 0) yield { number, bytes: line.bytes };
}

class LineBuffer {
  bytes: Buffer | undefined = Buffer.alloc(0);

  append(part: Buffer): void {
    if (this.bytes === undefined) return;
    const length = this.bytes.length + part.length;
    this.bytes = length > MAX_LINE_BYTES ? undefined : Buffer.concat([this.bytes, part]);
  }
}
