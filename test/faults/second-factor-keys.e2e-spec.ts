import { readFile, rename, writeFile } from 'node:fs/promises';
import { afterEach, expect, it } from 'vitest';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { accountsJson } from '../support/accounts-command.js';
import { type Answer, loadDuring } from '../support/load.js';
import { protect, type Protected } from '../support/second-factor.js';
import { asString, clientOf } from '../support/service-client.js';
import { decodeToken } from '../support/signing-keys.js';
import { report } from './support/figures.js';
import { PASSWORD, RestartableService, Storage, UNLIMITED } from './support/deployment.js';

const USERS = 6;
const INSTANCES = 3;
const ROTATIONS = 2;
const DAY_S = 86_400;

const closing: { close(): unknown }[] = [];

afterEach(async () => {
  for (const one of closing.splice(0).toReversed()) await one.close();
});

it('keys rotated and pruned by the book, while users log in with their apps: every login succeeds', async () => {
  const storage = await Storage.on('mariadb');
  closing.push(storage);
  const { installation } = storage;
  const urls: string[] = [];
  for (let started = 0; started < INSTANCES; started += 1) {
    const instance = await RestartableService.on(storage, UNLIMITED);
    closing.push({ close: () => instance.kill() });
    await instance.start();
    urls.push(instance.url);
  }
  const emailOf = (worker: number) => `ada${worker}@example.com`;
  const users: Protected<{ id: string }>[] = [];
  for (let worker = 0; worker < USERS; worker += 1) {
    const body = { email: emailOf(worker), password: PASSWORD };
    const registered = await clientOf(urls[0]!)('POST', '/api/auth/register', { body });
    const { id } = registered.body['user'] as { id: string };
    users.push(await protect({ installation, db: installation.db }, { id }));
  }
  const signedBy = new Map<string, number>();

  /** Each step at another instance, which may have read the file at another moment. */
  const step = async (worker: number, turn: number): Promise<Answer> => {
    const [first, second] = [0, 1].map((place) => clientOf(urls[(worker + turn + place) % INSTANCES]!));
    const { account, app } = users[worker]!;
    await installation.db.query('UPDATE second_factors SET last_step = 0 WHERE user_id = ?', [account.id]);
    const body = { email: emailOf(worker), password: PASSWORD };
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

  const file = installation.env['JWT_KEYS_FILE']!;
  const history = await loadDuring(USERS, step, async () => {
    for (let rotation = 0; rotation < ROTATIONS; rotation += 1) {
      const [added] = await accountsJson<{ kid: string }>(installation, ['keys', 'rotate']);
      // As if weeks had passed.
      const { keys } = JSON.parse(await readFile(file, 'utf8')) as { keys: Record<string, unknown>[] };
      keys[0]!['nbf'] = Math.floor(Date.now() / 1000) - 15 * DAY_S;
      await writeFile(`${file}.test`, JSON.stringify({ keys }), { mode: 0o600 });
      await rename(`${file}.test`, file);
      await waitFor('the added key signs', hangTimeoutMs(), () => (signedBy.get(added!.kid) ?? 0) > USERS);
      const pruned = await accountsJson<{ removed: boolean }>(installation, ['keys', 'prune']);
      expect(pruned.map(({ removed }) => removed)).toEqual([false, true]);
      const logins = signedBy.get(added!.kid)!;
      await waitFor('logins go on', hangTimeoutMs(), () => signedBy.get(added!.kid)! > logins + USERS);
    }
  });

  expect([...history.tally().keys()]).toEqual(['ok all']);
  expect(signedBy.size).toBe(1 + ROTATIONS);
  const { keys } = JSON.parse(await readFile(file, 'utf8')) as { keys: object[] };
  expect(keys).toHaveLength(1);
  report({ faults: 2 * ROTATIONS, requests: 2 * history.entries.length, wrong: 0 });
});
