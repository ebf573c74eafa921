import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:fs';
import {
  chmod,
  type FileHandle,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { fileStore } from '../src/file-store.ts';

let directory: string;
let path: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'accounts-client-'));
  path = join(directory, 'app', 'login');
});
afterEach(async () => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  await rm(directory, { recursive: true });
});

it('keeps one text in a file that only its owner can read', async () => {
  const store = fileStore(path);
  expect(await store.load()).toBeUndefined();

  await store.save('first');
  await store.save('second');
  expect(await fileStore(path).load()).toBe('second');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect((await stat(join(directory, 'app'))).mode & 0o777).toBe(0o700);
  await store.save(undefined);
  await store.save(undefined);
  expect(await store.load()).toBeUndefined();
  expect(await readdir(join(directory, 'app'))).toEqual([]);
});

it('keeps two more texts in files of their own, which only their owner can read', async () => {
  const store = fileStore(path);
  const { logOuts, me } = store;
  await store.save('token');
  await logOuts.save('log-outs');
  await me.save('me');
  expect(await fileStore(path).load()).toBe('token');
  for (const [name, slot] of [['logouts', logOuts] as const, ['me', me] as const]) {
    expect((await stat(`${path}.${name}`)).mode & 0o777).toBe(0o600);
    expect(await readFile(`${path}.${name}`, 'utf8')).toBe(`${await slot.load()}\n`);
    await slot.save(undefined);
    expect(await slot.load()).toBeUndefined();
  }
  expect(await readdir(join(directory, 'app'))).toEqual(['login']);
});

