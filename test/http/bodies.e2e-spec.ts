import { afterAll, describe, expect, it } from 'vitest';
import { times } from '../support/at-once.js';
import {
  bodyTooLarge,
  invalidCredentials,
  invalidFields,
  malformedJson,
  unsupportedMediaType,
} from '../support/expected.js';
import { anEmail, aPassword, anAccount } from '../support/personas.js';
import { requestBytes, sendBytes } from '../support/connections.js';
import { startServiceWithoutLimits } from '../support/service.js';

const LIMIT = 16 * 1024;
const JSON_TYPE = { 'content-type': 'application/json' };

const MARKS = 4000;
/** Marks of two combining classes in the wrong order: normalization has to move each past all others. */
const HOSTILE = `a${'\u0301'.repeat(MARKS)}${'\u0316'.repeat(MARKS)}`;
/** as many UTF-16 units and octets, in normal form already */
const HARMLESS = `a${'\u00e9'.repeat(2 * MARKS)}`;
const ROUNDS = 9;
/** Without a bound on the length the hostile text takes thirty times as long. */
const MAX_DURATION_RATIO = 5;

const service = await startServiceWithoutLimits();
const ada = await anAccount(service, 'ada');
afterAll(() => service.stop());

describe('request bodies', () => {
  const register = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = JSON_TYPE) =>
    service.anyone.send('POST', '/api/auth/register', { headers, body });
  const aBody = (more: object = {}): string =>
    JSON.stringify({ email: anEmail(), password: aPassword(), ...more });

  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON;charset=UTF-8',
    'application/json ;a=b',
  ])('are accepted as %s', async (type) => {
    expect((await register(aBody(), { 'content-type': type })).status).toBe(201);
  });

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'text/json',
    'application/jsonx',
    'application/vnd.api+json',
    'application/xml',
    'application/octet-stream',
    '*/*',
    'json',
  ])('are refused as %s', async (type) => {
    expect(await register(aBody(), { 'content-type': type })).toMatchObject(unsupportedMediaType);
  });

  it('are refused without a media type', async () => {
    expect(await register(aBody(), {})).toMatchObject(unsupportedMediaType);
  });

  it('are refused as a form, for every method and endpoint', async () => {
    const form = {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'email=a%40b.co&password=x',
    };

    for (const path of [
      '/api/auth/login',
      '/api/auth/register',
      '/api/auth/code/exchange',
      '/api/auth/refresh',
    ]) {
      expect(await service.anyone.send('POST', path, form)).toMatchObject(unsupportedMediaType);
    }
    for (const path of ['/api/orgs', '/api/auth/code']) {
      expect(await ada.send('POST', path, form)).toMatchObject(unsupportedMediaType);
    }
  });

  it.each([
    ['application/json\t', 'validated'],
    ['application/json\t; charset=utf-8', 'validated'],
    [' application/json', 'validated'],
    ['application/json;', 'validated'],
    ['application/json; charset', 'validated'],
    ['application/json\u00a0', 'validated'],
    ['APPLICATION/JSON;a="', 'validated'],
    ['application/json;charset=utf-16', 'validated'],
    ['application/json, text/plain', 'not read'],
  ])('of the odd type %j are %s', async (type, outcome) => {
    const bytes = Buffer.from(
      requestBytes(
        'POST /api/auth/register',
        [`Content-Type: ${type}`, 'Content-Length: 29'],
        '{"email":1,"password":[1,23]}',
      ),
      'latin1',
    );

    expect(await sendBytes(service, bytes)).toMatchObject(
      outcome === 'validated' ? invalidFields('email', 'password') : unsupportedMediaType,
    );
  });

  it.each([
    ['nothing but white space', '  '],
    ['half an object', '{"email":"a@b.co"'],
    ['a trailing comma', '{"email":"a@b.co",}'],
    ['single quotes', "{'email':'a@b.co'}"],
    ['a comment', '{/* */}'],
    ['text after the object', '{}{}'],
    ['null', 'null'],
    ['a list', '[]'],
    ['text', '"email"'],
    ['a number', '1'],
    ['true', 'true'],
    ['NaN', 'NaN'],
    ['a bad escape', '{"email":"\\x"}'],
    ['a raw line break in text', '{"email":"a\nb"}'],
    ['nothing but a byte order mark', '\ufeff'],
    ['a byte order mark before the object', '\ufeff{"email":"a@b.co","password":"harbor lantern"}'],
    ['__proto__', '{"email":"a@b.co","password":"harbor lantern","__proto__":{"role":"owner"}}'],
    [
      'an escaped __proto__',
      '{"email":"a@b.co","password":"harbor lantern","\\u005f_proto__":{"role":"owner"}}',
    ],
    [
      'constructor.prototype',
      '{"email":"a@b.co","password":"harbor lantern","constructor":{"prototype":{"role":"owner"}}}',
    ],
    ['a nested __proto__', '{"email":{"__proto__":{"role":"owner"}},"password":"harbor lantern"}'],
    ['a key twice', '{"email":"a@b.co","password":"harbor lantern","email":"c@d.co"}'],
    ['a key twice, once escaped', '{"email":"a@b.co","password":"harbor lantern","\\u0065mail" :"a@b.co"}'],
    ['a key twice in an unknown field', '{"email":"a@b.co","password":"harbor lantern","x":[{"y":1,"y":1}]}'],
    ['8,000 nested lists', `${'['.repeat(8000)}${']'.repeat(8000)}`],
    ['4,000 nested lists in a field', `{"email":${'['.repeat(4000)}${']'.repeat(4000)}}`],
  ])('that are %s are malformed', async (_what, body) => {
    expect(await register(body)).toMatchObject(malformedJson);
  });

  it.each(['","email":"', '\\":"\\\\', ':":":', '{"a":1,"a":1}'])('may have %j as a value', async (text) => {
    const password = `${text} ${aPassword()}`;
    const body = JSON.stringify({
      email: anEmail(),
      password,
      x: { password, email: [text, { [text]: text }] },
    });
    expect((await register(body)).status).toBe(201);
  });

  it('that are not UTF-8 are malformed', async () => {
    for (const wrong of [
      [0xff, 0xfe],
      [0xc3, 0x28],
      [0xed, 0xa0, 0x80],
      [0xc0, 0xaf],
    ]) {
      const [before, after] = aBody({ x: '?' }).split('?') as [string, string];
      const body = Buffer.concat([Buffer.from(before), Buffer.from(wrong), Buffer.from(after)]);
      expect(await register(new Uint8Array(body))).toMatchObject(malformedJson);
    }
    expect(await register(new Uint8Array(Buffer.from(aBody(), 'utf16le')))).toMatchObject(malformedJson);
  });

  it('do not pollute prototypes', async () => {
    await register('{"__proto__":{"email":"a@b.co","role":"owner"}}');
    await register('{"constructor":{"prototype":{"email":"a@b.co"}}}');

    expect(await register('{}')).toMatchObject(invalidFields('email', 'password'));
  });

  it('that are missing or empty miss their fields', async () => {
    for (const request of [{}, { headers: JSON_TYPE }]) {
      const post = (path: string) => service.anyone.send('POST', path, request);
      expect(await post('/api/auth/register')).toMatchObject(invalidFields('email', 'password'));
      expect(await post('/api/auth/login')).toMatchObject(invalidFields('email', 'password'));
      expect(await post('/api/auth/code/exchange')).toMatchObject(invalidFields('code'));
    }
  });

  it('may have up to 16 KiB', async () => {
    const body = aBody();

    expect((await register(body.padEnd(LIMIT))).status).toBe(201);
    expect(await register(aBody().padEnd(LIMIT + 1))).toMatchObject(bodyTooLarge);
    expect(await register(aBody({ x: 'x'.repeat(100_000) }))).toMatchObject(bodyTooLarge);
  });

  it('in chunks have the same limit', async () => {
    const chunk = 'x'.repeat(1024);
    const chunks = `400\r\n${chunk}\r\n`.repeat(17) + '0\r\n\r\n';

    const answer = await sendBytes(
      service,
      requestBytes(
        'POST /api/auth/register',
        ['Content-Type: application/json', 'Transfer-Encoding: chunked'],
        chunks,
      ),
    );

    expect(answer).toMatchObject(bodyTooLarge);
  });

  it('with too large a Content-Length are refused before they arrive', async () => {
    const answer = await sendBytes(
      service,
      requestBytes(
        'POST /api/auth/register',
        ['Content-Type: application/json', 'Content-Length: 1000000000'],
        '{',
      ),
    );

    expect(answer).toMatchObject(bodyTooLarge);
  });

  it('are distinguished from the query', async () => {
    const path = `/api/auth/register?email=${anEmail()}&password=harbor-lantern`;
    const answer = await service.anyone.post(path, {});

    expect(answer).toMatchObject(invalidFields('query'));
    expect(answer.text).not.toContain('harbor');
  });
});

