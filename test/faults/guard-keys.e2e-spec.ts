import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { newApiKey } from '../../src/api-keys/api-key-format.js';
import { createGuard, type Guard } from '../../client/src/service/index.ts';
import { percentile } from '../../tooling/percentile.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { type ApiKey, insertApiKey } from '../support/api-keys.js';
import { times } from '../support/at-once.js';
import { type Account, anAccount, anOrgOf } from '../support/personas.js';
import { NO_LIMITS, startOwnService } from '../support/service.js';
import { aBoundToken, aServiceCaller } from '../support/services.js';
import { closeAfterAll, Storage } from './support/deployment.js';
import { report } from './support/figures.js';

const KEYS = { keys: true } as const;
const WRONG = 10_000;
const IN_A_TURN = 100;
const WRONG_IN_A_MS = 10;
const USES = 200_000;
const ROUNDS = 30;
const AT_ONCE = 8;

const { installation } = await closeAfterAll(Storage.on('sqlite'));
const service = await startOwnService({ installation, env: NO_LIMITS });
afterAll(() => service.stop());
const billing = await aServiceCaller(service, 'introspect', 'memberships', 'events', 'keys');
const open: Guard[] = [];
afterEach(async () => void (await Promise.all(open.splice(0).map((guard) => guard.close()))));

/** The guard, and the most questions that it had on their way at once about the keys that `isCounted` chooses. */
async function aGuard(isCounted: (token: string) => boolean = () => false) {
  const counts = { underWay: 0, most: 0, asked: 0 };
  const counting: typeof fetch = async (input, init) => {
    const token = new URLSearchParams(typeof init?.body === 'string' ? init.body : '').get('token') ?? '';
    if (!isCounted(token)) return fetch(input, init);
    counts.asked += 1;
    counts.underWay += 1;
    counts.most = Math.max(counts.most, counts.underWay);
    return fetch(input, init).finally(() => (counts.underWay -= 1));
  };
  const { name, secret } = billing;
  const guard = createGuard({
    issuer: 'accounts',
    audience: name,
    baseUrl: service.url,
    credentials: { name, secret },
    fetch: counting,
    log: { warn: () => undefined },
  });
  open.push(guard);
  await guard.ready({ timeoutMs: hangTimeoutMs() });
  return { guard, counts };
}

const bearer = (token: string): string => `Bearer ${token}`;

it('10,000 wrong keys leave tokens and known keys alone, and Accounts gets 8 questions at once', async () => {
  const ada = await anAccount(service, 'ada');
  const known = await insertApiKey(service, ada, billing);
  const token = await aBoundToken(billing, ada);
  const { guard, counts } = await aGuard((text) => text.startsWith('ack_') && text !== known.key);
  const headers = [bearer(known.key), bearer(token)];
  const useAll = async (): Promise<number> => {
    const begun = performance.now();
    for (let use = 0; use < USES; use += 1) {
      if (use % IN_A_TURN === 0) await new Promise((turn) => setImmediate(turn));
      const answer = await guard.authorize(headers[use % 2], KEYS);
      if (!answer.ok) throw new Error(answer.problem.code);
    }
    return USES / (performance.now() - begun);
  };
  await useAll();
  const alone = await useAll();

  const wrong = times(WRONG, newApiKey);
  const statuses: Promise<number>[] = [];
  const flood = async (): Promise<void> => {
    for (const begun = performance.now(); statuses.length < WRONG;) {
      await new Promise((turn) => setTimeout(turn, 1));
      const due = Math.min(WRONG, Math.round(WRONG_IN_A_MS * (performance.now() - begun)));
      while (statuses.length < due) {
        const use = guard.authorize(bearer(wrong[statuses.length]!), KEYS);
        statuses.push(use.then((answer) => (answer.ok ? 200 : answer.status)));
      }
    }
  };
  const [beside] = await Promise.all([useAll(), flood()]);
  const answers = await Promise.all(statuses);
  expect(new Set(answers)).toEqual(new Set([401, 503]));
  expect(counts.most).toBe(AT_ONCE);
  console.log(`uses at the guard beside wrong keys: ${(beside / alone).toFixed(2)} of the rate alone`);
  report({ requests: 2 * USES + WRONG, wrong: 0 });
});

/** Uses the key at three guards without a pause while it ends, until all of them refuse it. */
async function expectRefusedAfter(
  key: ApiKey,
  options: object,
  end: () => Promise<number>,
): Promise<number[]> {
  const guards = await Promise.all(times(3, async () => (await aGuard()).guard));
  let requests = 0;
  const untilRefused = async (guard: Guard): Promise<number> => {
    for (;;) {
      const answer = await guard.authorize(bearer(key.key), options);
      requests += 1;
      if (!answer.ok && answer.status !== 503) return performance.now();
      await new Promise((turn) => setTimeout(turn, 1));
    }
  };
  for (const guard of guards)
    expect(await guard.authorize(bearer(key.key), options)).toMatchObject({ ok: true });
  const refused = Promise.all(guards.map(untilRefused));
  expect(await end()).toBe(200);
  const endedAt = performance.now();
  const refusedAt = await refused;
  for (const guard of guards)
    expect(await guard.authorize(bearer(key.key), options)).toMatchObject({ ok: false });
  await Promise.all(open.splice(0).map((guard) => guard.close()));
  report({ faults: 1, requests, wrong: 0 });
  return refusedAt.map((at) => Math.max(0, at - endedAt));
}

describe('a key that three guards use', () => {
  it.each<[string, (owner: Account, key: ApiKey) => Promise<number>]>([
    ['it is reported', async (_, { key }) => (await service.anyone.post('/api/keys/revoke', { key })).status],
    ['it is revoked', async (owner, { id }) => (await owner.delete(`/api/me/keys/${id}`)).status],
  ])('is refused by all of them while %s', async (what, end) => {
    const ada = await anAccount(service, 'ada');
    const ms: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const key = await insertApiKey(service, ada, billing);
      ms.push(...(await expectRefusedAfter(key, KEYS, () => end(ada, key))));
    }
    const [median, p99] = [percentile(ms, 0.5), percentile(ms, 0.99)].map(Math.round);
    console.log(`${what}: refused after the answer within ${median} ms (median), ${p99} ms (p99)`);
  });

  it('is refused while its organization is deleted', async () => {
    const ada = await anAccount(service, 'ada');
    for (let round = 0; round < 5; round += 1) {
      const org = await anOrgOf(ada);
      const key = await insertApiKey(service, ada, billing, { orgId: org.id });
      const options = { ...KEYS, orgId: org.id };
      await expectRefusedAfter(key, options, async () => (await ada.delete(`/api/orgs/${org.id}`)).status);
      const { guard } = await aGuard();
      await waitFor('a new guard refuses it, too', hangTimeoutMs(), async () => {
        return !(await guard.authorize(bearer(key.key), options)).ok;
      });
    }
  });
});
