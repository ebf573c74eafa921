import { open } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OperatorActor } from '../../access/principal.js';
import { loadBcrypt, readBcryptCost } from '../../auth/passwords/hash-engines.js';
import { MAX_ROWS_AT_ONCE } from '../../database/statements.js';
import type { ForeignUser, ImportOutcome } from '../../users/user-import.service.js';
import { CannotRunError, type Invocation, operatorOf, type Report } from '../command/definition.js';
import type { Services } from '../command/cli.module.js';
import { withServices } from '../command/services.js';
import { type Line, linesOf, parseRow, type Refusal, REFUSALS } from './import-rows.js';

/** On SQLite, a running service waits for each transaction. */
const BATCH_ROWS = { sqlite: 100, mysql: MAX_ROWS_AT_ONCE };

interface Row {
  line: number;
  parsed: ForeignUser | Refusal;
}

interface Progress {
  imported: number;
  skipped: number;
  refused: number;
}

interface Import {
  actor: OperatorActor;
  progress: Progress;
  print: Invocation['print'];
}

/** A second run skips what the first one imported. */
export async function importUsers(invocation: Invocation): Promise<Report> {
  const { print } = invocation;
  const progress: Progress = { imported: 0, skipped: 0, refused: 0 };
  const actor = operatorOf(invocation);
  const chunks = await openFile(invocation.parameters[0]!);
  return withServices(async (services) => {
    try {
      for await (const rows of batchesOf(linesOf(chunks), BATCH_ROWS[services.env.database.engine])) {
        await importBatch(services, rows, { actor, progress, print });
      }
    } catch (error) {
      await print(textOf(progress, 'stopped: '), { ...progress, stopped: true });
      throw error;
    }
    return { lines: [textOf(progress)], json: [progress], isRed: progress.refused > 0 };
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

async function* batchesOf(lines: AsyncIterable<Line>, size: number): AsyncGenerator<Row[]> {
  let rows: Row[] = [];
  for await (const line of lines) {
    const parsed = parseRow(line);
    if (parsed !== undefined) rows.push({ line: line.number, parsed });
    if (rows.length < size) continue;
    yield rows;
    rows = [];
  }
  if (rows.length > 0) yield rows;
}

async function importBatch(
  services: Services,
  rows: Row[],
  { actor, progress, print }: Import,
): Promise<void> {
  const users = rows.flatMap(({ parsed }) => (typeof parsed === 'string' ? [] : parsed));
  await requireBcrypt(users);
  const began = performance.now();
  const outcomes = await services.userImport.importAll(users, actor);
  const tookMs = performance.now() - began;
  for (const { line, parsed } of rows) {
    const outcome = typeof parsed === 'string' ? parsed : outcomes.shift()!;
    count(progress, outcome);
    if (!isRefusal(outcome)) continue;
    const reason = REFUSALS[outcome];
    await print(`line ${line}: ${reason} (${outcome})`, { line, refused: outcome, reason });
  }
  // A service on the same SQLite file gets as much time as the import.
  if (services.env.database.engine === 'sqlite') await sleep(tookMs);
}

/** @throws CannotRunError if bcrypt is missing, because the users could not log in */
async function requireBcrypt(users: readonly ForeignUser[]): Promise<void> {
  if (!users.some(({ passwordHash }) => readBcryptCost(passwordHash) !== undefined)) return;
  await loadBcrypt().catch(() => {
    throw new CannotRunError('bcrypt hashes need the optional package bcrypt, which is not installed here');
  });
}

function isRefusal(outcome: ImportOutcome | Refusal): outcome is Refusal {
  return outcome in REFUSALS;
}

function count(progress: Progress, outcome: ImportOutcome | Refusal): void {
  if (outcome === 'imported') progress.imported += 1;
  else if (outcome === 'present') progress.skipped += 1;
  else progress.refused += 1;
}

function textOf({ imported, skipped, refused }: Progress, prefix = ''): string {
  return `${prefix}imported ${imported}, skipped ${skipped} that already exist, refused ${refused}`;
}
