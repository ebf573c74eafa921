import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryParent } from '../../tooling/processes/temporary-parent.js';
import type { CommandDefinition } from '../../src/cli/command/definition.js';
import { COMMANDS as COMMANDS_OF_SOURCE } from '../../src/cli/commands.js';
import {
  accounts,
  accountsAlone,
  accountsIn,
  CLI,
  failure,
  startCommandHost,
} from '../support/accounts-command.js';
import { anAccount } from '../support/personas.js';
import { startOwnService } from '../support/service.js';

const ROOT = resolve(import.meta.dirname, '../..');
const NOBODY = 'nobody@example.com';
const UNKNOWN_ID = '019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f';

const USERS = `list find show delete disable enable unblock end-sessions set-password reset-code remove-second-factor
  verify-email set-email invite-code import create sessions`;
const COMMANDS = Object.entries({
  '': 'events after-restore export migrate doctor backup copy-from',
  users: USERS,
  orgs: 'list find show add-owner set-role remove-member import delete restore lift-second-factor',
  operators: 'create grant revoke list',
  providers: 'list show test add change set-secret disable enable remove link unlink',
  'api-keys': 'list revoke revoke-all',
  services: 'list show add allow call revoke-call rotate revoke-secret disable enable remove',
  sessions: 'end-all',
  keys: 'list create rotate prune',
  config: 'check',
  mail: 'list retry',
  events: 'follow copy',
}).flatMap(([group, names]) => names.split(/\s+/).map((name) => `${group} ${name}`.trim()));

/** Two fifths of all modules of the service, which describe and check requests. */
const OF_REQUESTS = '/node_modules/(@nestjs/swagger|class-validator|fastify)/';

/** All but the parsers of the command line and of IP addresses. */
const OF_COMMANDS = '/node_modules/(?!commander/|ipaddr.js/)';

const service = await startOwnService();
const { installation } = service;
afterAll(() => service.stop());

