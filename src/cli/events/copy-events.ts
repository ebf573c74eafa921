import { constants } from 'node:fs';
import { type FileHandle, open, realpath, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Env } from '../../config/env.js';
import { holdLock, syncDirectory } from '../../database/sqlite/database-file.js';
import type { Event } from '../../events/event.entity.js';
import { START } from '../../events/feed.repository.js';
import { FeedService } from '../../events/feed.service.js';
import { timeOfEntityId } from '../../identifiers/entity-id.js';
import { Problem, RefusedError } from '../../problems/problem.js';
import { withContext } from '../command/context.js';
import {
  abortedBy,
  CannotRunError,
  type Invocation,
  type Report,
  RestoredDatabaseError,
} from '../command/definition.js';
import { MAX_LINE_BYTES } from '../import/records.js';
import { type CopiedEvent, copiedEvent, isTorn, parseCopied } from './event-copy.js';

const PAGE = 1000;
const PAUSE_MS = 500;
const LINE_FEED = 0x0a;
const STOPS = ['SIGTERM', 'SIGINT'] as const;

export async function copyEvents(invocation: Invocation): Promise<Report> {
  const copy = await CopyFile.open(resolve(invocation.parameters[0]!));
  const { path, last } = copy;
  const begin = last ? `continues after ${nameOf(last)}` : 'begins at the oldest event';
  await invocation.print(`${path}: ${begin}`, { file: path, after: last?.id ?? START });
  try {
    const copied = await abortedBy(STOPS, (signal) => appendEvents(copy, invocation, signal));
    return { lines: [`${path}: ${copied} events copied`], json: [{ file: path, copied }] };
  } finally {
    await copy.close();
  }
}

/** Returns how many events it has copied when the signal aborts it. */
function appendEvents(copy: CopyFile, invocation: Invocation, signal: AbortSignal): Promise<number> {
  return withContext(async (context) => {
    const feed = context.get(FeedService);
    const retentionMs = context.get(Env).eventsRetention * 1000;
    let copied = 0;
    for (let after = copy.last?.id ?? START; !signal.aborted;) {
      const page = await feed
        .read({ after, limit: PAGE, isWanted: () => true, signal })
        .catch((error: unknown) => {
          const isExpired = error instanceof Problem && error.code === 'cursor_expired';
          throw isExpired && copy.last ? expired(copy.path, copy.last, Date.now() - retentionMs) : error;
        });
      await copy.append(page.events);
      copied += page.events.length;
      invocation.showProgress(`${copied} events`);
      after = page.next;
      if (page.events.length < PAGE) await sleep(PAUSE_MS, undefined, { signal }).catch(() => undefined);
    }
    return copied;
  });
}

const nameOf = ({ id, at }: CopiedEvent): string => `event ${id} of ${at}`;

/** Says what a feed means that lacks the last event of the copy. */
function expired(path: string, last: CopiedEvent, oldest: number): Error {
  const lacks = `the event feed lacks the last line of ${path}, ${nameOf(last)}`;
  if (timeOfEntityId(last.id) < oldest)
    return new RefusedError(
      `${lacks}, which is older than EVENTS_RETENTION: events may be missing. Continue with another file`,
    );
  return new RestoredDatabaseError(
    `${lacks}: the database was restored, its feed was reset, or the file is of another installation. ` +
      'Keep the file for accounts after-restore --since, and continue with another one',
  );
}

/** A copy that no other process writes. It ends with a whole line whenever it is open. */
class CopyFile {
  last: CopiedEvent | undefined;

  private constructor(
    readonly path: string,
    private readonly handle: FileHandle,
    private readonly unlock: () => void,
  ) {}

  /** @throws CannotRunError */
  static async open(path: string): Promise<CopyFile> {
    const handle = await writing(() =>
      open(path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT, 0o600),
    );
    let unlock: (() => void) | undefined;
    try {
      if (!(await handle.stat()).isFile()) throw new CannotRunError(`${path} is not a file`);
      unlock = lockOf(await realpath(path));
      const copy = new CopyFile(path, handle, unlock);
      await writing(() => copy.cutOff());
      return copy;
    } catch (error) {
      unlock?.();
      await handle.close();
      throw error;
    }
  }

  /** Resolves when the events are on disk. @throws CannotRunError */
  async append(events: readonly Event[]): Promise<void> {
    if (events.length === 0) return;
    const copied = events.map(copiedEvent);
    await writing(async () => {
      await this.handle.appendFile(copied.map((event) => `${JSON.stringify(event)}\n`).join(''));
      await this.handle.sync();
      const [own, present] = await Promise.all([this.handle.stat(), stat(this.path)]);
      if (own.ino !== present.ino) throw new CannotRunError(`${this.path} was replaced by another file`);
    });
    this.last = copied.at(-1);
  }

  async close(): Promise<void> {
    this.unlock();
    await this.handle.close();
  }

  /** Cuts off what follows the last whole line, and makes the name of a new file durable. */
  private async cutOff(): Promise<void> {
    const { size } = await this.handle.stat();
    const tail = Buffer.alloc(Math.min(size, 2 * MAX_LINE_BYTES));
    await this.handle.read(tail, 0, tail.length, size - tail.length);
    const end = tail.lastIndexOf(LINE_FEED);
    const line = end < 0 ? undefined : tail.subarray(tail.subarray(0, end).lastIndexOf(LINE_FEED) + 1, end);
    this.last = parseCopied(line);
    const isNew = end < 0 && size === tail.length && isTorn(tail);
    if (!this.last && !isNew) throw new CannotRunError(`${this.path} is not a copy of the audit log`);
    await this.handle.truncate(size - tail.length + end + 1);
    await this.handle.sync();
    if (isNew) syncDirectory(dirname(this.path));
  }
}

function lockOf(file: string): () => void {
  try {
    const unlock = holdLock(`${file}.lock`);
    if (unlock) return unlock;
  } catch (error) {
    throw new CannotRunError(`cannot create a lock next to ${file} (${(error as Error).message})`);
  }
  throw new CannotRunError(`another command is writing ${file}`);
}

async function writing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    throw new CannotRunError(`the file cannot be written: ${error.message}`);
  }
}
