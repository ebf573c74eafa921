import { readFile, rename, writeFile } from 'node:fs/promises';
import { afterEach, expect, it } from 'vitest';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { accountsJson } from '../support/accounts-command.js';
import { type Answer, loadDuring } from '../support/load.js';
import { asRecords, asString, clientOf } from '../support/service-client.js';
import { aSigningKey, decodeToken, signToken } from '../support/signing-keys.js';
import { report } from './support/figures.js';
import { RestartableService } from './support/restartable-service.js';
import { Storage } from './support/storage.js';
import { PASSWORD } from './support/writer.js';

const CLIENTS = 8;
const INSTANCES = 2;

const closing: { close(): unknown }[] = [];

afterEach(async () => {
  for (const one of closing.splice(0).toReversed()) await one.close();
});

async function replaceFile(file: string, text: string): Promise<void> {
  await writeFile(`${file}.test`, text, { mode: 0o600 });
  await rename(`${file}.test`, file);
}

async function twoInstances(storage: Storage): Promise<RestartableService[]> {
  const instances: RestartableService[] = [];
  for (let started = 0; started < INSTANCES; started += 1) {
    const instance = await RestartableService.on(storage);
    closing.push({ close: () => instance.kill() });
    await instance.start();
    instances.push(instance);
  }
  return instances;
}

it('a rotation under load fails no request, whichever instance signs and whichever verifies', async () => {
  const storage = await Storage.on('mariadb');
  closing.push(storage);
  const { installation } = storage;
  const urls = (await twoInstances(storage)).map(({ url }) => url);
  const file = installation.env['JWT_KEYS_FILE']!;
  const signedBy = new Map<string, number>();
  const kidOf = (token: string) => String(decodeToken(token).header['kid']);

  /** Signs in at one instance, hands off the login at the other, and shows both tokens to both. */
  const step = async (worker: number, turn: number): Promise<Answer> => {
    const [here, there] = worker % 2 === 0 ? urls : urls.toReversed();
    const email = `rotation${worker}-${turn}@example.com`;
    const registered = await clientOf(here!)('POST', '/api/auth/register', {
      body: { email, password: PASSWORD },
    });
    if (registered.status !== 201) return { outcome: 'refused', label: `register ${registered.status}` };
    const token = asString(registered.body['token']);
    const { body } = await clientOf(there!)('POST', '/api/auth/code', { token });
    const exchanged = await clientOf(here!)('POST', '/api/auth/code/exchange', {
      body: { code: body['code'] },
    });
    if (exchanged.status !== 200) return { outcome: 'refused', label: `exchange ${exchanged.status}` };
    const passedOn = asString(exchanged.body['token']);
    for (const shown of [token, passedOn]) {
      signedBy.set(kidOf(shown), (signedBy.get(kidOf(shown)) ?? 0) + 1);
      for (const url of urls) {
        const { status } = await clientOf(url)('GET', '/api/me', { token: shown });
        if (status !== 200) return { outcome: 'refused', label: `me ${status}` };
      }
    }
    return { outcome: 'ok', label: 'all' };
  };

  const publishedAt = async (url: string) =>
    asRecords((await clientOf(url)('GET', '/.well-known/jwks.json')).body['keys']).map(({ kid }) => kid);
  const untilPublished = (kid: string, isThere: boolean) =>
    waitFor(`every instance ${isThere ? 'publishes' : 'forgets'} ${kid}`, hangTimeoutMs(), async () => {
      const everywhere = await Promise.all(urls.map(publishedAt));
      return everywhere.every((kids) => kids.includes(kid) === isThere);
    });

  const history = await loadDuring(CLIENTS, step, async () => {
    const first = installation.keys[0]!.kid;
    await waitFor('the first key signs', hangTimeoutMs(), () => signedBy.has(first));
    const [added] = await accountsJson<{ kid: string }>(installation, ['keys', 'rotate']);
    await untilPublished(added!.kid, true);

    // As if ten minutes had passed.
    const { keys } = JSON.parse(await readFile(file, 'utf8')) as { keys: Record<string, unknown>[] };
    const soon = Math.floor(Date.now() / 1000) + 2;
    keys[0]!['nbf'] = soon;
    await replaceFile(file, JSON.stringify({ keys }));
    await waitFor(
      'the added key signs',
      hangTimeoutMs(),
      () => (signedBy.get(added!.kid) ?? 0) > 4 * CLIENTS,
    );
    const kept = await accountsJson<{ removed: boolean }>(installation, ['keys', 'prune']);
    expect(kept.map(({ removed }) => removed)).toEqual([false, false]);
  });

  expect([...signedBy.keys()]).toHaveLength(2);
  expect([...history.tally().keys()]).toEqual(['ok all']);
  report({ faults: 2, requests: history.entries.length * 7, wrong: 0 });
});

it('a token of a new key is accepted at once by every instance, before its next regular look at the file', async () => {
  const storage = await Storage.on('mariadb');
  closing.push(storage);
  const file = storage.installation.env['JWT_KEYS_FILE']!;
  const instances = (await twoInstances(storage)).map(({ url }) => clientOf(url));
  const credentials = { email: 'ada@example.com', password: PASSWORD };
  const { body } = await instances[0]!('POST', '/api/auth/register', { body: credentials });
  const { header, claims } = decodeToken(asString(body['token']));
  const [old] = storage.installation.keys;
  const rounds = 4;
  const statuses: number[] = [];

  for (let round = 0; round < rounds; round += 1) {
    const key = aSigningKey();
    await replaceFile(file, JSON.stringify({ keys: [key.jwk, old!.jwk] }));
    const token = signToken({ ...header, kid: key.kid }, claims, key);
    const answers = await Promise.all(instances.map((send) => send('GET', '/api/me', { token })));
    statuses.push(...answers.map(({ status }) => status));
  }

  expect(statuses).toEqual(Array(2 * rounds).fill(200));
  report({ faults: rounds, requests: statuses.length, wrong: 0 });
});

it('a flood of unknown keys keeps nobody from being served', async () => {
  const storage = await Storage.on('sqlite');
  closing.push(storage);
  const service = await RestartableService.on(storage);
  closing.push({ close: () => service.kill() });
  await service.start();
  const send = clientOf(service.url);
  const body = { email: 'ada@example.com', password: PASSWORD };
  const token = asString((await send('POST', '/api/auth/register', { body })).body['token']);
  const forged = `${headerWithKid('unknown')}.${token.split('.').slice(1).join('.')}`;

  const flood = Array.from({ length: 2000 }, () => send('GET', '/api/me', { token: forged }));
  const served = await send('GET', '/api/me', { token });
  const statuses = (await Promise.all(flood)).map(({ status }) => status);

  expect(served.status).toBe(200);
  expect(new Set(statuses)).toEqual(new Set([401]));
  report({ faults: 1, requests: statuses.length, wrong: 0 });
});

const headerWithKid = (kid: string): string =>
  Buffer.from(JSON.stringify({ alg: 'ES256', typ: 'at+jwt', kid })).toString('base64url');
