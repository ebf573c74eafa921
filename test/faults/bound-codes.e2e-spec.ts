import { afterAll, beforeAll, expect, it } from 'vitest';
import { MariaDbServer } from '../../tooling/servers/mariadb.js';
import { hangTimeoutMs } from '../../tooling/wait.js';
import type { Answer } from '../support/answer.js';
import { atOnce, times } from '../support/at-once.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { loadDuring } from '../support/load.js';
import { type Account, anAccount } from '../support/personas.js';
import type { Instance } from '../support/service.js';
import { aServiceClient, basic, type ServiceClient } from '../support/services.js';
import { FaultProxy } from './support/fault-proxy.js';
import { report } from './support/figures.js';
import { startInstances, stopAll, through } from './support/instance.js';
import { recovery } from './support/mixed-load.js';

const INSTANCES = 3;
const NO_LIMITS = { RATE_LIMIT_LOGIN: 'off', RATE_LIMIT_REGISTER: 'off' };

type Exchanged = Answer<{ token: string }>;

let database: MariaDbServer;
let network: FaultProxy;
let installation: Installation;
let instances: Instance[];
let ada: Account;

beforeAll(async () => {
  database = await MariaDbServer.start();
  network = await FaultProxy.start(database.port);
  installation = await anInstallation({ mariadbPort: database.port });
  const env = { ...NO_LIMITS, ...through(network.port, installation) };
  instances = await startInstances(
    installation,
    times(INSTANCES, () => env),
  );
  ada = await anAccount(on(0), 'ada');
});
afterAll(async () => {
  await stopAll(instances);
  await installation.remove();
  await network.close();
  await database.close();
});

const on = (turn: number): Instance => instances[turn % INSTANCES]!;

const aService = (): Promise<ServiceClient> => aServiceClient(installation.db);

async function aCodeFor({ name }: ServiceClient, turn = 0): Promise<string> {
  const { status, body, text } = await ada
    .at(on(turn))
    .post<{ code: string }>('/api/auth/code', { audience: name });
  expect(status, text).toBe(201);
  return body.code;
}

function exchange(code: string, authorization: string | undefined, turn: number): Promise<Exchanged> {
  const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
  return on(turn).anyone.with(headers).post('/api/auth/code/exchange', { code });
}

async function aTokenFor(service: ServiceClient, turn = 0): Promise<string> {
  const { status, body, text } = await exchange(await aCodeFor(service, turn), service.authorization, turn);
  expect(status, text).toBe(200);
  return body.token;
}

const me = (token: string, turn: number): Promise<Answer> => on(turn).anyone.withToken(token).get('/api/me');

it('opens one session for 50 exchanges by its service, beside 50 by another and 50 without credentials', async () => {
  const rounds = 5;
  const [right, other] = await Promise.all([aService(), aService()]);
  const wrong: string[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const code = await aCodeFor(right, round);
    const answers = await atOnce(
      times(
        150,
        (i) => () => exchange(code, [right.authorization, other.authorization, undefined][i % 3], i),
      ),
    );
    const opened = answers.filter(({ status }) => status === 200);
    const byRight = answers.filter((answer, i) => i % 3 === 0 && answer.status === 200);
    // The server may find too many of them in one another's way; they are told to come again.
    const strange = answers.filter(
      ({ status, headers }) =>
        ![200, 400].includes(status) && (status !== 503 || headers.get('retry-after') === null),
    );
    if (opened.length !== 1 || byRight.length !== 1) wrong.push(`${round}: ${opened.length} were opened`);
    wrong.push(...strange.map(({ status, text }) => `${round}: ${status} ${text}`));
    // The second exchange by its own service ended it: nothing was opened for anybody.
    for (const { body } of opened) {
      if ((await me(body.token, round)).status !== 401) wrong.push(`${round}: its token lives`);
    }
  }
  report({ faults: rounds, requests: 150 * rounds, wrong: wrong.length });
  expect(wrong).toEqual([]);
});

