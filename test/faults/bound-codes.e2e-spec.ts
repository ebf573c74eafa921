import { expect, it } from 'vitest';
import { hangTimeoutMs } from '../../tooling/wait.js';
import type { Answer } from '../support/answer.js';
import { atOnce, times } from '../support/at-once.js';
import { answerOf, loadDuring } from '../support/load.js';
import { anAccount } from '../support/personas.js';
import type { Instance } from '../support/service.js';
import { aServiceClient, basic, type ServiceClient } from '../support/services.js';
import { closeAfterAll, startInstance, Storage, through, UNLIMITED } from './support/deployment.js';
import { FaultProxy } from './support/fault-proxy.js';
import { report, expectRounds } from './support/figures.js';
import { recovery } from './support/mixed-load.js';
import { done } from './support/story.js';

const INSTANCES = 3;

type Exchanged = Answer<{ token: string }>;

const { installation, server } = await closeAfterAll(Storage.on('mariadb'));
const network = await closeAfterAll(FaultProxy.start(server.port));
const env = { ...UNLIMITED, ...through(network.port, installation) };
const instances = await Promise.all(times(INSTANCES, () => closeAfterAll(startInstance(installation, env))));
const on = (turn: number): Instance => instances[turn % INSTANCES]!;
const ada = await anAccount(on(0), 'ada');

const aService = (): Promise<ServiceClient> => aServiceClient(installation.db);

async function aCodeFor({ name: audience }: ServiceClient, turn = 0): Promise<string> {
  const issued = await ada.at(on(turn)).post<{ code: string }>('/api/auth/code', { audience });
  return done(issued, 201).code;
}

function exchange(code: string, authorization: string | undefined, turn: number): Promise<Exchanged> {
  const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
  return on(turn).anyone.with(headers).post('/api/auth/code/exchange', { code });
}

const me = (token: string, turn: number): Promise<Answer> => on(turn).anyone.withToken(token).get('/api/me');

it('refuses no exchange while the secret of its service is rotated under load', async () => {
  const rotations = 5;
  const service = await aService();
  let used = service.secret;
  const underWay = new Map<string, number>();
  const count = (secret: string, more: number): void =>
    void underWay.set(secret, (underWay.get(secret) ?? 0) + more);
  const wrong: string[] = [];
  const history = await loadDuring(
    INSTANCES,
    async (_, turn) => {
      const code = await aCodeFor(service, turn);
      const secret = used;
      count(secret, 1);
      const { status, text } = await exchange(code, basic(service.name, secret), turn);
      count(secret, -1);
      if (status !== 200) wrong.push(`${status} ${text}`);
      return answerOf({ status });
    },
    async (load) => {
      for (let rotation = 0; rotation < rotations; rotation += 1) {
        await untilTrue(() => underWay.has(used));
        const old = used;
        used = await service.rotate();
        await untilTrue(() => underWay.get(old) === 0);
        await service.revoke(old);
        const before = load.entries.length;
        await untilTrue(() => load.entries.length > before + 2 * INSTANCES);
        const refused = await exchange(await aCodeFor(service), basic(service.name, old), rotation);
        if (refused.status !== 401) wrong.push(`the old secret was answered ${refused.status}`);
      }
    },
  );
  report({ faults: rotations, requests: history.entries.length, wrong: wrong.length });
  expect(wrong).toEqual([]);
  expect(history.entries.filter(({ outcome }) => outcome !== 'ok')).toEqual([]);
});

async function untilTrue(isSo: () => boolean): Promise<void> {
  await expect.poll(isSo, { timeout: hangTimeoutMs(), interval: 5 }).toBe(true);
}

it('answers 503 or the truth while the database goes and comes, and exchanges no code twice', async () => {
  const [right, other] = await Promise.all([aService(), aService()]);
  const { token } = done(await exchange(await aCodeFor(right), right.authorization, 0));
  const asking = times(8, (turn) => () => me(token, turn));
  const truths = [200, 400, 200, 401, 200].flatMap((status) => times(8, () => status));
  let unavailable = 0;
  await expectRounds([4, truths.length], async (fault, wrong) => {
    const codes = await Promise.all(times(8, (turn) => aCodeFor(right, turn)));
    const exchanging = (authorization: string) =>
      codes.map((code, turn) => () => exchange(code, authorization, turn));
    const byRight = atOnce(exchanging(right.authorization));
    const sent = atOnce([...exchanging(other.authorization), ...asking]);
    await network.refuse();
    const during = atOnce([...exchanging(basic(right.name, other.secret)), ...asking]);
    const [first, ...rest] = await Promise.all([byRight, sent, during]);
    await network.pass();
    report({ recoveriesMs: [await recovery(ada, on(fault))] });
    await Promise.all(instances.map((instance) => recovery(ada, instance)));

    for (const [place, { status }] of [...first, ...rest.flat()].entries()) {
      if (status === 503) unavailable += 1;
      else if (status !== truths[place])
        wrong.push(`${fault}: ${status} instead of ${truths[place]} at ${place}`);
    }
    for (const [place, code] of codes.entries()) {
      const { status, body } = first[place]!;
      if (status === 200 && (await me(body.token, place)).status !== 200)
        wrong.push(`${fault}: an acknowledged session is gone`);
      const again = await exchange(code, right.authorization, place);
      if (status === 200 ? again.status !== 400 : ![200, 400].includes(again.status))
        wrong.push(`${fault}: ${again.status} after ${status}`);
    }
  });
  const codes = await installation.db.query('SELECT code_hash FROM sessions WHERE code_hash IS NOT NULL');
  expect(new Set(codes.map((row) => row['code_hash'])).size).toBe(codes.length);
  expect(unavailable).toBeGreaterThan(0);
});
