import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { BreachedPasswords } from '../../src/auth/passwords/breached-passwords.js';
import { parseEnv } from '../../src/config/env.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { accounts, BY_ROOT, failure } from '../support/accounts-command.js';
import type { Answer } from '../support/answer.js';
import { atOnce, times } from '../support/at-once.js';
import { passwordBreached } from '../support/expected.js';
import { anAccount, anEmail, aPassword } from '../support/personas.js';
import { prefixOf, range, RangeServer, type Respond, suffixOf } from '../support/range-server.js';
import { NO_LIMITS, type Service, startService } from '../support/service.js';

const REGISTER = '/api/auth/register';
const MIB = 1_048_576;

const api = new RangeServer();
const url = await api.start();
const directory = mkdtempSync(join(tmpdir(), 'ranges-'));
const write = (password: string, text: string): void =>
  writeFileSync(join(directory, `${prefixOf(password)}.txt`), text);
write('any', range('any'));

const byApi = await startService({ env: { ...NO_LIMITS, PWNED_PASSWORDS: `${url}/mirror/` } });
const byFiles = await startService({ env: { ...NO_LIMITS, PWNED_PASSWORDS: directory } });
afterAll(async () => {
  await byApi.stop();
  await byFiles.stop();
  api.stop();
  rmSync(directory, { recursive: true });
});

const register = ({ anyone }: Pick<Service, 'anyone'>, password: string): Promise<Answer> =>
  anyone.post(REGISTER, { email: anEmail(), password });

const stateOf = async ({ anyone }: Service): Promise<object> =>
  (await anyone.get<object>('/health/ready')).body;
const DEGRADED = { status: 'degraded', breachCheck: 'degraded' };
const OK = { status: 'ok', breachCheck: 'ok' };
const warningsOf = ({ logs }: Service): string[] =>
  logs.filter((line) => line.includes('list of breached passwords cannot be read'));

