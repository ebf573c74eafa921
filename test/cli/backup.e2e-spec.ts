import { createHash } from 'node:crypto';
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createConnection } from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { VERSION } from '../../src/config/env.js';
import { removeDirectory, temporaryDirectory } from '../../tooling/processes/at-exit.js';
import { findProgram, requireProgram } from '../../tooling/processes/find-program.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import {
  accounts,
  accountsJson,
  CLI,
  environmentOf,
  failure,
  spawnAccounts,
} from '../support/accounts-command.js';
import { backUp, restore } from '../support/backup.js';
import { engine } from '../support/engine.js';
import { anInstallation } from '../support/installation.js';
import { aPassword, anAccount, anOrgOf } from '../support/personas.js';
import { allRows } from '../support/rows.js';
import { startOwnService } from '../support/service.js';
import { Terminal } from '../support/terminal.js';

const installation = await anInstallation();
let service = await startOwnService({ installation, env: { RATE_LIMIT_REGISTER: 'off' } });
const owner = await anAccount(service, 'owner');
const org = await anOrgOf(owner, 'Analytical "Engines" \\ 🦊');
afterAll(async () => {
  await service.stop();
  await installation.remove();
});

const pathOf = (name: string) => join(installation.directory, name);
const copies = () => readdirSync(installation.directory).filter((name) => name.startsWith('copy'));
const hashOf = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex');

describe('accounts backup', () => {
  it('copies the database beside a running service to a private file, and says what it has', async () => {
    const file = pathOf('copy');
    const [last] = await installation.db.query('SELECT MAX(id) AS id FROM events');
    const [migration] = await installation.db.query('SELECT name FROM migrations ORDER BY id DESC LIMIT 1');
    const writes = Array.from({ length: 20 }, () => anAccount(service));

    const [result] = await accountsJson<{ event: string }>(installation, ['backup', file]);

    await Promise.all(writes);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(copies()).toEqual(['copy']);
    expect(result).toEqual({
      file,
      bytes: statSync(file).size,
      sha256: hashOf(file),
      version: VERSION,
      migration: migration!['name'],
      event: expect.any(String) as unknown,
      keysFile: installation.env['JWT_KEYS_FILE'],
      keys: installation.keys.map(({ kid }) => kid),
    });
    expect(result!.event >= String(last!['id'])).toBe(true);
    const known = await installation.db.query('SELECT id FROM events WHERE id = ?', [result!.event]);
    expect(known).toHaveLength(1);
  });

  it('restores every row, on which the service starts', async () => {
    await service.stop();
    const rows = await allRows(installation.db);
    const back = await backUp(installation);
    await installation.db.query("UPDATE orgs SET name = 'Other'");

    await back();

    expect(await allRows(installation.db)).toEqual(rows);
    service = await startOwnService({ installation });
    expect(await owner.at(service).get(`/api/orgs/${org.id}`)).toMatchObject({
      body: { org: { name: org.name } },
    });
    expect((await accounts(installation, ['doctor'])).code).toBe(0);
  });

  it('needs no key file, since keys belong apart from the copy', async () => {
    const env = { JWT_KEYS_FILE: pathOf('elsewhere') };
    const [result] = await accountsJson(installation, ['backup', pathOf('copy-without-keys')], { env });
    expect(result).toMatchObject({ keys: null });
  });

  it('shows on a terminal how far it is', async () => {
    const terminal = Terminal.open(installation, ['backup', pathOf('copy-shown')]);
    expect((await terminal.result()).code).toBe(0);
    expect(terminal.shown).toContain('copying ');
    expect(terminal.shown.endsWith('\r\u001B[K')).toBe(true);
  });

  it.each([
    ['a file', () => writeFileSync(pathOf('there-a-file'), 'mine')],
    ['a directory', () => mkdirSync(pathOf('there-a-directory'))],
    ['a pipe', () => execFileSync('mkfifo', [pathOf('there-a-pipe')])],
    ['a link to nothing', () => symlinkSync(pathOf('nothing'), pathOf('there-a-link-to-nothing'))],
  ])('overwrites nothing: %s', async (what, create) => {
    create();
    const file = pathOf(`there-${what.replaceAll(' ', '-')}`);
    const before = readdirSync(installation.directory);

    const result = await accounts(installation, ['backup', file]);

    expect(result).toEqual(failure(2, `error: ${file} already exists, and is not overwritten\n`));
    expect(readdirSync(installation.directory)).toEqual(before);
  });

  it.each([
    ['no directory', pathOf('none/copy')],
    ['a file as directory', '/dev/null/copy'],
    ['no right', '/proc/copy'],
    ['too long a name', pathOf('x'.repeat(250))],
  ])('ends with 2 where it cannot create the file: %s', async (_what, file) => {
    const result = await accounts(installation, ['backup', file]);
    expect(result).toEqual(failure(2, /^error: the file cannot be written: E[A-Z]+[^\n]+\n$/));
  });

  it('ends with 1 and without a file where there is no room', () => {
    const file = pathOf('copy-full');
    const command = ['sh', '-c', 'ulimit -f 16; exec "$@"', 'sh', process.execPath, CLI, 'backup', file];
    const { status, stderr } = spawnSync(command[0]!, command.slice(1), {
      cwd: installation.directory,
      env: environmentOf(installation.env),
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringMatching(
        /^refused: the copy is not complete and was deleted: [^\n]+\n$/,
      ) as unknown,
    });
    expect(copies()).not.toContainEqual(expect.stringContaining('copy-full'));
  });

  it('ends with 2 where the database has no tables of Accounts', async () => {
    const empty = await anInstallation();
    await empty.db.query('CREATE TABLE others (id integer)');
    expect(await accounts(empty, ['backup', join(empty.directory, 'copy')])).toEqual(
      failure(2, 'error: the database has no tables of Accounts\n'),
    );
    await empty.remove();
  });
});