describe('text that is costly to normalize', () => {
  it.each<[string, (text: string) => Promise<unknown>, object]>([
    [
      'a password at login',
      (password) => service.anyone.post('/api/auth/login', { email: ada.email, password }),
      invalidCredentials,
    ],
    [
      'a password at registration',
      (password) => service.anyone.post('/api/auth/register', { email: anEmail(), password }),
      invalidFields('password'),
    ],
    ['the name of an organization', (name) => ada.post('/api/orgs', { name }), invalidFields('name')],
    [
      'an e-mail',
      (text) => service.anyone.post('/api/auth/login', { email: `a@${text}.co`, password: 'x' }),
      invalidFields('email'),
    ],
  ])('takes no longer than other text of its length: %s', async (_what, send, refusal) => {
    const durations: { harmless: number[]; hostile: number[] } = { harmless: [], hostile: [] };
    const measure = async (text: string): Promise<number> => {
      const begin = performance.now();
      expect(await send(text)).toMatchObject(refusal);
      return performance.now() - begin;
    };

    for (const _ of times(ROUNDS, () => 0)) {
      durations.harmless.push(await measure(HARMLESS));
      durations.hostile.push(await measure(HOSTILE));
    }

    // Other load only ever adds time.
    expect(Math.min(...durations.hostile)).toBeLessThan(MAX_DURATION_RATIO * Math.min(...durations.harmless));
  });
});