const withGroup = (group: string, commands: readonly CommandDefinition[]) =>
  commands.map(({ usage, changes }) => ({
    parameters: [group, ...usage.split(' ')]
      .filter((word) => word !== '')
      .map((word) => (/^[<[]/.test(word) ? 'x' : word)),
    changes,
  }));

function refusing(libraries: string): Record<string, string> {
  const hooks = `import { registerHooks } from 'node:module';
    registerHooks({
      load(url, context, next) {
        if (new RegExp(${JSON.stringify(libraries)}).test(url)) throw new Error('a command loads ' + url);
        return next(url, context);
      },
    });`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hooks)}` };
}

describe('accounts', () => {
  const nowhere = { directory: tmpdir(), env: {} };

  it.each(['', 'users', 'orgs', 'keys', 'operators', 'services', 'providers', 'sessions', 'config'])(
    'shows its help on standard error and ends with 2, for accounts %s',
    async (group) => {
      const parameters = group === '' ? [] : [group];
      expect(await accountsAlone(nowhere, parameters)).toEqual(failure(2, /^Usage: accounts /));
    },
  );

  const bare = startCommandHost(refusing(OF_COMMANDS));
  const withoutRequests = startCommandHost(refusing(OF_REQUESTS));

  it.each(COMMANDS)('explains %s with examples, without the libraries of the commands', async (command) => {
    const parameters = [...command.split(' '), '--help'];
    const { stdout, ...result } = await accountsIn(bare, nowhere, parameters);
    expect(result).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('--json');
    expect(stdout).toContain(`\nExamples:\n  accounts ${command}`);
  });

  it('needs a reason for every change, and takes none for what changes nothing', async () => {
    const env = { ACCOUNTS_REASON: undefined };
    const all = [
      ...COMMANDS_OF_SOURCE.groups.flatMap(({ name, commands }) => withGroup(name, commands)),
      ...withGroup('', COMMANDS_OF_SOURCE.commands),
    ];
    const changes = all.filter((one) => one.changes === true);
    expect(changes.length).toBeGreaterThan(25);
    for (const { parameters, changes: isChange } of all) {
      const { code, stderr } = await accounts(
        nowhere,
        isChange ? parameters : [...parameters, '--reason', 'x'],
        { env },
      );
      const said = isChange ? "required option '--reason <TEXT>' not specified" : "unknown option '--reason'";
      expect({ code, stderr }, parameters.join(' ')).toEqual({ code: 2, stderr: `error: ${said}\n` });
    }
  });

  it('prints the version of the package, without the libraries of the commands', async () => {
    const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    const result = await accountsAlone(nowhere, ['--version'], { env: refusing(OF_COMMANDS) });
    expect(result).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  const oldNode = {
    PATH: process.env['PATH'],
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent("import crypto from 'crypto'; delete crypto.randomUUIDv7;")}`,
  };
  const onOldNode = (...parameters: string[]) =>
    spawnSync(process.execPath, [join(ROOT, 'bin/accounts.js'), ...parameters], {
      env: oldNode,
      encoding: 'utf8',
    });

  it.each(['--version', '-V'])('prints the version on an old Node: %s', async (option) => {
    const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    expect(onOldNode(option)).toMatchObject({ status: 0, stdout: `${version}\n`, stderr: '' });
  });

  it('says in one line which Node it needs', () => {
    const { status, stdout, stderr } = onOldNode('users', 'list');
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toBe(
      `Accounts needs Node.js 24.16 or later, or 26.1 or later (found ${process.versions.node}). Run \`npm ci\`, then \`npm run accounts\`.\n`,
    );
  });

  it.each([
    [['usres'], "error: unknown command 'usres' (Did you mean users?)\n"],
    [['users', 'shwo'], "error: unknown command 'shwo' (Did you mean show?)\n"],
    [['orgs', 'list', '--jsno'], "error: unknown option '--jsno'\n"],
    [['users', 'disable'], 'error: expected the email or the id of a user, or --file\n'],
    [['orgs', 'add-owner', 'x'], "error: missing required argument 'USER'\n"],
  ])('says what is nearest, or missing first: accounts %j', async (parameters, stderr) => {
    const env = { ACCOUNTS_REASON: undefined };
    expect(await accounts(nowhere, parameters, { env })).toEqual(failure(2, stderr));
  });

  it('breaks the lines of its help once', async () => {
    const { stdout } = await accounts(nowhere, ['users', 'import', '--help']);
    const paragraphs = stdout
      .split('\n\n')
      .find((part) => part.startsWith('FILE'))!
      .split('\n');
    expect(paragraphs.length).toBeGreaterThan(3);
    for (const [index, line] of paragraphs.slice(0, -1).entries())
      expect(line.length + 1 + paragraphs[index + 1]!.split(' ')[0]!.length).toBeGreaterThan(80);
  });

  it.each([
    ['npx accounts', ['npx', 'accounts']],
    ['npm run accounts', ['npm', 'run', '--silent', 'accounts', '--']],
  ])('is there as %s', (_name, [program, ...parameters]) => {
    const { stdout } = spawnSync(program!, [...parameters, '--help'], { cwd: ROOT, encoding: 'utf8' });
    expect(stdout).toMatch(/^Usage: accounts /);
  });

  it.each(
    'users list,orgs list,operators list,services list,providers list,api-keys list,keys list,mail list,events,doctor'.split(
      ',',
    ),
  )('starts %s without what only requests need', async (command) => {
    const parameters = command.split(' ');
    const { code, stderr } = await accountsIn(withoutRequests, installation, parameters);
    expect(stderr).not.toContain('a command loads');
    expect(code, stderr).not.toBe(2);
  });
});

describe('a command', () => {
  const listed = (output: 'pipe' | number) =>
    spawn(process.execPath, [CLI, 'users', 'list'], {
      cwd: installation.directory,
      env: { ...installation.env, PATH: process.env['PATH'] },
      stdio: ['ignore', output, 'pipe'],
    });

  it('ends as SIGPIPE would, where nobody reads its output', async () => {
    const command = listed('pipe');
    const ended = once(command, 'exit');
    command.stdout!.destroy();
    expect(await ended).toEqual([141, null]);
  });

  it('ends with a message, where its output cannot be written', async () => {
    const full = openSync('/dev/full', 'w');
    const command = listed(full);
    closeSync(full);
    const [[code], said] = await Promise.all([once(command, 'exit'), text(command.stderr!)]);
    expect([code, said]).toEqual([2, 'error: standard output cannot be written (ENOSPC)\n']);
  });
});