it.runIf(engine === 'sqlite')(
  'accounts backup keeps no copy of a SQLite database of another schema',
  async () => {
    const other = await anInstallation();
    await accountsJson(other, ['migrate']);
    await other.db.query('ALTER TABLE orgs ADD COLUMN extra integer');
    expect(await accounts(other, ['backup', join(other.directory, 'copy.sqlite')])).toEqual(
      failure(1, /^refused: the copy is damaged and was deleted: its schema [^\n]+\n$/),
    );
    expect(readdirSync(other.directory).filter((name) => name.startsWith('copy'))).toEqual([]);
    await other.remove();
  },
);

describe.runIf(engine === 'mariadb')('the dump of accounts backup', () => {
  const password = `${aPassword()} "#'\\;`;
  const user = `u${Date.now()}`;
  const url = new URL(installation.db.url);
  const env = {
    DATABASE_URL: `mysql://${user}:${encodeURIComponent(password)}@127.0.0.1:1,127.0.0.1:${url.port}${url.pathname}`,
  };
  const real = findProgram('mariadb-dump') ?? '';
  const query = (sql: string) => installation.db.query(sql);

  beforeAll(async () => {
    await query(`CREATE USER ${user}@'%' IDENTIFIED BY '${password.replaceAll(/['\\]/g, String.raw`\$&`)}'`);
    await query(`GRANT SELECT, LOCK TABLES, SHOW VIEW ON ${url.pathname.slice(1)}.* TO ${user}@'%'`);
  });
  afterAll(() => query(`DROP USER ${user}@'%'`));

  /** A directory for PATH with this program as the only dump program. */
  function pathWith(script: string): string {
    const directory = temporaryDirectory('programs');
    writeFileSync(join(directory, 'mariadb-dump'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    return `${directory}${delimiter}${process.env['PATH']}`;
  }

  const version = `[ "$1" = --version ] && exec ${real} --version`;

  it('comes from the first host that answers, by a user who may only read, with a password of any characters', async () => {
    const file = pathOf('copy-by-user.sql');
    await accountsJson(installation, ['backup', file], { env });
    const other = await anInstallation();
    await restore(other, file);
    expect(await allRows(other.db)).toEqual(await allRows(installation.db));
    await other.remove();
  });

  it.each([
    ['killed', 'echo half; kill -9 $$', 'mariadb-dump was ended by SIGKILL'],
    ['refused', 'echo half; echo first >&2; echo last >&2; exit 2', 'last'],
    ['refused silently', 'echo "\n-- Dump completed"; exit 3', 'mariadb-dump ended with 3'],
    ['cut off', 'echo half', 'mariadb-dump did not finish it'],
    ['empty', 'true', 'mariadb-dump did not finish it'],
    ['continued', 'echo "\n-- Dump completed"; echo more', 'mariadb-dump did not finish it'],
  ])('leaves no file if it was %s', async (_what, script, fault) => {
    const PATH = pathWith(`${version}\n${script}`);
    const result = await accounts(installation, ['backup', pathOf('copy-broken')], { env: { PATH } });
    expect(result).toEqual(failure(1, `refused: the copy is not complete and was deleted: ${fault}\n`));
    expect(copies()).not.toContainEqual(expect.stringContaining('copy-broken'));
  });

  it('needs a program, and takes mysqldump too', async () => {
    const directory = temporaryDirectory('programs');
    const backup = (name: string) =>
      accounts(installation, ['backup', pathOf(name)], { env: { PATH: directory } });
    expect(await backup('copy-none')).toEqual(
      failure(2, /^error: neither mariadb-dump nor mysqldump [^\n]+\n$/),
    );
    expect(copies()).not.toContainEqual(expect.stringContaining('copy-none'));

    symlinkSync(real, join(directory, 'mysqldump'));
    expect((await backup('copy-of-mysqldump')).code).toBe(0);
  });

  it('is told about MySQL in its words, and gets nothing of the environment but PATH', async () => {
    const seen = pathOf('seen');
    const script = `if [ "$1" = --version ]; then echo 'mysqldump  Ver 8.4.6 for Linux on x86_64 (MySQL Community Server - GPL)'; exit; fi
      { printf '%s\\n' "$@"; ${requireProgram('env')}; ${requireProgram('cat')} /dev/fd/3; } >${seen}`;
    await accounts(installation, ['backup', pathOf('copy-mysql')], {
      env: { ...env, PATH: pathWith(script) },
    });
    const lines = readFileSync(seen, 'utf8').split('\n');
    const expected = `--defaults-file=/dev/fd/3 --single-transaction --hex-blob --no-tablespaces --skip-triggers
      --set-gtid-purged=OFF --column-statistics=0 ${url.pathname.slice(1)}
      host="127.0.0.1" port="${url.port}" user="${user}" protocol="tcp" ssl-mode=DISABLED`;
    expect(lines).toEqual(expect.arrayContaining(expected.split(/\s+/)));
    const variables = lines.filter((line) => /^[A-Z_]+=/.test(line));
    expect(variables.filter((line) => !/^(?:PATH|PWD|OLDPWD|SHLVL|_)=/.test(line))).toEqual([]);
  });

  describe('that waits', () => {
    /** The real program, which waits for the table that the test has locked, in the middle of its work. */
    async function held(name: string) {
      const [pidFile, temporary] = [pathOf(`${name}.pid`), temporaryDirectory('dump')];
      const PATH = pathWith(`${version}\necho $$ >${pidFile}\nexec ${real} "$@"`);
      const lock = await createConnection({ uri: installation.db.url });
      onTestFinished(() => lock.destroy());
      await lock.query('LOCK TABLES users WRITE');
      const command = spawnAccounts(
        { directory: installation.directory, env: { ...installation.env, ...env, PATH, TMPDIR: temporary } },
        ['backup', pathOf(name)],
      );
      const ended = Promise.all([once(command, 'close'), text(command.stderr)]).then(([[code], stderr]) => ({
        code: code as number | null,
        stderr,
      }));
      const draft = await waitFor('the dump has begun', hangTimeoutMs(), () => {
        const file = copies().find((one) => one.startsWith(`${name}.`) && !one.endsWith('.pid'));
        return file !== undefined && statSync(pathOf(file)).size > 0 && file;
      });
      const pid = Number(readFileSync(pidFile, 'utf8'));
      return { command, ended, draft, pid, temporary, release: () => lock.query('UNLOCK TABLES') };
    }
    const isGone = (pid: number) => spawnSync('kill', ['-0', String(pid)]).status !== 0;

    it('has its password in no argument, no environment and no file', async () => {
      const { ended, pid, temporary, release, command } = await held('copy-secret');
      for (const file of [`/proc/${pid}/cmdline`, `/proc/${pid}/environ`, `/proc/${command.pid}/cmdline`])
        expect(readFileSync(file, 'latin1')).not.toContain(password);
      expect(readdirSync(temporary)).toEqual([]);
      await release();
      expect(await ended).toEqual({ code: 0, stderr: '' });
      removeDirectory(temporary);
    });

    it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
      'leaves nothing after %s to the command',
      async (signal) => {
        const { command, ended, pid, release } = await held(`copy-${signal}`);
        command.kill(signal);
        expect(await ended).toEqual({
          code: 1,
          stderr: expect.stringMatching(/^refused: [^\n]+\n$/) as unknown,
        });
        await waitFor('the program has ended', hangTimeoutMs(), () => isGone(pid));
        expect(copies().filter((name) => name.startsWith(`copy-${signal}`))).toEqual([`copy-${signal}.pid`]);
        await release();
      },
    );

    it('leaves nothing after SIGKILL to the program', async () => {
      const { ended, pid, release } = await held('copy-killed');
      process.kill(pid, 'SIGKILL');
      expect(await ended).toEqual({
        code: 1,
        stderr: 'refused: the copy is not complete and was deleted: mariadb-dump was ended by SIGKILL\n',
      });
      expect(copies().filter((name) => name.startsWith('copy-killed'))).toEqual(['copy-killed.pid']);
      await release();
    });

    it('leaves a draft, but no password and no process, after SIGKILL to the command', async () => {
      const { command, ended, draft, pid, temporary, release } = await held('copy-lost');
      command.kill('SIGKILL');
      await ended;
      await release();
      await waitFor('the program has ended', hangTimeoutMs(), () => isGone(pid));
      expect(copies().filter((name) => name.startsWith('copy-lost'))).toEqual(
        [draft, 'copy-lost.pid'].toSorted(),
      );
      expect(readdirSync(temporary)).toEqual([]);
    });
  });
});
