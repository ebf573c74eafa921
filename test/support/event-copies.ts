import { once } from 'node:events';
import { readFile, stat, truncate } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { type Place, spawnAccounts } from './accounts-command.js';
import { times } from './at-once.js';
import type { Database } from './database.js';
import { writeEvents } from './feed.js';

/** `accounts events copy FILE`, in a process of its own, which has the file when this resolves. */
export async function startCopy(installation: Place, file: string) {
  const child = spawnAccounts(installation, ['events', 'copy', file]);
  const output = createInterface({ input: child.stdout });
  const lines: string[] = [];
  output.on('line', (line) => lines.push(line));
  const errors = text(child.stderr);
  const closed = once(child, 'close').then(async ([code]) => ({ code, lines, stderr: await errors }));
  await Promise.race([once(output, 'line'), closed]);
  return {
    lines,
    ended: closed,
    end: (signal: NodeJS.Signals) => {
      child.kill(signal);
      return closed;
    },
  };
}

export const linesIn = async (file: string): Promise<string[]> => (await readFile(file, 'utf8')).split('\n');

export async function idsIn(file: string): Promise<string[]> {
  const lines = (await linesIn(file)).slice(0, -1);
  return lines.map((line) => (JSON.parse(line) as { id: string }).id);
}

export async function untilCopied(file: string, id: string): Promise<void> {
  await waitFor('the copy has the event', hangTimeoutMs(), async () =>
    (await readFile(file, 'utf8')).includes(`{"id":"${id}"`),
  );
}

/** In the order of the feed. */
export async function idsInFeed(db: Database): Promise<string[]> {
  const rows = await db.query('SELECT e.id FROM feed f JOIN events e ON e.id = f.event_id ORDER BY f.seq');
  return rows.map(({ id }) => String(id));
}

interface Rounds {
  installation: Place;
  db: Database;
  file: string;
  rounds: number;
  /** a number from 0 to this one */
  random: (most: number) => number;
}

/**
 * Kills the copy at a random moment, again and again, while events are written. After every other kill the file also
 * loses its last bytes, as by a power cut. @returns how long the file was after each kill
 */
export async function copyThroughKills({
  installation,
  db,
  file,
  rounds,
  random,
}: Rounds): Promise<number[]> {
  const sizes: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await writeEvents(
      db,
      times(random(2000) + 1, () => ({})),
    );
    const copy = await startCopy(installation, file);
    const writing = writeEvents(
      db,
      times(random(1000) + 1, () => ({})),
    );
    await sleep(random(400));
    await copy.end('SIGKILL');
    await writing;
    const { size } = await stat(file);
    sizes.push(size);
    if (round % 2 === 0) await truncate(file, Math.max(0, size - random(2000)));
  }
  const [last] = await writeEvents(db, [{}]);
  const copy = await startCopy(installation, file);
  await untilCopied(file, last!);
  await copy.end('SIGTERM');
  return sizes;
}
