import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accounts, accountsJson } from '../support/accounts-command.js';
import { engine } from '../support/engine.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { startOwnService } from '../support/service.js';

const ROOT = resolve(import.meta.dirname, '../..');
const NOWHERE = { directory: tmpdir(), env: {} };

const USER = 'ada@example.com';
const ORG = '019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f';

/** Every command that needs a database, with the parameters that it needs. */
const WITH_DATABASE = [
  ['users', 'list'],
  ['users', 'find', 'ada'],
  ['users', 'show', USER],
  ['users', 'delete', USER],
  ['users', 'disable', USER],
  ['users', 'enable', USER],
  ['users', 'end-sessions', USER],
  ['users', 'set-password', USER, '--generate'],
  ['users', 'reset-code', USER, '--reason', 'a test'],
  ['users', 'remove-second-factor', USER, '--reason', 'a test'],
  ['users', 'verify-email', USER],
  ['users', 'set-email', USER, 'new@example.com'],
  ['users', 'invite-code', USER, '--reason', 'a test'],
  ['users', 'import', '-'],
  ['orgs', 'list'],
  ['orgs', 'find', 'analytical'],
  ['orgs', 'show', ORG],
  ['orgs', 'set-owner', ORG, USER],
  ['operators', 'grant', USER],
  ['operators', 'revoke', USER],
  ['operators', 'list'],
  ['services', 'list'],
  ['services', 'show', 'billing'],
  ['services', 'add', 'billing'],
  ['services', 'allow', 'billing', 'introspect'],
  ['services', 'rotate', 'billing'],
  ['services', 'revoke-secret', 'billing'],
  ['services', 'disable', 'billing'],
  ['services', 'enable', 'billing'],
  ['services', 'remove', 'billing'],
  ['sessions', 'end-all'],
  ['keys', 'rotate'],
  ['keys', 'prune'],
  ['events'],
  ['events', 'follow'],
  ['after-restore', '--reason', 'a test'],
  ['export', USER],
  ['migrate'],
  ['doctor'],
];
const COMMANDS = [
  ...WITH_DATABASE,
  ['keys', 'list'],
  ['mail', 'list'],
  ['mail', 'retry'],
  ['backup', 'FILE'],
  ['copy-from', 'FILE'],
];
/** Those that consist of one word. */
const ALONE = new Set(['after-restore', 'events', 'export', 'migrate', 'doctor', 'backup', 'copy-from']);

// None of these gets as far as a database.
describe.runIf(engine === 'sqlite')('accounts', () => {
  it.each([[[]], [['users']], [['orgs']], [['keys']], [['operators']], [['services']], [['sessions']]])(
    'shows its help on standard error and ends with 2, for %j',
    async (parameters) => {
      const { code, stdout, stderr } = await accounts(NOWHERE, parameters);

      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toMatch(/^Usage: accounts /);
    },
  );

  it.each([
    [['unknown']],
    [['users', 'unknown']],
    [['toString']],
    [['doctor', '--unknown']],
    [['doctor', 'x']],
    [['keys', 'x']],
  ])('says in one line what is wrong with its parameters and ends with 2, for %j', async (parameters) => {
    const { code, stdout, stderr } = await accounts(NOWHERE, parameters);

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^error: [^\n]+\n$/);
  });

  it.each(COMMANDS)('explains %s %s with examples', async (...command) => {
    const { code, stdout, stderr } = await accounts(NOWHERE, [...command, '--help']);

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('--json');
    const name = command.slice(0, ALONE.has(command[0]!) && command[1] !== 'follow' ? 1 : 2).join(' ');
    expect(stdout).toContain(`\nExamples:\n  accounts ${name}`);
  });

  it.each([
    ['npx accounts', ['npx', 'accounts']],
    ['npm run accounts', ['npm', 'run', '--silent', 'accounts', '--']],
  ])('is there as %s', (_name, [program, ...parameters]) => {
    const { status, stdout } = spawnSync(program!, [...parameters, '--help'], {
      cwd: ROOT,
      encoding: 'utf8',
    });

    expect(status).toBe(0);
    expect(stdout).toMatch(/^Usage: accounts /);
  });
});

describe('accounts migrate', () => {
  let installation: Installation;
  beforeAll(async () => {
    installation = await anInstallation();
  });
  afterAll(() => installation.remove());

  it('brings an empty database up to date once, beside a running service too', async () => {
    const migrate = (env = {}) => accountsJson<{ applied: string[] }>(installation, ['migrate'], { env });

    const [first] = await migrate({ MIGRATIONS: 'check' });
    expect(first!.applied[0]).toMatch(/^CreateSchema/);
    expect(await migrate()).toEqual([{ applied: [] }]);

    const service = await startOwnService({ installation, env: { MIGRATIONS: 'check' } });
    expect(await migrate()).toEqual([{ applied: [] }]);
    await service.stop();
  });
});

describe('without a database', () => {
  const { url, reason } = {
    sqlite: { url: 'sqlite:/dev/null/accounts.sqlite', reason: '/dev/null' },
    // Unlike the service, a command does not wait for a database that is not there.
    mariadb: { url: 'mysql://root@127.0.0.1:1/accounts', reason: 'ECONNREFUSED' },
  }[engine];

  it.each(WITH_DATABASE)('%s %s ends with 2 and one line', async (...command) => {
    const { code, stdout, stderr } = await accounts(NOWHERE, command, { env: { DATABASE_URL: url } });

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^DATABASE_URL: the database cannot be opened [^\n]+\n$/);
    expect(stderr).toContain(reason);
  });
});
