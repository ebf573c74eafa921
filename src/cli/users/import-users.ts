import { open } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OperatorActor } from '../../access/principal.js';
import {
  foreignHashFault,
  loadBcrypt,
  MAX_BCRYPT_COST,
  readBcryptCost,
} from '../../auth/passwords/hash-engines.js';
import { MAX_ROWS_AT_ONCE } from '../../database/statements.js';
import { isEntityId } from '../../identifiers/entity-id.js';
import { canonicalEmail } from '../../users/email-address.js';
import {
  type Profile,
  PROFILE,
  PROFILE_FIELDS,
  type ProfileFieldName,
  profileOf,
} from '../../users/profile.js';
import type { ForeignUser, ImportOutcome } from '../../users/user-import.service.js';
import { CannotRunError, type Invocation, type Report } from '../command/definition.js';
import type { Services } from '../command/cli.module.js';
import { withServices } from '../command/services.js';

/** On SQLite, a running service waits for each transaction. */
const BATCH_ROWS = { sqlite: 100, mysql: MAX_ROWS_AT_ONCE };

const MAX_LINE_BYTES = 4096;
const LINE_FEED = 0x0a;

/** Must not quote the row, which contains a hash. */
export const REFUSALS = {
  line_too_long: 'longer than 4096 bytes',
  invalid_json: 'not a JSON object in UTF-8',
  unknown_field: `a field other than email, passwordHash, emailVerified, id, ${PROFILE_FIELDS.join(', ')}`,
  invalid_email: 'email is not an email address',
  invalid_hash: `passwordHash is neither argon2id (PHC) nor bcrypt with a cost from 4 to ${MAX_BCRYPT_COST}`,
  hash_too_costly: 'passwordHash would take more than 256 MiB, 1 GiB in all passes, or 16 lanes',
  invalid_email_verified: 'emailVerified is neither true nor false',
  invalid_id: 'id is not a UUID',
  invalid_name: `name ${PROFILE.name.expected}`,
  invalid_avatar_url: `avatarUrl ${PROFILE.avatarUrl.expected}`,
  invalid_locale: `locale ${PROFILE.locale.expected}`,
  email_taken: 'another user has this email',
  id_taken: 'another user has this id',
  id_deleted: 'the user with this id was deleted',
} as const;

export type Refusal = keyof typeof REFUSALS;

type Row = Partial<Record<'email' | 'passwordHash' | 'emailVerified' | 'id' | ProfileFieldName, unknown>>;

const FIELDS = new Set<string>(['email', 'passwordHash', 'emailVerified', 'id', ...PROFILE_FIELDS]);

interface Line {
  number: number;
  bytes: Buffer | undefined;
}

interface ParsedLine {
  number: number;
  parsed: ForeignUser | Refusal;
}

/** A second run skips the users that the first run imported. */
export async function importUsers(invocation: Invocation): Promise<Report> {
  const progress = { imported: 0, skipped: 0, refused: 0 };
  const textOf = (prefix = ''): string =>
    `${prefix}imported ${progress.imported}, skipped ${progress.skipped} that already exist, refused ${progress.refused}`;
  const actor = invocation.operator();
  const chunks = await openFile(invocation.parameters[0]!);
  return withServices(async (services) => {
    const { engine } = services.env.database;
    try {
      for await (const lines of batchesOf(linesOf(chunks), BATCH_ROWS[engine])) {
        const began = performance.now();
        const outcomes = await importBatch(services, lines, actor);
        const tookMs = performance.now() - began;
        for (const [index, { number: line }] of lines.entries()) {
          const outcome = outcomes[index]!;
          if (outcome === 'imported') progress.imported += 1;
          else if (outcome === 'present') progress.skipped += 1;
          else {
            progress.refused += 1;
            const reason = REFUSALS[outcome];
            await invocation.print(`line ${line}: ${reason} (${outcome})`, {
              line,
              refused: outcome,
              reason,
            });
          }
        }
        // A service on the same SQLite file gets as much time as the import.
        if (engine === 'sqlite') await sleep(tookMs);
      }
    } catch (error) {
      await invocation.print(textOf('stopped: '), { ...progress, stopped: true });
      throw error;
    }
    return { lines: [textOf()], json: [progress], isRed: progress.refused > 0 };
  });
}

