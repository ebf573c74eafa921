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

/** Every command with the parameters that it needs. */
const COMMANDS = [['migrate'], ['doctor']];

describe('accounts', () => {
  it.each([[[]], [['keys']]])(
    'shows its help on standard error and ends with 2, for %j',
    async (parameters) => {
      const { code, stdout, stderr } = await accounts(NOWHERE, parameters);

      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toMatch(/^Usage: accounts /);
    },
  );

  it.each([[['unknown']], [['toString']], [['doctor', '--unknown']], [['doctor', 'x']], [['keys', 'x']]])(
    'says in one line what is wrong with its parameters and ends with 2, for %j',
    async (parameters) => {
      const { code, stdout, stderr } = await accounts(NOWHERE, parameters);

      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toMatch(/^error: [^\n]+\n$/);
    },
  );

  it.each(COMMANDS)('explains %s with examples', async (...command) => {
    const { code, stdout, stderr } = await accounts(NOWHERE, [...command, '--help']);

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('--json');
    expect(stdout).toMatch(new RegExp(`Examples:\\n  accounts ${command.slice(0, 2).join(' ')}`));
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
  const nowhere = {
    sqlite: 'sqlite:/dev/null/accounts.sqlite',
    mariadb: 'mysql://root@127.0.0.1:1/accounts',
  }[engine];

  it.each(COMMANDS)('%s ends with 2 and one line', async (...command) => {
    const { code, stdout, stderr } = await accounts(NOWHERE, command, {
      env: { DATABASE_URL: nowhere },
    });

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^DATABASE_URL: the database cannot be opened [^\n]+\n$/);
  });
});