it('opens one that lives for one exchange beside 50 by another service and 50 without credentials', async () => {
  const rounds = 5;
  const [right, other] = await Promise.all([aService(), aService()]);
  const wrong: string[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const code = await aCodeFor(right, round);
    const shown = times(101, (i) =>
      i === 50 ? right.authorization : [other.authorization, undefined][i % 2],
    );
    const answers = await atOnce(shown.map((header, i) => () => exchange(code, header, i)));
    const statuses = answers.map(({ status }) => status);
    if (statuses[50] !== 200 || statuses.filter((status) => status === 400).length !== 100)
      wrong.push(`${round}: ${statuses.join(' ')}`);
    const alive = await me(answers[50]!.body.token, round);
    if (alive.status !== 200) wrong.push(`${round}: its token is dead`);
  }
  report({ faults: rounds, requests: 101 * rounds, wrong: wrong.length });
  expect(wrong).toEqual([]);
});

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
      return { outcome: status === 200 ? 'ok' : 'refused', label: String(status) };
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

it('refuses a disabled service and its tokens at the next request on every instance, and revives none', async () => {
  const rounds = 20;
  const wrong: string[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const service = await aService();
    const tokens = await Promise.all(times(INSTANCES, (turn) => aTokenFor(service, turn)));
    const codes = await Promise.all(times(INSTANCES, (turn) => aCodeFor(service, turn)));
    await service.disable();
    const refused = await atOnce([
      ...tokens.map((token, turn) => () => me(token, turn)),
      ...codes.map((code, turn) => () => exchange(code, service.authorization, turn)),
    ]);
    await service.enable();
    const later = await atOnce(tokens.map((token, turn) => () => me(token, turn + 1)));
    const renewed = await me(await aTokenFor(service, round), round + 1);
    const statuses = [...refused, ...later, renewed].map(({ status }) => status).join(' ');
    if (statuses !== `${'401 '.repeat(3 * INSTANCES)}200`) wrong.push(`${round}: ${statuses}`);
  }
  report({ faults: rounds, requests: (3 * INSTANCES + 1) * rounds, wrong: wrong.length });
  expect(wrong).toEqual([]);
});

it('answers 503 or the truth while the database goes and comes, and exchanges no code twice', async () => {
  const faults = 4;
  const [right, other] = await Promise.all([aService(), aService()]);
  const token = await aTokenFor(right);
  const wrong: string[] = [];
  let requests = 0;
  let unavailable = 0;
  const recoveriesMs: number[] = [];
  for (let fault = 0; fault < faults; fault += 1) {
    const codes = await Promise.all(times(8, (turn) => aCodeFor(right, turn)));
    const sent = atOnce([
      ...codes.map((code, turn) => () => exchange(code, right.authorization, turn)),
      ...codes.map((code, turn) => () => exchange(code, other.authorization, turn)),
      ...times(8, (turn) => () => me(token, turn)),
    ]);
    await network.refuse();
    const during = atOnce([
      ...codes.map((code, turn) => () => exchange(code, basic(right.name, other.secret), turn)),
      ...times(8, (turn) => () => me(token, turn)),
    ]);
    const [first, second] = await Promise.all([sent, during]);
    await network.pass();
    recoveriesMs.push(await recovery(ada, on(fault)));
    await Promise.all(instances.map((instance) => recovery(ada, instance)));

    const allowed = [...times(8, () => 200), ...times(8, () => 400), ...times(8, () => 200)];
    const answers = [...first, ...second];
    for (const [place, { status }] of answers.entries()) {
      const truth = allowed[place] ?? (place < 32 ? 401 : 200);
      if (status === 503) unavailable += 1;
      else if (status !== truth) wrong.push(`${fault}: ${status} instead of ${truth} at ${place}`);
    }
    requests += answers.length;
    for (const [place, code] of codes.entries()) {
      const { status } = first[place]!;
      if (status === 200 && (await me(tokenOf(first[place]!), place)).status !== 200)
        wrong.push(`${fault}: an acknowledged session is gone`);
      const again = await exchange(code, right.authorization, place);
      if (status === 200 ? again.status !== 400 : ![200, 400].includes(again.status))
        wrong.push(`${fault}: ${again.status} after ${status}`);
    }
  }
  const [twice] = await installation.db.query(
    'SELECT COUNT(code_hash) - COUNT(DISTINCT code_hash) AS twice FROM sessions',
  );
  expect(Number(twice!['twice'])).toBe(0);
  report({ faults, requests, wrong: wrong.length, recoveriesMs });
  expect(wrong).toEqual([]);
  expect(unavailable).toBeGreaterThan(0);
});

const tokenOf = ({ body }: Answer): string => (body as { token: string }).token;