describe('what cannot be run', () => {
  const users = (names: string, more: string[]) =>
    names.split(' ').map((name) => ['users', name, NOBODY].concat(more));
  const withReason = ['--reason', 'a test'];
  it.each([
    ...users('show sessions disable enable unblock end-sessions verify-email remove-second-factor', []),
    ...users('remove-second-factor reset-code invite-code', withReason),
    ...[UNKNOWN_ID, 'not an e-mail', 'x'.repeat(100_000)].map((user) => ['users', 'show', user]),
    ...['two\nlines', 'x'.repeat(501)].map((reason) => ['users', 'disable', NOBODY, '--reason', reason]),
    ['users', 'disable', NOBODY, '--as', ''],
    ['users', 'set-password', NOBODY, '--generate'],
    ['users', 'set-email', NOBODY, 'new@example.com'],
    ['users', 'set-email', NOBODY, 'no address'],
    ['users', 'invite-code', 'nobody', ...withReason],
    ...['not an e-mail', UNKNOWN_ID].map((email) => ['users', 'create', email].concat(withReason)),
    ...['', 'a\nb', 'x'.repeat(101)].map((name) =>
      ['users', 'create', NOBODY, '--name', name].concat(withReason),
    ),
    ['users', 'find', ''],
    ['users', 'list', '--limit', '1e3'],
    ['users', 'disable'],
    ['users', 'disable', NOBODY, '--file', '/dev/null'],
    ['users', 'disable', NOBODY, '--dry-run'],
    ...['/dev/null', '/dev/null/none', '/'].map((file) => ['users', 'disable', '--file', file]),
    ...[
      ['--state', 'lost'],
      ['--to', 'nobody'],
      ['--limit', '0'],
    ].map((option) => ['mail', 'list'].concat(option)),
    ...[[], ['--failed', UNKNOWN_ID], [UNKNOWN_ID], ["' OR 1=1"]].map((mails) =>
      ['mail', 'retry'].concat(mails),
    ),
    ...['not an e-mail', UNKNOWN_ID].map((email) => ['operators', 'create', email].concat(withReason)),
    ['operators', 'create', NOBODY, '--name', '', '--no-confirm'].concat(withReason),
    ['operators', 'create', NOBODY].concat(withReason),
    ['operators', 'grant', NOBODY],
    ['operators', 'revoke', NOBODY],
    ...[UNKNOWN_ID, 'Analytical Engines', ''].map((org) => ['orgs', 'show', org]),
    ['orgs', 'show', UNKNOWN_ID, '--role', 'king'],
    ...[' ', 'x'.repeat(101)].map((name) => ['orgs', 'find', name]),
    ['orgs', 'add-owner', UNKNOWN_ID, NOBODY],
    ['orgs', 'set-role', UNKNOWN_ID, NOBODY, 'owner'],
    ['orgs', 'remove-member', UNKNOWN_ID, NOBODY],
    ...['lift-second-factor', 'delete', 'restore'].map((name) => ['orgs', name, UNKNOWN_ID]),
    ...[
      [],
      ['--user', NOBODY],
      ['--org', UNKNOWN_ID],
      ['--service', 'none'],
      ['--user', NOBODY, '--org', 'x'],
    ].map((owner) => ['api-keys', 'revoke-all'].concat(owner)),
    ...[UNKNOWN_ID, 'x'.repeat(100_000)].map((id) => ['api-keys', 'revoke', id]),
    ['users', 'disable', NOBODY, '--reason', ''],
    ['backup', '/dev/null'],
    ['copy-from', '/dev/null/none'],
    ...['unknown', 'users unknown', 'toString', 'doctor --unknown', 'doctor x', 'keys x'].map((line) =>
      line.split(' '),
    ),
  ])('accounts %s %s %s: one line, exit code 2', async (...parameters) => {
    expect(await accounts(installation, parameters)).toEqual(failure(2, /^error: [^\n]{1,200}\n$/));
  });

  it.each([
    ['nothing', ''],
    ['an empty line', '\n'],
    ['two lines', 'correct horse battery\nstaple\n'],
    ['without end', 'x'.repeat(100_000)],
  ])('a password of %s from a pipe', async (_what, input) => {
    const { id, email, password } = await anAccount(service);
    expect(await accountsAlone(installation, ['users', 'set-password', id], { input })).toEqual(
      failure(2, /^error: [^\n]+\n$/),
    );
    expect((await service.anyone.post('/api/auth/login', { email, password })).status).toBe(200);
  });
});