async function openFile(name: string): Promise<AsyncIterable<Buffer>> {
  if (name === '-') return process.stdin;
  try {
    const file = await open(name);
    if ((await file.stat()).isDirectory()) throw new Error(`${name} is a directory`);
    return file.createReadStream() as AsyncIterable<Buffer>;
  } catch (error) {
    throw new CannotRunError(`the file cannot be read: ${(error as Error).message}`);
  }
}

export async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Line> {
  let number = 1;
  let bytes: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, from)) {
      yield { number, bytes: extended(bytes, chunk.subarray(from, end)) };
      number += 1;
      bytes = Buffer.alloc(0);
      from = end + 1;
    }
    bytes = extended(bytes, chunk.subarray(from));
  }
  if (bytes?.length !== 0) yield { number, bytes };
}

function extended(line: Buffer | undefined, part: Buffer): Buffer | undefined {
  return line && line.length + part.length <= MAX_LINE_BYTES ? Buffer.concat([line, part]) : undefined;
}

async function* batchesOf(lines: AsyncIterable<Line>, size: number): AsyncGenerator<ParsedLine[]> {
  let batch: ParsedLine[] = [];
  for await (const line of lines) {
    const parsed = parseRow(line);
    if (parsed !== undefined) batch.push({ number: line.number, parsed });
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

export function parseRow({ bytes }: Pick<Line, 'bytes'>): ForeignUser | Refusal | undefined {
  if (bytes === undefined) return 'line_too_long';
  if (bytes.toString().trim() === '') return undefined;
  const row = parseObject(bytes);
  if (row === undefined) return 'invalid_json';
  if (Object.keys(row).some((field) => !FIELDS.has(field))) return 'unknown_field';
  return userOf(row);
}

function parseObject(bytes: Buffer): Row | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function userOf(row: Row): ForeignUser | Refusal {
  const { email: rawEmail, passwordHash, emailVerified, id: rawId } = row;
  const email = canonicalEmail(rawEmail);
  if (email === undefined) return 'invalid_email';
  if (typeof passwordHash !== 'string') return 'invalid_hash';
  const fault = foreignHashFault(passwordHash);
  if (fault !== undefined) return fault;
  if (emailVerified !== undefined && typeof emailVerified !== 'boolean') return 'invalid_email_verified';
  const id = typeof rawId === 'string' ? rawId.toLowerCase() : rawId;
  if (id !== undefined && !isEntityId(id)) return 'invalid_id';
  const profile = profileIn(row);
  if (typeof profile === 'string') return profile;
  return { email, passwordHash, isEmailVerified: emailVerified === true, id, profile };
}

function profileIn(row: Row): Profile | Refusal {
  const profile = profileOf({});
  for (const name of PROFILE_FIELDS) {
    const value = row[name] ?? null;
    profile[name] = value === null ? null : (PROFILE[name].read(value) ?? null);
    if (value !== null && profile[name] === null) return `invalid_${PROFILE[name].column}`;
  }
  return profile;
}

/** @throws CannotRunError if bcrypt is missing, because the users could not log in */
async function importBatch(
  { userImport }: Services,
  lines: readonly ParsedLine[],
  actor: OperatorActor,
): Promise<(ImportOutcome | Refusal)[]> {
  const users = lines.flatMap(({ parsed }) => (typeof parsed === 'string' ? [] : parsed));
  if (users.some(({ passwordHash }) => readBcryptCost(passwordHash) !== undefined)) {
    await loadBcrypt().catch(() => {
      throw new CannotRunError('bcrypt hashes need the optional package bcrypt, which is not installed here');
    });
  }
  const outcomes = await userImport.importAll(users, actor);
  return lines.map(({ parsed }) => (typeof parsed === 'string' ? parsed : outcomes.shift()!));
}