it('is not misled by a draft that a killed process has left', async () => {
  const store = fileStore(path);
  await store.save('first');
  await writeFile(`${path}.new`, 'half');
  await chmod(`${path}.new`, 0o644);
  await store.save('second');
  expect(await readFile(path, 'utf8')).toBe('second\n');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

it('has the new text after a power cut, because it syncs the directory after the file', async () => {
  const store = fileStore(path);
  await store.save('first');
  const synced = await noteSyncs();
  await store.save('second');
  expect(synced).toEqual(['first', 'second in its directory']);
});

it('makes the text of a killed process durable before the work under its lock', async () => {
  const store = fileStore(path);
  await store.save('first');
  await writeFile(`${path}.other`, 'second');
  await rename(`${path}.other`, path);
  const synced = await noteSyncs();
  await store.lock!(() => Promise.resolve(synced.push('work')));
  expect(synced).toEqual(['second in its directory', 'work']);
});

/** Notes what a reader finds at each sync. */
async function noteSyncs(): Promise<string[]> {
  const synced: string[] = [];
  const handle = await open(path);
  const sync = vi.spyOn(Object.getPrototypeOf(handle) as FileHandle, 'sync');
  sync.mockImplementation(async function (this: FileHandle) {
    const text = (await readFile(path, 'utf8')).trim();
    synced.push((await this.stat()).isDirectory() ? `${text} in its directory` : text);
    await this.datasync();
  });
  await handle.close();
  return synced;
}

it('runs the work of one at a time, also of one that fails', async () => {
  let running = 0;
  let most = 0;
  const work = async (index: number): Promise<void> => {
    running += 1;
    most = Math.max(most, running);
    await fileStore(path).save(String(index));
    running -= 1;
    if (index % 3 === 0) throw new Error('failed');
  };
  const all = await Promise.allSettled(
    Array.from({ length: 12 }, (_, index) => fileStore(path).lock!(() => work(index))),
  );

  expect(most).toBe(1);
  expect(all.filter(({ status }) => status === 'rejected')).toHaveLength(4);
  const names = await readdir(join(directory, 'app'));
  expect(names.filter((name) => name.startsWith('login.lock.'))).toHaveLength(1);
});

it('leaves the lock to a process that took a higher number meanwhile', async () => {
  const FREE = 'nobody holds this lock';
  const [first, third] = [`${path}.lock.1`, `${path}.lock.3`];
  await mkdir(join(directory, 'app'));
  // Reading a pipe waits for its writer, which holds the process between two steps.
  execFileSync('mkfifo', [first]);
  let isReleased = false;
  const waiting = fileStore(path).lock!(() => Promise.resolve(isReleased));
  const afterListing = await open(first, 'w');
  // Another process has taken 2, removed 1, and left; a third one holds 3.
  execFileSync('mkfifo', [third]);
  await afterListing.writeFile(FREE);
  await afterListing.close();

  const looksAgain = open(third, 'w');
  const ended = await Promise.race([waiting.then(() => 'worked'), looksAgain.then(() => 'waits')]);
  if (ended === 'worked') await (await open(third, constants.O_RDONLY | constants.O_NONBLOCK)).close();
  expect(ended).toBe('waits');
  isReleased = true;
  const released = await looksAgain;
  await released.writeFile(FREE);
  await released.close();
  expect(await waiting).toBe(true);
});

it('takes the lock over from a process that was killed', async () => {
  const program = `
    import { fileStore } from ${JSON.stringify(join(import.meta.dirname, '../src/file-store.ts'))};
    await fileStore(${JSON.stringify(path)}).lock(() => {
      console.log('held');
      return new Promise(() => setInterval(() => {}, 1000));
    });
  `;
  const holder = spawn(process.execPath, ['--input-type=module', '--eval', program]);
  await once(holder.stdout, 'data');
  await utimes(`${path}.lock.1`, Date.now() / 1000, Date.now() / 1000 + 3600);
  let isKilled = false;
  const waiting = fileStore(path).lock!(() => Promise.resolve(isKilled));
  isKilled = true;
  holder.kill('SIGKILL');

  expect(await waiting).toBe(true);
});

/** Makes each pause of the lock end at once, and notes how long it would have taken. */
function notePauses(): { pausedMs: () => number; looked: (times: number) => Promise<void> } {
  const pauses: number[] = [];
  const timers = { setTimeout, clearTimeout };
  vi.stubGlobal('setTimeout', (work: () => void, ms: number) => {
    if (ms > 30) return timers.setTimeout(work, ms);
    pauses.push(ms);
    return setImmediate(work);
  });
  vi.stubGlobal('clearTimeout', (timer: NodeJS.Timeout | NodeJS.Immediate | undefined) => {
    if (timer && 'refresh' in timer) timers.clearTimeout(timer);
  });
  const looked = async (times: number): Promise<void> => {
    const before = pauses.length;
    while (pauses.length < before + times) await new Promise(setImmediate);
  };
  return { pausedMs: () => pauses.reduce((sum, ms) => sum + ms, 0), looked };
}

it('keeps the lock of a process that lives, however old its file is', async () => {
  await mkdir(join(directory, 'app'));
  const lock = `${path}.lock.1`;
  await writeFile(lock, String(process.pid));
  await utimes(lock, 0, 0);
  const { looked } = notePauses();
  let isReleased = false;
  const waiting = fileStore(path).lock!(() => Promise.resolve(isReleased));
  await looked(200);
  isReleased = true;
  await writeFile(lock, 'nobody holds this lock');
  expect(await waiting).toBe(true);
});

it.each([
  ['45 s of looks', String(process.pid), 45_000],
  ['2 s of looks, if it has no process id yet', '', 2_000],
])('takes it over after %s', async (_, holder, expectedMs) => {
  await mkdir(join(directory, 'app'));
  await writeFile(`${path}.lock.1`, holder);
  const { pausedMs } = notePauses();
  expect(await fileStore(path).lock!(() => Promise.resolve('taken over'))).toBe('taken over');
  expect(pausedMs()).toBeGreaterThan(expectedMs * 0.8);
  expect(pausedMs()).toBeLessThan(expectedMs * 1.2);
});

it('counts the looks at each holder alone', async () => {
  await mkdir(join(directory, 'app'));
  const [first, second] = [`${path}.lock.1`, `${path}.lock.2`];
  await writeFile(first, '');
  const { looked } = notePauses();
  let isReleased = false;
  const waiting = fileStore(path).lock!(() => Promise.resolve(isReleased));
  await looked(80);
  await writeFile(second, '');
  await looked(80);
  isReleased = true;
  expect(await waiting).toBe(true);
});