describe('a range API', () => {
  const service = byApi;
  afterEach(() => {
    api.respond = undefined;
  });

  it('gets five digits of the hash and nothing else, and is asked for padding', async () => {
    const password = api.breach();
    expect(await register(service, password)).toMatchObject(passwordBreached('password'));
    const { url: path, headers } = api.requests.at(-1)!;
    expect(path).toBe(`/mirror/range/${prefixOf(password)}`);
    expect(headers).toMatchObject({ 'add-padding': 'true' });
    expect(JSON.stringify(api.requests)).not.toContain(suffixOf(password));
    expect(Object.keys(headers).filter((name) => /cookie|auth|trace|request-id|referer/.test(name))).toEqual(
      [],
    );
  });

  it.each<[string, Respond]>([
    ['redirects', (response) => response.writeHead(302, { location: `${url}/elsewhere` }).end()],
    [
      'answers HTML',
      (response) => response.setHeader('content-type', 'text/html').end('<!doctype html><p>Hello'),
    ],
    ['answers nothing', (response) => response.end()],
    ['answers 500', (response) => response.writeHead(500).end('no')],
    ['answers 404', (response) => response.writeHead(404).end('no')],
    ['answers 10 MB', (response) => response.end(`${'A'.repeat(35)}:1\r\n`.repeat(260_000))],
    ['closes the connection', (response) => response.destroy()],
    [
      'breaks off',
      (response) =>
        response.writeHead(200, { 'content-length': '900' }).write('AAA', () => response.destroy()),
    ],
    ['hangs', () => undefined],
    ['hangs after a while', (response) => void response.write(`${'A'.repeat(35)}:1\r\n`)],
  ])('that %s lets the password pass, and is reported', async (_, respond) => {
    const password = api.breach();
    api.respond = respond;
    const answer = await register(service, password);
    expect(answer.status, answer.text).toBe(201);
    expect(await stateOf(service)).toMatchObject(DEGRADED);
    expect(api.requests.filter(({ url: path }) => path.includes('elsewhere'))).toEqual([]);
    api.respond = undefined;
    expect(await register(service, password)).toMatchObject(passwordBreached('password'));
    expect(await stateOf(service)).toMatchObject(OK);
  });

  it('that fails often is warned of once a minute, without the hash', () => {
    expect(warningsOf(service)).toHaveLength(1);
    expect(service.logs.join('\n')).not.toMatch(/\/range\/|127\.0\.0\.1:\d+\/mirror/);
  });

  it('refuses breached passwords of many at once', async () => {
    const password = api.breach();
    const answers = await atOnce(times(40, () => () => register(service, password)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([400]));
  });

  it('is asked about the password of another client while one client waits for many answers', async () => {
    const { requests } = api;
    const before = requests.length;
    const password = api.breach();
    const held: ServerResponse[] = [];
    api.respond = (response, prefix) => {
      if (prefix === prefixOf(password)) response.end(range(password));
      else held.push(response);
    };
    const passwords = new BreachedPasswords(parseEnv({ PWNED_PASSWORDS: `${url}/mirror/` }));
    let ended = 0;
    const flood = times(40, async () => {
      await passwords.isBreached(aPassword(), 'flood');
      ended += 1;
    });
    await waitFor('half of the reads hang', hangTimeoutMs(), () => Promise.resolve(held.length >= 16));
    for (const _ of times(4, () => 0)) expect(await passwords.isBreached(password, 'ada')).toBe(true);
    expect(held.length, 'while reads of another client end').toBeLessThanOrEqual(16 + ended);
    const asked = requests.slice(before).findIndex(({ url: path }) => path.endsWith(prefixOf(password)));
    expect(asked).toBeLessThan(32);
    api.respond = undefined;
    for (const response of held) response.end(range('another'));
    await Promise.all(flood);
  });

  it('is asked about the normalized password', async () => {
    const password = `Åström ${aPassword()}`;
    api.breach(password.normalize('NFC'));
    expect(await register(service, password.normalize('NFD'))).toMatchObject(passwordBreached('password'));
  });

  it('is asked neither about what validation refuses nor about a wrong current password', async () => {
    const ada = await anAccount(service);
    const before = api.requests.length;
    expect((await register(service, 'password1234')).status).toBe(400);
    const newPassword = api.breach();
    const change = (currentPassword: string) => ada.put('/api/me/password', { currentPassword, newPassword });
    expect((await change('not the password')).status).toBe(403);
    expect(api.requests).toHaveLength(before);
    expect(await change(ada.password)).toMatchObject(passwordBreached('newPassword'));
    expect(await ada.get('/api/me')).toMatchObject({ status: 200 });
  });
});

describe('a directory of range files', () => {
  const service = byFiles;
  const valid = `${'A'.repeat(35)}:1\r\n`;

  it.each<[string, (password: string) => string]>([
    ['CRLF', (password) => range(password)],
    ['LF', (password) => range(password, { end: '\n' })],
    ['a line at the end', (password) => `${range(password)}\r\n`],
    ['lower case', (password) => range(password).toLowerCase()],
    [
      '1 MiB',
      (password) => `${range(password)}\r\n${valid.repeat(27_000)}`.slice(0, MIB).replace(/\r\n[^\n]*$/, ''),
    ],
  ])('refuses a password by a file with %s', async (_, textOf) => {
    const password = aPassword();
    write(password, textOf(password));
    expect(await register(service, password)).toMatchObject(passwordBreached('password'));
    expect(await stateOf(service)).toMatchObject(OK);
  });

  it.each<[string, (password: string) => void, usable: boolean]>([
    ['counts it 0 times', (password) => write(password, range(password, { count: 0 })), true],
    ['does not name it', (password) => write(password, range('another password')), true],
    ['is missing', () => undefined, false],
    ['is empty', (password) => write(password, ''), false],
    ['is truncated', (password) => write(password, range(password).slice(0, -30)), false],
    ['has a huge line', (password) => write(password, `${range(password)}\r\n${'A'.repeat(500_000)}`), false],
    [
      'has 1 MiB and a byte',
      (password) => write(password, `${range(password)}\r\n${valid.repeat(30_000)}`.slice(0, MIB + 1)),
      false,
    ],
    [
      'has a gigabyte',
      (password) => {
        write(password, range(password));
        truncateSync(join(directory, `${prefixOf(password)}.txt`), 2 ** 30);
      },
      false,
    ],
    ['is a directory', (password) => mkdirSync(join(directory, `${prefixOf(password)}.txt`)), false],
  ])('lets a password pass if its file %s', async (_, prepare, usable) => {
    const password = aPassword();
    prepare(password);
    const answer = await register(service, password);
    expect(answer.status, answer.text).toBe(201);
    expect(await stateOf(service)).toMatchObject(usable ? OK : DEGRADED);
    expect(service.logs.join('\n')).not.toContain(prefixOf(password));
    const known = aPassword();
    write(known, range(known));
    await register(service, known);
    expect(await stateOf(service)).toMatchObject(OK);
  });

  it('is warned of once a minute', () => {
    expect(warningsOf(service)).toHaveLength(1);
  });

  it('is asked by the command too, unless forced', async () => {
    const ada = await anAccount(service);
    const password = aPassword();
    write(password, range(password));
    const place = byFiles.installation;
    const env = { PWNED_PASSWORDS: directory };
    const set = (input: string, ...more: string[]) =>
      accounts(place, ['users', 'set-password', ada.email, ...BY_ROOT, ...more], { env, input });
    expect(await set(password)).toMatchObject(
      failure(1, /is known from a data breach; choose another, or use --force/),
    );
    expect(await set(password, '--force')).toMatchObject({ code: 0 });
    expect(await set(aPassword())).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('was not checked'),
    });
  });
});