const DEPLOYED = resolve(import.meta.dirname, '../../deploy/accounts');
/** Stands in for Node: tells who runs what, where, with which settings. */
const TELLS = `#!/bin/sh
printf '%s\\n' "user=$(id -un)" "directory=$(pwd)" "parameters=$*"
env | grep -E '^(NODE_ENV|HOST|DATABASE_URL|JWT_KEYS_FILE|NODE_COMPILE_CACHE|SMTP_URL|JWT_ISSUER|EMPTY)='
`;

describe('deploy/accounts', async () => {
  const directory = await mkdtemp(join(temporaryParent(), 'accounts-deployed-'));
  const envFile = join(directory, 'accounts.env');
  const { username } = userInfo();
  const command = await deployedFor(username);
  afterAll(() => rm(directory, { recursive: true, force: true }));

  async function deployedFor(user: string): Promise<string> {
    const home = join(directory, user);
    const node = join(home, 'node_modules/.bin/node');
    await mkdir(join(home, 'node_modules/.bin'), { recursive: true });
    await writeFile(node, TELLS);
    await chmod(node, 0o755);
    const script = (await readFile(DEPLOYED, 'utf8'))
      .replace('directory=/opt/accounts', `directory='${home}'`)
      .replace('user=accounts', `user=${user}`)
      .replace('env_file=/etc/accounts.env', `env_file='${envFile}'`);
    await writeFile(join(home, 'accounts'), script, { mode: 0o755 });
    return join(home, 'accounts');
  }

  function run(file: string, ...parameters: string[]) {
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
      'HOST=127.0.0.1',
      'JWT_KEYS_FILE=/var/lib/accounts/jwks.json',
      'NODE_COMPILE_CACHE=/var/cache/accounts',
      'NODE_ENV=production',
      `directory=${join(command, '..')}`,
      'parameters=bin/accounts.js users find a b',
      `user=${username}`,
    ]);
    for (const setting of told.slice(0, 5)) expect(unit).toContain(setting);
  });

  it('reads the file as systemd does, and runs nothing in it', async () => {
    const url = 'DATABASE_URL=mysql://accounts:p$(touch${IFS}hacked)&w@db/accounts?a=1&b=$HOME';
    const others = `  SMTP_URL = "smtp://mail.example:587"  \nJWT_ISSUER='it is'\nEMPTY=`;
    await writeFile(envFile, `# a comment\n; another\n\n${url}\n${others}`);

    const { status, told, stderr } = run(command, 'doctor');

    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(told).toEqual([
      url,
      'EMPTY=',
      'HOST=127.0.0.1',
      'JWT_ISSUER=it is',
      'JWT_KEYS_FILE=/var/lib/accounts/jwks.json',
      'NODE_COMPILE_CACHE=/var/cache/accounts',
      'NODE_ENV=production',
      'SMTP_URL=smtp://mail.example:587',
      `directory=${join(command, '..')}`,
      'parameters=bin/accounts.js doctor',
      `user=${username}`,
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
    const { told } = run(other, 'doctor');
    expect(told).toEqual(expect.arrayContaining(['user=nobody', 'JWT_ISSUER=https://accounts.example']));
  });

  it.runIf(process.getuid?.() !== 0)('is refused to others', async () => {
    const stderr = 'accounts: run it as root, or as the user somebody\n';
    expect(run(await deployedFor('somebody'), 'doctor')).toMatchObject({ status: 2, stderr });
  });
});
