import { readFile, rename, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { accountsJson } from '../support/accounts-command.js';
import { times } from '../support/at-once.js';
import { type Answer, loadDuring } from '../support/load.js';
import { asRecords, asString, clientOf } from '../support/service-client.js';
import { aSigningKey, decodeToken, signToken } from '../support/signing-keys.js';
import { report } from './support/figures.js';
import { PASSWORD, register, startAt, startOn } from './support/deployment.js';
import { forgetSteps, protect, type Protected } from '../support/second-factor.js';

const CLIENTS = 8;

async function replaceKeys(file: string, keys: unknown[]): Promise<void> {
  await writeFile(`${file}.test`, JSON.stringify({ keys }), { mode: 0o600 });
  await rename(`${file}.test`, file);
}

/** On one MariaDB; `file` has their keys. */
async function startInstances(count: number) {
  const { storage, service, send } = await startOn('mariadb');
  const { installation } = storage;
  const urls = [service.url];
  while (urls.length < count) urls.push((await startAt(storage)).url);
  return { installation, send, file: installation.env['JWT_KEYS_FILE']!, urls, first: installation.keys[0]! };
}

it('a rotation under load fails no request, whichever instance signs and whichever verifies', async () => {
  const { installation, file, urls, first } = await startInstances(2);
  const signedBy = new Map<string, number>();

  /** Signs in at one instance, hands off the login at the other, and shows both tokens to both. */
  const step = async (worker: number): Promise<Answer> => {
    const [here, there] = (worker % 2 === 0 ? urls : urls.toReversed()).map((url) => clientOf(url));
    const { token } = await register(here!);
    const { body } = await there!('POST', '/api/auth/code', { token });
    const exchanged = await here!('POST', '/api/auth/code/exchange', { body: { code: body['code'] } });
    if (exchanged.status !== 200) return { outcome: 'refused', label: `exchange ${exchanged.status}` };
    for (const shown of [token, asString(exchanged.body['token'])]) {
      const kid = String(decodeToken(shown).header['kid']);
      signedBy.set(kid, (signedBy.get(kid) ?? 0) + 1);
      for (const send of [here!, there!]) {
        const { status } = await send('GET', '/api/me', { token: shown });
        if (status !== 200) return { outcome: 'refused', label: `me ${status}` };
      }
    }
    return { outcome: 'ok', label: 'all' };
  };

  const publishedAt = async (url: string) =>
    asRecords((await clientOf(url)('GET', '/.well-known/jwks.json')).body['keys']).map(({ kid }) => kid);

  const history = await loadDuring(CLIENTS, step, async () => {
    await waitFor('the first key signs', hangTimeoutMs(), () => signedBy.has(first.kid));
    const [added] = await accountsJson<{ kid: string }>(installation, ['keys', 'rotate']);
    await waitFor('every instance publishes the added key', hangTimeoutMs(), async () => {
      const everywhere = await Promise.all(urls.map(publishedAt));
      return everywhere.every((kids) => kids.includes(added!.kid));
    });

    // As if ten minutes had passed.
    const { keys } = JSON.parse(await readFile(file, 'utf8')) as { keys: Record<string, unknown>[] };
    keys[0]!['nbf'] = Math.floor(Date.now() / 1000) + 2;
    await replaceKeys(file, keys);
    const isUsed = () => (signedBy.get(added!.kid) ?? 0) > 4 * CLIENTS;
    await waitFor('the added key signs', hangTimeoutMs(), isUsed);
    const kept = await accountsJson<{ removed: boolean }>(installation, ['keys', 'prune']);
    expect(kept.map(({ removed }) => removed)).toEqual([false, false]);
  });

  expect([...signedBy.keys()]).toHaveLength(2);
  expect([...history.tally().keys()]).toEqual(['ok all']);
  report({ faults: 2, requests: history.entries.length * 7, wrong: 0 });
});

it('a token of a new key is accepted at once by every instance, before its next regular look at the file', async () => {
  const { file, urls, first } = await startInstances(2);
  const instances = urls.map((url) => clientOf(url));
  const { header, claims } = decodeToken((await register(instances[0]!)).token);
  const rounds = 4;
  const statuses: number[] = [];

  for (let round = 0; round < rounds; round += 1) {
    const key = aSigningKey();
    await replaceKeys(file, [key.jwk, first.jwk]);
    const token = signToken({ ...header, kid: key.kid }, claims, key);
    const answers = await Promise.all(instances.map((send) => send('GET', '/api/me', { token })));
    statuses.push(...answers.map(({ status }) => status));
  }

  expect(statuses).toEqual(times(2 * rounds, () => 200));
  report({ faults: rounds, requests: statuses.length, wrong: 0 });
});

it('a flood of unknown keys keeps nobody from being served', async () => {
  const { send } = await startOn('sqlite');
  const { token } = await register(send);
  const header = JSON.stringify({ alg: 'ES256', typ: 'at+jwt', kid: 'unknown' });
  const forged = [Buffer.from(header).toString('base64url'), ...token.split('.').slice(1)].join('.');

  const flood = times(2000, () => send('GET', '/api/me', { token: forged }));
  const served = await send('GET', '/api/me', { token });
  const statuses = (await Promise.all(flood)).map(({ status }) => status);

  expect(served.status).toBe(200);
  expect(new Set(statuses)).toEqual(new Set([401]));
  report({ faults: 1, requests: statuses.length, wrong: 0 });
});

it('keys rotated and pruned by the book, while users log in with their apps: every login succeeds', async () => {
  const [instances, rotations] = [3, 2];
  const { installation, file, urls, send } = await startInstances(instances);
  const users: Protected<{ id: string; email: string }>[] = [];
  while (users.length < 6)
    users.push(await protect({ installation, db: installation.db }, await register(send)));
  const signedBy = new Map<string, number>();

  /** Each step at another instance, which may have read the file at another moment. */
  const step = async (worker: number, turn: number): Promise<Answer> => {
    const [first, second] = [0, 1].map((place) => clientOf(urls[(worker + turn + place) % instances]!));
    const { account, app } = users[worker]!;
    await forgetSteps(installation, account);
    const body = { email: account.email, password: PASSWORD };
    const asked = await first!('POST', '/api/auth/login', { body });
    if (asked.code !== 'second_factor_required')
      return { outcome: 'refused', label: `login ${asked.status}` };
    const { challenge } = asked.body;
    const answer = await second!('POST', '/api/auth/login/second-factor', {
      body: { challenge, code: app.at() },
    });
    if (answer.status !== 200) return { outcome: 'refused', label: `second step ${answer.code}` };
    const kid = String(decodeToken(asString(answer.body['token'])).header['kid']);
    signedBy.set(kid, (signedBy.get(kid) ?? 0) + 1);
    return { outcome: 'ok', label: 'all' };
  };

  const history = await loadDuring(users.length, step, async () => {
    for (let rotation = 0; rotation < rotations; rotation += 1) {
      const [added] = await accountsJson<{ kid: string }>(installation, ['keys', 'rotate']);
      // As if the sessions of the old key had reached SESSION_MAX_AGE.
      const { keys } = JSON.parse(await readFile(file, 'utf8')) as { keys: Record<string, unknown>[] };
      keys[0]!['nbf'] = Math.floor(Date.now() / 1000) - 31 * 86_400;
      await replaceKeys(file, keys);
      await waitFor(
        'the added key signs',
        hangTimeoutMs(),
        () => (signedBy.get(added!.kid) ?? 0) > users.length,
      );
      const pruned = await accountsJson<{ removed: boolean }>(installation, ['keys', 'prune']);
      expect(pruned.map(({ removed }) => removed)).toEqual([false, true]);
      const logins = signedBy.get(added!.kid)!;
      await waitFor('logins go on', hangTimeoutMs(), () => signedBy.get(added!.kid)! > logins + users.length);
    }
  });

  expect([...history.tally().keys()]).toEqual(['ok all']);
  expect(signedBy.size).toBe(1 + rotations);
  const { keys } = JSON.parse(await readFile(file, 'utf8')) as { keys: object[] };
  expect(keys).toHaveLength(1);
  report({ faults: 2 * rotations, requests: 2 * history.entries.length, wrong: 0 });
});
