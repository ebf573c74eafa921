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
import { inBatches, MAX_ROWS_AT_ONCE } from '../../database/statements.js';
import { CannotRunError, type Invocation, type Report } from '../command/definition.js';
import { secretsOf, withContext } from '../command/context.js';
import { NO_PASSWORD_HASH } from '../../users/user.entity.js';
import { AUTH0 } from './auth0.js';
import { CSV } from './csv.js';
import { FIREBASE } from './firebase.js';
import { type ImportFormat, type ImportRow, namesOf, Refused, SECOND_FACTORS, userOf } from './format.js';
import { JSONL, readJsonLine } from './jsonl.js';
import { KEYCLOAK } from './keycloak.js';
import { asRow, linesOf, openFile, type RowPosition, readDocument, type Row } from './records.js';

export const FORMATS: Record<string, ImportFormat> = {
  csv: CSV,
  jsonl: JSONL,
  auth0: AUTH0,
  firebase: FIREBASE,
  keycloak: KEYCLOAK,
};

/** On SQLite, a running service waits for each transaction. */
const BATCH_ROWS = { sqlite: 100, mysql: MAX_ROWS_AT_ONCE };

interface LocatedRow {
  position: RowPosition;
  row: ImportRow | Refused;
  names: { email?: string; name?: string };
  leftOut: string[];
}

/** A second run skips the users that the first run imported. */
export async function importUsers(invocation: Invocation): Promise<Report> {
  const format = await formatOf(invocation);
  const [isDryRun, isAllOrNothing] = [invocation.flag('dryRun'), invocation.flag('allOrNothing')];
  const actor = invocation.operator();
  const chunks = await openFile(invocation.parameters[0]!);
  let progress = { imported: 0, skipped: 0, refused: 0 };
  let extras = new ImportedExtras();
  const textOfProgress = (prefix: string): string =>
    `${prefix}imported ${progress.imported}, skipped ${progress.skipped} that already exist, refused ${progress.refused}`;
  const count = async (located: LocatedRow, outcome: ImportOutcome | Refused): Promise<void> => {
    const { position, names } = located;
    if (outcome === 'imported') {
      progress.imported += 1;
      extras.add(located);
    } else if (outcome === 'present') progress.skipped += 1;
    else {
      progress.refused += 1;
      const { code, field, reason } = outcome instanceof Refused ? outcome : new Refused(outcome);
      const where = [Object.entries(position).flat().join(' '), ...Object.values(names)].join(', ');
      const json = { ...position, ...names, refused: code, field, reason };
      await invocation.print(`${where}: ${reason} (${code})`, json);
    }
  };
  return withContext(async (context) => {
    const env = context.get(Env);
    const { engine } = env.database;
    const service = context.get(UserImportService);
    const earlier: EarlierUsers = { byEmail: new Map(), ids: new Set() };
    const checked: LocatedRow[] = [];
    const importBatch = async (rows: LocatedRow[], isWritten: boolean): Promise<void> => {
      const users = await usersOf(rows);
      const hasSecrets = users.some(({ totpSecret }) => totpSecret);
      const secrets = hasSecrets ? secretsOf(context, 'second factor secrets') : undefined;
      const began = performance.now();
      const outcomes = isWritten
        ? await service.importAll(users, actor, secrets)
        : (await service.check(users, earlier)).outcomes;
      const tookMs = performance.now() - began;
      for (const one of rows) await count(one, one.row instanceof Refused ? one.row : outcomes.shift()!);
      const { imported, skipped, refused } = progress;
      invocation.showProgress(`${numberText(imported + skipped + refused)} users`);
      // A service on the same SQLite file gets as much time as the import.
      if (engine === 'sqlite' && isWritten) await sleep(tookMs);
    };
    try {
      for await (const rows of batchesOf(rowsOf(chunks, format), BATCH_ROWS[engine])) {
        await importBatch(rows, !isDryRun && !isAllOrNothing);
        if (isAllOrNothing && !isDryRun) checked.push(...rows);
      }
      if (checked.length > 0) {
        progress = { imported: 0, skipped: 0, refused: progress.refused };
        extras = new ImportedExtras();
      }
      if (progress.refused === 0)
        for await (const rows of inBatches(checked, BATCH_ROWS[engine])) await importBatch(rows, true);
    } catch (error) {
      await invocation.print(textOfProgress('stopped: '), { ...progress, stopped: true });
      throw error;
    }
    const { imported, skipped, refused } = progress;
    if (imported + skipped + refused === 0) throw new CannotRunError('the file has no users');
    return {
      lines: [textOfProgress(isDryRun ? 'dry run: would have ' : ''), ...extras.lines],
      json: [{ ...progress, ...extras.json, ...(isDryRun && { dryRun: true }) }],
      isRed: refused > 0,
    };
  });
}

/** Counts what the imported users had in the other system beside their rows. */
class ImportedExtras {
  private secondFactors = 0;
  private readonly leftOut = new Map<string, number>();

  add({ row, leftOut }: LocatedRow): void {
    if (!(row instanceof Refused) && row.totpSecret) this.secondFactors += 1;
    for (const kind of leftOut) this.leftOut.set(kind, (this.leftOut.get(kind) ?? 0) + 1);
  }

  get json(): object {
    return {
      ...(this.secondFactors > 0 && { secondFactors: this.secondFactors }),
      ...(this.leftOut.size > 0 && { leftOut: Object.fromEntries(this.leftOut) }),
    };
  }

  /** Such as "10 second factors imported, 2 not (SHA-256); 1,000 memberships of groups not imported". */
  get lines(): string[] {
    const isFactor = ([kind]: [string, number]): boolean => kind.startsWith(`${SECOND_FACTORS} (`);
    const { true: factors = [], false: others = [] } = Object.groupBy(
      this.leftOut,
      (one) => `${isFactor(one)}`,
    );
    const notImported = factors.map(
      ([kind, count]) => `${numberText(count)} not ${kind.slice(kind.indexOf('('))}`,
    );
    const imported = `${counted(this.secondFactors, SECOND_FACTORS)} imported`;
    const parts = others.map(([kind, count]) => `${counted(count, kind)} not imported`);
    if (this.secondFactors > 0 || factors.length > 0) parts.unshift([imported, ...notImported].join(', '));
    return parts.length === 0 ? [] : [parts.join('; ')];
  }
}

const numberText = (count: number): string => count.toLocaleString('en-US');

/** The first noun of a kind is in the plural. */
function counted(count: number, kind: string): string {
  return `${numberText(count)} ${count === 1 ? kind.replace(/s\b/, '') : kind}`;
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
async function usersOf(rows: readonly LocatedRow[]): Promise<ForeignUser[]> {
  const users = rows.flatMap(({ row }) =>
    row instanceof Refused ? [] : { ...row, passwordHash: row.passwordHash ?? NO_PASSWORD_HASH },
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
  const read = format.readerOfLines?.() ?? readJsonLine;
  for await (const { line, bytes } of linesOf(file.chunks)) {
    if (bytes?.toString().trim() === '') continue;
    yield* placed({ line }, bytes ? read(bytes) : new Refused('line_too_long'), format);
  }
}

function* placed(
  position: RowPosition,
  row: Row | Refused | undefined,
  format: ImportFormat,
): Generator<LocatedRow> {
  if (row instanceof Refused) yield { position, row, names: {}, leftOut: [] };
  else if (row && !format.isSkipped?.(row)) {
    const { leftOut = [] } = format.extrasOf?.(row) ?? {};
    yield { position, row: userOf(row, format), names: namesOf(row, format), leftOut };
  }
}
