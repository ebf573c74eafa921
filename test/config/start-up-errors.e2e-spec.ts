import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { generateKeyPairSync } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { accountsJson } from '../support/accounts-command.js';
import { engine } from '../support/engine.js';
import { anInstallation } from '../support/installation.js';
import { AS_AN_OLD_NODE, type Environment, exitCode, spawnService } from '../support/service-process.js';
import { startOwnService } from '../support/service.js';
import { aSigningKey } from '../support/signing-keys.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';

/** None of these values may be shown: a value can be a secret. The unit tests of the environment have all. */
const WRONG = {
  PORT: 'eighty',
  DATABASE_URL: 'postgres://u:hidden-word@h/db',
  DATABSE_URL: 'mysql://u:hidden-word@h/db',
  REDIS_URL_FILE: './hidden-word',
  TOKEN_TTL: '1h30m',
};

describe('a wrong configuration', async () => {
  const installation = await anInstallation();
  afterAll(() => installation.remove());

  async function failure(env: Environment): Promise<string[]> {
    const service = spawnService(installation.directory, { ...installation.env, ...env });
    const code = await exitCode(service);
    expect(code, service.logs.join('\n')).toBe(1);
    return service.stderr;
  }

  async function tables(): Promise<unknown[]> {
    return installation.db.query(
      engine === 'sqlite'
        ? "SELECT name FROM sqlite_master WHERE type = 'table'"
        : 'SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()',
    );
  }

  it.each([
    ['a missing key file', 'none.json', 'production'],
    ['a key file that cannot be read', '.', 'production'],
    ['a key file that cannot be created', 'jwks.json/keys.json', ''],
  ])('includes %s, before the database is changed', async (_what, file, NODE_ENV) => {
    const lines = await failure({ NODE_ENV, JWT_KEYS_FILE: join(installation.directory, file) });
    expect(lines).toEqual([expect.stringMatching(/^JWT_KEYS_FILE: /)]);
    expect(await tables()).toEqual([]);
  });

  // Before any database is opened.
  describe.runIf(engine === 'sqlite')('of variables or keys', () => {
    it('stops the start with one line for each wrong variable, without values', async () => {
      const lines = await failure({ ...WRONG, LOG_LEVEL: 'info' });
      const text = lines.join('\n');
      expect(new Set(lines.map((line) => line.split(':')[0])), text).toEqual(new Set(Object.keys(WRONG)));
      expect(text).not.toMatch(/hidden-word|\n\s+at |node_modules/);
    });

    const { privateKey: rsa } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const { privateKey: p384 } = generateKeyPairSync('ec', { namedCurve: 'P-384' });
    const good = aSigningKey().jwk;
    const fileOf = (...keys: object[]) => JSON.stringify({ keys });
    it.each<[string, string]>([
      ['no JSON', 'secret'],
      ['no key set', '{}'],
      ['a bare key', JSON.stringify(good)],
      ['an empty key set', fileOf()],
      ['public keys alone', fileOf({ ...good, d: undefined })],
      ['two keys with one kid', fileOf(good, { ...aSigningKey().jwk, kid: good['kid'] })],
      ['an RSA key', fileOf({ ...rsa.export({ format: 'jwk' }), kid: 'r', alg: 'RS256', use: 'sig' })],
      ['a symmetric key', fileOf({ kty: 'oct', k: 'c2VjcmV0', kid: 's', alg: 'HS256', use: 'sig' })],
      ['another curve', fileOf({ ...p384.export({ format: 'jwk' }), kid: 'p', use: 'sig' })],
      ['a broken key', fileOf({ ...good, x: 'AAAA' })],
      ['a public half of another key', fileOf({ ...aSigningKey().jwk, d: good['d'] })],
    ])('includes a key file with %s', async (_what, content) => {
      const file = join(installation.directory, 'wrong.json');
      await writeFile(file, content, { mode: 0o600 });
      const lines = await failure({ JWT_KEYS_FILE: file });
      const text = lines.join('\n');
      expect(lines, text).toEqual([expect.stringMatching(/^JWT_KEYS_FILE: /)]);
      expect(text).not.toContain(good['d']);
      expect(text).not.toMatch(/\n\s+at |node_modules/);
      expect(await tables()).toEqual([]);
    });
  });

  it('includes JWT_AUDIENCE or JWT_ISSUER that is the name of a service, until that is removed', async () => {
    const service = await anInstallation();
    await accountsJson(service, ['migrate']);
    await accountsJson(service, ['services', 'add', 'billing']);
    for (const variable of ['JWT_AUDIENCE', 'JWT_ISSUER']) {
      const process = spawnService(service.directory, { ...service.env, [variable]: 'billing' });
      expect(await exitCode(process)).toBe(1);
      expect(process.stderr).toEqual([
        `${variable}: there is a service of this name, whose tokens would pass for full ones: set another value, or run accounts services remove billing`,
      ]);
    }

    const env = { JWT_AUDIENCE: 'billing' };
    await accountsJson(service, ['services', 'remove', 'billing'], { env });
    const started = await startOwnService({ installation: service, env });
    expect((await started.anyone.get('/health/live')).status).toBe(200);
    await started.stop();
    await service.remove();
  });

  it.each<[object, RegExp]>([
    [{ HOST: 'nowhere.invalid' }, /^PORT, HOST: cannot listen/],
    [{ HOST: '192.0.2.1' }, /^PORT, HOST: cannot listen/],
    [
      { METRICS_PORT: '0', METRICS_HOST: '192.0.2.1' },
      /^METRICS_PORT, METRICS_HOST: cannot listen on 192\.0\.2\.1:0 \(EADDRNOTAVAIL\)$/,
    ],
  ])('includes a host on which it cannot listen: %j', async (env, line) => {
    expect(await failure({ ...env })).toEqual([expect.stringMatching(line)]);
  });

  it.each([
    ['PORT', 'HOST'],
    ['METRICS_PORT', 'METRICS_HOST'],
  ])('includes an address in %s and %s that is in use, and names it', async (port, host) => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const used = (other.address() as AddressInfo).port;
    const lines = await failure({ [host]: '127.0.0.1', [port]: String(used) });
    other.close();
    expect(lines).toEqual([
      `${port}, ${host}: cannot listen on 127.0.0.1:${used} (EADDRINUSE: another process listens there)`,
    ]);
  });

  it.runIf(engine === 'sqlite' && process.platform === 'linux').each([
    ['DATABASE_URL', 'sqlite:/proc/none/accounts.sqlite'],
    ['DATABASE_URL', 'sqlite:/proc/accounts.sqlite'],
    ['JWT_KEYS_FILE', '/proc/none/jwks.json'],
  ])('includes a place in %s where nothing can be written: %s', async (name, place) => {
    expect(await failure({ [name]: place })).toEqual([
      expect.stringMatching(new RegExp(`^${name}: .*'/proc/`)),
    ]);
  });

  it.runIf(engine === 'mariadb')('includes a database that does not exist', async () => {
    const lines = await failure({ DATABASE_URL: `${installation.db.url}_missing` });
    expect(lines).toEqual([expect.stringMatching(/^DATABASE_URL: .*Unknown database/)]);
  });
});

