import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { appendFile, rename, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { firstEntityIdAt } from '../../src/identifiers/entity-id.js';
import {
  accounts,
  accountsJson,
  BY_ROOT,
  CLI,
  environmentOf,
  failure,
  following,
} from '../support/accounts-command.js';
import { times } from '../support/at-once.js';
import { engine } from '../support/engine.js';
import {
  copyThroughKills,
  idsIn,
  idsInFeed,
  linesIn,
  startCopy,
  untilCopied,
} from '../support/event-copies.js';
import { writeEvents } from '../support/feed.js';
import { anInstallation } from '../support/installation.js';
import { anAccount } from '../support/personas.js';
import { startOwnService } from '../support/service.js';

const DAY_MS = 86_400_000;
const ROUNDS = 20;

/** For Node: prints the names of the methods that write files, as they are called. */
const NAMES_WRITES = `--import=data:text/javascript,${encodeURIComponent(`
  import { open } from 'node:fs/promises';
  const file = await open(process.execPath);
  const handle = Object.getPrototypeOf(file);
  await file.close();
  for (const name of ['appendFile', 'sync']) {
    const original = handle[name];
    handle[name] = function (...parameters) {
      process.stderr.write(name + ' ');
      return original.apply(this, parameters);
    };
  }
`)}`;

const installation = await anInstallation();
const { db, directory } = installation;
await accountsJson(installation, ['migrate']);
afterAll(() => installation.remove());

const file = join(directory, 'events.jsonl');
beforeEach(() => rmSync(file, { force: true }));

const oneEvent = async (id?: string): Promise<string> => (await writeEvents(db, [{ ...(id && { id }) }]))[0]!;
const copy = (path = file) => accounts(installation, ['events', 'copy', path]);
const idAt = (daysAgo: number) =>
  firstEntityIdAt(Date.now() - daysAgo * DAY_MS).replace(/0{6}$/, hex(daysAgo));
const hex = (number: number) => number.toString(16).padStart(6, '0');

async function deleteEvent(id: string): Promise<void> {
  await db.query('DELETE FROM feed WHERE event_id = ?', [id]);
  await db.query('DELETE FROM events WHERE id = ?', [id]);
}

/** Copies everything that was written before. */
async function copyAll(path = file): Promise<string> {
  const last = await oneEvent();
  const copying = await startCopy(installation, path);
  await untilCopied(path, last);
  expect(await copying.end('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
  return last;
}

describe('accounts events copy', () => {
  it('copies what users and operators do, as events follow prints it, but without IP addresses', async () => {
    const service = await startOwnService({ installation });
    const user = await anAccount(service);
    await accountsJson(installation, ['users', 'disable', user.email, ...BY_ROOT]);
    await writeEvents(db, [{ type: 'account.second_factor_enabled', userId: user.id }]);
    const last = await copyAll();
    await service.stop();

    const followed = following(installation, ['events', 'follow', '--after', 'start', '--json']);
    const expected: string[] = [];
    for (let line = ''; !line.includes(last);) {
      line = await followed.line();
      const { ip: _ip, ...event } = JSON.parse(line) as Record<string, unknown>;
      expected.push(JSON.stringify(event));
    }
    await followed.stop();
    expect(await linesIn(file)).toEqual([...expected, '']);
    expect(readFileSync(file, 'utf8')).not.toMatch(/"ip"|127\.0\.0\.1|198\.51\.100\.7/);
    expect(readFileSync(file, 'utf8')).toContain('"type":"account.second_factor_enabled"');
    expect(readFileSync(file, 'utf8')).toMatch(/"type":"account.disabled"[^\n]*"reason":"a test"/);
  });

  it('makes a private file, follows until SIGTERM, and then continues after the last line', async () => {
    const first = await startCopy(installation, file);
    expect(first.lines).toEqual([`${file}: begins at the oldest event`]);
    const ids = await writeEvents(db, [{}, {}]);
    await untilCopied(file, ids[1]!);
    const third = await oneEvent();
    await untilCopied(file, third);
    const total = (await linesIn(file)).length - 1;
    expect(await first.end('SIGTERM')).toEqual({
      code: 0,
      lines: [`${file}: begins at the oldest event`, `${file}: ${total} events copied`],
      stderr: '',
    });
    expect(statSync(file).mode & 0o777).toBe(0o600);

    const fourth = await oneEvent();
    const second = await startCopy(installation, file);
    await untilCopied(file, fourth);

    const { code, lines } = await second.end('SIGINT');
    expect(code).toBe(0);
    expect(lines[0]).toMatch(new RegExp(`: continues after event ${third} of \\S+Z$`));
    expect(lines[1]).toBe(`${file}: 1 events copied`);
    expect(await idsIn(file)).toEqual(await idsInFeed(db));
  });

  it('cuts off a torn last line, wherever it is torn, and copies the event again', async () => {
    await copyAll();
    for (const torn of [1, 100, undefined]) {
      const { size } = statSync(file);
      const [line] = (await linesIn(file)).slice(-2);
      await truncate(file, size - line!.length - 1 + (torn ?? line!.length));
      await copyAll();
      expect(await idsIn(file)).toEqual(await idsInFeed(db));
    }
    await truncate(file, 60);
    await copyAll();
    expect(await idsIn(file)).toEqual(await idsInFeed(db));
  });

  it(
    `loses no event and has none twice, through ${ROUNDS} rounds of kill -9`,
    { timeout: 240_000 },
    async () => {
      const random = (most: number): number => Math.floor(Math.random() * (most + 1));
      const sizes = await copyThroughKills({ installation, db, file, rounds: ROUNDS, random });

      expect(await idsIn(file)).toEqual(await idsInFeed(db));
      expect(new Set(sizes).size).toBeGreaterThan(1);
    },
  );

  it('syncs what it has appended before it reads on', async () => {
    const ids = await writeEvents(
      db,
      times(2500, () => ({})),
    );
    const env = { ...installation.env, NODE_OPTIONS: NAMES_WRITES };
    const copying = await startCopy({ directory, env }, file);
    await untilCopied(file, ids.at(-1)!);
    const { code, stderr } = await copying.end('SIGTERM');
    expect(code).toBe(0);
    expect(stderr).toMatch(/^(?:sync )+(?:appendFile sync ){3,}$/);
  });

  it('refuses a second command on one file', async () => {
    const first = await startCopy(installation, file);
    const link = join(directory, 'link');
    symlinkSync(file, link);
    for (const path of [file, link])
      expect(await copy(path)).toEqual(failure(2, `error: another command is writing ${file}\n`));
    expect((await first.end('SIGTERM')).code).toBe(0);
  });

  it('ends if another file takes the place of its own', async () => {
    const first = await startCopy(installation, file);
    await untilCopied(file, await oneEvent());
    await rename(file, `${file}.1`);
    writeFileSync(file, '');
    await oneEvent();
    const { code, stderr } = await first.ended;
    expect({ code, stderr }).toEqual({ code: 2, stderr: `error: ${file} was replaced by another file\n` });
    expect(await idsIn(`${file}.1`)).toEqual(await idsInFeed(db));
  });
});

describe('accounts events copy, if the feed lacks the last line', () => {
  it('says that there is a gap, with exit code 1, if the line is older than EVENTS_RETENTION', async () => {
    const old = await oneEvent(idAt(401));
    const first = await startCopy(installation, file);
    await untilCopied(file, old);
    await first.end('SIGTERM');
    await truncate(file, readFileSync(file).indexOf(10, readFileSync(file).indexOf(old)) + 1);
    const before = readFileSync(file, 'utf8');
    await oneEvent();
    await deleteEvent(old);

    const { code, stderr } = await copy();

    expect(code).toBe(1);
    expect(stderr).toMatch(
      new RegExp(
        `^refused: the event feed lacks [^\\n]+${old} [^\\n]+older than EVENTS_RETENTION[^\\n]+\\n$`,
      ),
    );
    expect(readFileSync(file, 'utf8')).toBe(before);
    await copyAll(`${file}.2`);
    expect(await idsIn(`${file}.2`)).toEqual(await idsInFeed(db));
  });

  it('continues after a line that is older, if the feed has it', async () => {
    const old = await oneEvent(idAt(402));
    const first = await startCopy(installation, file);
    await untilCopied(file, old);
    await first.end('SIGTERM');
    await copyAll();
    expect(await idsIn(file)).toEqual(await idsInFeed(db));
  });

  it('says that the database was restored, with exit code 3, and leaves the file', async () => {
    const lost = await copyAll();
    const before = readFileSync(file, 'utf8');
    await deleteEvent(lost);
    await oneEvent();

    const { code, stdout, stderr } = await copy();

    expect(code).toBe(3);
    expect(stdout).toContain(`continues after event ${lost}`);
    expect(stderr).toMatch(/^refused: the event feed lacks [^\n]+ the database was restored, [^\n]+\n$/);
    expect(readFileSync(file, 'utf8')).toBe(before);
  });

  it('ends with exit code 3 while it follows, if the feed is reset', async () => {
    const last = await oneEvent();
    const copying = await startCopy(installation, file);
    await untilCopied(file, last);
    await accountsJson(installation, ['after-restore', ...BY_ROOT]);
    expect((await copying.ended).code).toBe(3);
  });
});

describe.runIf(engine === 'sqlite')('accounts events copy refuses', () => {
  it.each([
    ['lines that are no events', 'root:x:0:0\nada:x:1:1\n'],
    ['an empty line', '\n'],
    ['one line without its end', '{"id":"7","type":"a.b"}'],
    ['one line of JSON of another kind', '{"id":1}\n'],
    ['text after an event', ''],
    ['a long line', 'x'.repeat(300_000)],
  ])('another file, and leaves it: %s', async (name, content) => {
    if (name === 'text after an event') {
      await copyAll();
      await appendFile(file, 'more\n');
    } else writeFileSync(file, content);
    const before = readFileSync(file, 'utf8');
    expect(await copy()).toEqual(failure(2, `error: ${file} is not a copy of the audit log\n`));
    expect(readFileSync(file, 'utf8')).toBe(before);
  });

  it('a directory, a pipe, a device, and a directory that is not there', async () => {
    const [folder, pipe] = [join(directory, 'folder'), join(directory, 'pipe')];
    mkdirSync(folder);
    spawnSync('mkfifo', [pipe]);
    expect(await copy(folder)).toEqual(failure(2, /^error: the file cannot be written: EISDIR[^\n]+\n$/));
    expect(await copy(pipe)).toEqual(failure(2, `error: ${pipe} is not a file\n`));
    expect(await copy('/dev/null')).toEqual(failure(2, 'error: /dev/null is not a file\n'));
    expect(await copy(join(directory, 'none/x'))).toEqual(
      failure(2, /^error: the file cannot be written: ENOENT[^\n]+\n$/),
    );
    expect(existsSync('/dev/null.lock')).toBe(false);
  });

  it('a file that it may not write', async () => {
    await copyAll();
    spawnSync('chmod', ['400', file]);
    const withoutRight = process.getuid?.() === 0 ? ['setpriv', '--bounding-set', '-dac_override'] : ['env'];
    const { code, stderr } = await commandIn([
      ...withoutRight,
      process.execPath,
      CLI,
      'events',
      'copy',
      file,
    ]);
    expect({ code, stderr }).toEqual(
      expect.objectContaining({
        code: 2,
        stderr: expect.stringMatching(/^error: [^\n]+EACCES[^\n]+\n$/) as unknown,
      }),
    );
  });

  it('to go on without room, and then continues with nothing lost', async () => {
    await writeEvents(
      db,
      times(500, () => ({})),
    );
    const script = `mkdir small && mount -t tmpfs -o size=64k none small && "$@"; code=$?; cp small/copy '${file}'; exit $code`;
    const small = ['unshare', '--mount', '--map-root-user', 'sh', '-c', script, 'sh'];

    const { code, stderr } = await commandIn([
      ...small,
      process.execPath,
      CLI,
      'events',
      'copy',
      'small/copy',
    ]);

    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(/^error: the file cannot be written: ENOSPC[^\n]+\n$/) as unknown,
    });
    expect(statSync(file).size).toBeGreaterThan(0);
    await copyAll();
    expect(await idsIn(file)).toEqual(await idsInFeed(db));
  });
});

async function commandIn([program, ...parameters]: string[]): Promise<{ code: unknown; stderr: string }> {
  const child = spawn(program!, parameters, { cwd: directory, env: environmentOf(installation.env) });
  child.stdout.resume();
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
  return { code, stderr };
}
