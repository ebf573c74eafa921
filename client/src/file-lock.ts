import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pause } from './waiting.ts';

const RETRY_PAUSE_MS = 20;
/**
 * A process holds the lock for less than 45 seconds. A waiter counts its own looks, because neither a clock nor the age of the
 * file says how long the computer was awake: after a sleep, the holder is alive and about to save.
 */
const LOOKS_AT_A_HOLDER = 45_000 / RETRY_PAUSE_MS;
/** For the 2 seconds between creating the file and writing into it. */
const LOOKS_AT_AN_EMPTY_FILE = 2_000 / RETRY_PAUSE_MS;
/** Longer than any process id, because it overwrites one. */
const FREE = 'nobody holds this lock';

/**
 * Runs the work while no other process runs work under this name.
 *
 * A process acquires the lock when it creates the file with the next number, which the file system allows one process. The
 * file with the highest number is the lock, so no process removes a lock that another one took over from a killed process.
 */
export async function withFileLock<T>(name: string, work: () => Promise<T>): Promise<T> {
  const number = await acquire(name);
  try {
    return await work();
  } finally {
    await release(name, number);
  }
}

async function acquire(name: string): Promise<number> {
  let seen = 0;
  for (let looks = 1; ; looks += 1) {
    const numbers = await numbersOf(name);
    const highest = Math.max(0, ...numbers);
    if (highest !== seen) looks = 1;
    seen = highest;
    const isAvailable = highest === 0 || (await isFree(fileOf(name, highest), looks));
    if (isAvailable && (await tryAcquire(name, highest + 1))) {
      await Promise.all(numbers.map((number) => rm(fileOf(name, number), { force: true })));
      return highest + 1;
    }
    await pause(RETRY_PAUSE_MS * (0.5 + Math.random()));
  }
}

async function tryAcquire(name: string, number: number): Promise<boolean> {
  try {
    await writeFile(fileOf(name, number), String(process.pid), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
  // Another process may have created a higher number and removed the lower ones since they were listed.
  const isHighest = Math.max(...(await numbersOf(name))) === number;
  if (!isHighest) await rm(fileOf(name, number), { force: true });
  return isHighest;
}

async function release(name: string, number: number): Promise<void> {
  // If another process has taken over, it has deleted the file. `r+` does not create it again.
  await writeFile(fileOf(name, number), FREE, { flag: 'r+' }).catch(() => undefined);
}

async function isFree(file: string, looks: number): Promise<boolean> {
  try {
    const owner = await readFile(file, 'utf8');
    if (owner === FREE || looks > LOOKS_AT_A_HOLDER) return true;
    return owner === '' ? looks > LOOKS_AT_AN_EMPTY_FILE : !isAlive(Number(owner));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function numbersOf(name: string): Promise<number[]> {
  await mkdir(dirname(name), { recursive: true, mode: 0o700 });
  const prefix = `${basename(name)}.`;
  const files = (await readdir(dirname(name))).filter((file) => file.startsWith(prefix));
  return files.map((file) => Number(file.slice(prefix.length))).filter((number) => number > 0);
}

const fileOf = (name: string, number: number): string => join(dirname(name), `${basename(name)}.${number}`);
