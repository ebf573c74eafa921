import { Env } from '../../config/env.js';
import {
  type EarlierUsers,
  type ForeignUser,
  type ImportOutcome,
  UserImportService,
} from '../../accounts/user-import.service.js';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadBcrypt } from '../../auth/passwords/foreign-hashes.js';
import { unknownPasswordHash } from '../../auth/passwords/hash-engines.js';
import { inBatches, MAX_ROWS_AT_ONCE } from '../../database/statements.js';
import { CannotRunError, type Invocation, type Report } from '../command/definition.js';
import { withContext } from '../command/context.js';
import { AUTH0 } from './auth0.js';
import { CSV } from './csv.js';
import { FIREBASE } from './firebase.js';
import { type ImportFormat, type ImportRow, Refused, userOf } from './format.js';
import { JSONL } from './jsonl.js';
import { KEYCLOAK } from './keycloak.js';
import {
  asRow,
  linesOf,
  jsonOf,
  openFile,
  type RowPosition,
  readDocument,
  type Row,
  textOf,
} from './records.js';

export const FORMATS: Record<string, ImportFormat> = {
  csv: CSV,
  jsonl: JSONL,
  auth0: AUTH0,
  firebase: FIREBASE,
  keycloak: KEYCLOAK,
};

/** On SQLite, a running service waits for each transaction. */
const BATCH_ROWS = { sqlite: 100, mysql: MAX_ROWS_AT_ONCE };

type LocatedRow = { position: RowPosition; row: ImportRow | Refused };

/** A second run skips the users that the first run imported. */
export async function importUsers(invocation: Invocation): Promise<Report> {
  const format = await formatOf(invocation);
  const [isDryRun, isAllOrNothing] = [invocation.flag('dryRun'), invocation.flag('allOrNothing')];
  const actor = invocation.operator();
  const chunks = await openFile(invocation.parameters[0]!);
  let progress = { imported: 0, skipped: 0, refused: 0 };
  const textOfProgress = (prefix: string): string =>
    `${prefix}imported ${progress.imported}, skipped ${progress.skipped} that already exist, refused ${progress.refused}`;
  const count = async (position: RowPosition, outcome: ImportOutcome | Refused): Promise<void> => {
    if (outcome === 'imported') progress.imported += 1;
    else if (outcome === 'present') progress.skipped += 1;
    else {
      progress.refused += 1;
      const { code, field, reason } = outcome instanceof Refused ? outcome : new Refused(outcome);
      const where = Object.entries(position).flat().join(' ');
      await invocation.print(`${where}: ${reason} (${code})`, { ...position, refused: code, field, reason });
    }
  };
  return withContext(async (context) => {
    const env = context.get(Env);
    const { engine } = env.database;
    const service = context.get(UserImportService);
    const earlier: EarlierUsers = { byEmail: new Map(), ids: new Set() };
    const checked: LocatedRow[] = [];
    const importBatch = async (rows: LocatedRow[], isWritten: boolean): Promise<void> => {
      const users = await usersOf(env, rows);
      const began = performance.now();
      const outcomes = isWritten
        ? await service.importAll(users, actor)
        : (await service.check(users, earlier)).outcomes;
      const tookMs = performance.now() - began;
      for (const { position, row } of rows)
        await count(position, row instanceof Refused ? row : outcomes.shift()!);
      // A service on the same SQLite file gets as much time as the import.
      if (engine === 'sqlite' && isWritten) await sleep(tookMs);
    };
    try {
      for await (const rows of batchesOf(rowsOf(chunks, format), BATCH_ROWS[engine])) {
        await importBatch(rows, !isDryRun && !isAllOrNothing);
        if (isAllOrNothing && !isDryRun) checked.push(...rows);
      }
      if (checked.length > 0) progress = { imported: 0, skipped: 0, refused: progress.refused };
      if (progress.refused === 0)
        for await (const rows of inBatches(checked, BATCH_ROWS[engine])) await importBatch(rows, true);
    } catch (error) {
      await invocation.print(textOfProgress('stopped: '), { ...progress, stopped: true });
      throw error;
    }
    const { imported, skipped, refused } = progress;
    if (imported + skipped + refused === 0) throw new CannotRunError('the file has no users');
    return {
      lines: [textOfProgress(isDryRun ? 'dry run: would have ' : '')],
      json: [{ ...progress, ...(isDryRun && { dryRun: true }) }],
      isRed: refused > 0,
    };
  });
}

async function formatOf(invocation: Invocation): Promise<ImportFormat> {
  const name = invocation.choice('format', Object.keys(FORMATS)) ?? 'jsonl';
  const format = FORMATS[name]!;
  const file = invocation.text('hashConfig');
  if ((file !== undefined) !== (format.withHashConfig !== undefined)) {
    throw new CannotRunError(`--hash-config is ${file === undefined ? 'required' : 'unknown'} with ${name}`);
  }
  return file === undefined ? format : format.withHashConfig!(await text(await openFile(file)));
}

/** @throws CannotRunError if bcrypt is missing, because the users could not log in */
async function usersOf({ argon2 }: Env, rows: readonly LocatedRow[]): Promise<ForeignUser[]> {
  // The same in every run, so that a second run finds the user.
  const none = (email: string): string => unknownPasswordHash(argon2, `no password: ${email}`);
  const users = rows.flatMap(({ row }) =>
    row instanceof Refused ? [] : { ...row, passwordHash: row.passwordHash ?? none(row.email) },
  );
  if (users.some(({ passwordHash }) => passwordHash.startsWith('$2'))) {
    await loadBcrypt().catch(() => {
      throw new CannotRunError('bcrypt hashes need the optional package bcrypt, which is not installed here');
    });
  }
  return users;
}

async function* batchesOf(rows: AsyncIterable<LocatedRow>, size: number): AsyncGenerator<LocatedRow[]> {
  let batch: LocatedRow[] = [];
  for await (const row of rows) {
    batch.push(row);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

export async function* rowsOf(
  chunks: AsyncIterable<Buffer>,
  format: ImportFormat,
): AsyncGenerator<LocatedRow> {
  const file = format.isStrict ? { chunks } : await readDocument(chunks);
  if ('users' in file) {
    for (const [index, user] of file.users.entries())
      yield* placed({ user: index + 1 }, asRow(user) ?? new Refused('invalid_json'), format);
    return;
  }
  const readJson = (line: Buffer) => asRow(jsonOf(textOf(line))) ?? new Refused('invalid_json');
  const read = format.readerOfLines?.() ?? readJson;
  for await (const { line, bytes } of linesOf(file.chunks)) {
    const row = bytes ? read(bytes) : new Refused('line_too_long');
    if (bytes?.toString().trim() !== '') yield* placed({ line }, row, format);
  }
}

function* placed(
  position: RowPosition,
  row: Row | Refused | undefined,
  format: ImportFormat,
): Generator<LocatedRow> {
  if (row instanceof Refused) yield { position, row };
  else if (row && !format.isSkipped?.(row)) yield { position, row: userOf(row, format) };
}
