import { spawnSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryParent } from '../../tooling/processes/temporary-parent.js';

const DEPLOYED = resolve(import.meta.dirname, '../../deploy/accounts');
/** Stands in for Node: tells who runs what, where, with which settings. */
const TELLS = `#!/bin/sh
printf '%s\\n' "user=$(id -un)" "directory=$(pwd)" "parameters=$*"
env | grep -E '^(NODE_ENV|DATABASE_URL|JWT_KEYS_FILE|SMTP_URL|JWT_ISSUER|EMPTY)='
`;

describe('deploy/accounts', () => {
  let directory: string;
  let command: string;
  let envFile: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(temporaryParent(), 'accounts-deployed-'));
    envFile = join(directory, 'accounts.env');
    command = await deployedFor(userInfo().username);
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  /** As it is, but for its three places. */
  async function deployedFor(user: string): Promise<string> {
    const home = join(directory, user);
    const node = join(home, 'node_modules/.bin/node');
    await mkdir(join(home, 'node_modules/.bin'), { recursive: true });
    await writeFile(node, TELLS);
    await chmod(node, 0o755);
    const text = (await readFile(DEPLOYED, 'utf8'))
      .replace('directory=/opt/accounts', `directory='${home}'`)
      .replace('user=accounts', `user=${user}`)
      .replace('env_file=/etc/accounts.env', `env_file='${envFile}'`);
    await writeFile(join(home, 'accounts'), text, { mode: 0o755 });
    return join(home, 'accounts');
  }

  function run(
    file: string,
    ...parameters: string[]
  ): { status: number | null; told: string[]; stderr: string } {
    const env = { PATH: process.env['PATH'], DATABASE_URL: 'sqlite:elsewhere.sqlite' };
    const { status, stdout, stderr } = spawnSync(file, parameters, { encoding: 'utf8', env });
    return { status, told: stdout.trimEnd().split('\n').toSorted(), stderr };
  }

  it('has the settings of the unit where there is no file', async () => {
    await rm(envFile, { force: true });
    const unit = await readFile(join(DEPLOYED, '../accounts.service'), 'utf8');

    const { status, told, stderr } = run(command, 'users', 'find', 'a b');

    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(told).toEqual([
      'DATABASE_URL=sqlite:/var/lib/accounts/accounts.sqlite',
      'JWT_KEYS_FILE=/var/lib/accounts/jwks.json',
      'NODE_ENV=production',
      `directory=${join(command, '..')}`,
      'parameters=bin/accounts.js users find a b',
      `user=${userInfo().username}`,
    ]);
    for (const setting of told.slice(0, 3)) expect(unit).toContain(setting);
  });

  it('reads the file as systemd does, and runs nothing in it', async () => {
    await writeFile(
      envFile,
      [
        '# a comment',
        '; another',
        '',
        'DATABASE_URL=mysql://accounts:p$(touch${IFS}hacked)&w@db/accounts?a=1&b=$HOME',
        '  SMTP_URL = "smtp://mail.example:587"  ',
        "JWT_ISSUER='it is'",
        'EMPTY=',
      ].join('\n'),
    );

    const { status, told, stderr } = run(command, 'doctor');

    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(told).toEqual([
      'DATABASE_URL=mysql://accounts:p$(touch${IFS}hacked)&w@db/accounts?a=1&b=$HOME',
      'EMPTY=',
      'JWT_ISSUER=it is',
      'JWT_KEYS_FILE=/var/lib/accounts/jwks.json',
      'NODE_ENV=production',
      'SMTP_URL=smtp://mail.example:587',
      `directory=${join(command, '..')}`,
      'parameters=bin/accounts.js doctor',
      `user=${userInfo().username}`,
    ]);
  });

  it.each([
    ['no setting', 'DATABASE_URL', /line 2: expected NAME=VALUE/],
    ['a name that is none', '1X=2', /line 2: expected NAME=VALUE/],
    ['a line that goes on', 'DATABASE_URL=sqlite:\\', /line 2: write it without a backslash/],
  ])('refuses %s, and shows nothing of it', async (_what, line, message) => {
    await writeFile(envFile, `# first\n${line}\n`);

    const { status, told, stderr } = run(command, 'doctor');

    expect({ status, told }).toEqual({ status: 2, told: [''] });
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain('sqlite:');
  });

  it.runIf(process.getuid?.() === 0)('becomes the user of the service, with its settings', async () => {
    const other = await deployedFor('nobody');
    await writeFile(envFile, 'JWT_ISSUER=https://accounts.example\n', { mode: 0o600 });
    await chmod(directory, 0o755);

    const { status, told } = run(other, 'doctor');

    expect(status).toBe(0);
    expect(told).toContain('user=nobody');
    expect(told).toContain('JWT_ISSUER=https://accounts.example');
  });

  it.runIf(process.getuid?.() !== 0)('is refused to others', async () => {
    const { status, stderr } = run(await deployedFor('somebody'), 'doctor');

    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: 'accounts: run it as root, or as the user somebody\n',
    });
  });
});