describe('a database that does not answer', () => {
  it('is waited for, and the log says so', async () => {
    const installation = await anInstallation();
    const service = spawnService(installation.directory, {
      ...installation.env,
      DATABASE_URL: 'mysql://root:hidden-word@127.0.0.1:1/none',
    });

    const line = await waitFor('it says that it waits', hangTimeoutMs(), () =>
      service.logs.find((text) => text.includes('waiting for the database')),
    );
    expect(service.child.exitCode).toBeNull();
    expect(JSON.parse(line)).toMatchObject({ err: { type: 'Error', code: 'ECONNREFUSED' } });
    service.child.kill('SIGTERM');
    await exitCode(service);

    expect(service.logs.join('\n')).not.toContain('hidden-word');
    await installation.remove();
  });
});

describe('on a Node that is too old', () => {
  it.each([
    ['the service', ['main.js'], 'npm start', 1],
    ['the command line', ['cli/main.js', 'doctor'], 'npm run accounts', 2],
  ])('%s says so in one line', (_what, [file, ...parameters], command, code) => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [resolve(import.meta.dirname, '../../dist', file!), ...parameters],
      { encoding: 'utf8', cwd: tmpdir(), env: { NODE_OPTIONS: AS_AN_OLD_NODE } },
    );
    expect(stderr).toMatch(/^Node 24\.16 or newer is needed .*this is \d+\.\d+\.\d+[^\n]+\n$/);
    expect(stderr).toContain(command);
    expect([status, stdout]).toEqual([code, '']);
  });
});
