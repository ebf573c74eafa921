import { describe, expect, it } from 'vitest';
import { hangTimeoutMs } from '../../tooling/wait.js';
import type { Answer } from '../support/answer.js';
import { atOnce, times } from '../support/at-once.js';
import { loadDuring } from '../support/load.js';
import { anAccount } from '../support/personas.js';
import { asString, type Reply, type Send } from '../support/service-client.js';
import type { Instance } from '../support/service.js';
import { aServiceClient, basic, type ServiceClient } from '../support/services.js';
import {
  closeAfterAll,
  ENGINES,
  register,
  startInstance,
  startOn,
  Storage,
  through,
  UNLIMITED,
} from './support/deployment.js';
import { FaultProxy } from './support/fault-proxy.js';
import { report, expectRounds } from './support/figures.js';
import { killDuring } from './support/kill-during.js';
import { recovery } from './support/mixed-load.js';
import { Random, seedOfRun } from './support/random.js';

const INSTANCES = 3;
const KILLS = 8;
const WORKERS = 6;

type Exchanged = Answer<{ token: string }>;

const { installation, server } = await closeAfterAll(Storage.on('mariadb'));
const network = await closeAfterAll(FaultProxy.start(server.port));
const env = { ...UNLIMITED, ...through(network.port, installation) };
const instances = await Promise.all(times(INSTANCES, () => closeAfterAll(startInstance(installation, env))));
const on = (turn: number): Instance => instances[turn % INSTANCES]!;
const ada = await anAccount(on(0), 'ada');

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

it('opens one session that lives for one exchange beside 50 by another service and 50 without credentials', async () => {
  const [right, other] = await Promise.all([aService(), aService()]);
  const shown = times(101, (i) => (i === 50 ? right.authorization : [other.authorization, undefined][i % 2]));
  await expectRounds([5, 101], async (round, wrong) => {
    const code = await aCodeFor(right, round);
    const answers = await atOnce(shown.map((header, i) => () => exchange(code, header, i)));
    const statuses = answers.map(({ status }) => status);
    if (statuses[50] !== 200 || statuses.filter((status) => status === 400).length !== 100)
      wrong.push(`${round}: ${statuses.join(' ')}`);
    const alive = await me(answers[50]!.body.token, round);
    if (alive.status !== 200) wrong.push(`${round}: its token is dead`);
  });
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

it('answers 503 or the truth while the database goes and comes, and exchanges no code twice', async () => {
  const [right, other] = await Promise.all([aService(), aService()]);
  const token = await aTokenFor(right);
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
  const [twice] = await installation.db.query(
    'SELECT COUNT(code_hash) - COUNT(DISTINCT code_hash) AS twice FROM sessions',
  );
  expect(Number(twice!['twice'])).toBe(0);
  expect(unavailable).toBeGreaterThan(0);
});

/** A user whose codes for one service the service exchanges; it is told of each whether it was, and what it opened. */
class Exchanger {
  readonly opened: string[] = [];
  /** issued, and not exchanged */
  unused: string[] = [];
  /** sent for exchange, and not answered */
  unanswered: string[] = [];
  private token = '';

  constructor(
    private readonly send: Send,
    private readonly service: ServiceClient,
    private readonly wrong: ServiceClient,
  ) {}

  async prepare(): Promise<void> {
    ({ token: this.token } = await register(this.send));
    await this.step();
  }

  async step(): Promise<void> {
    const issued = await this.send('POST', '/api/auth/code', {
      token: this.token,
      body: { audience: this.service.name },
    });
    const code = asString(required(issued, 201).body['code']);
    this.unused = [code];
    required(await this.exchange(code, this.wrong), 400);
    [this.unused, this.unanswered] = [[], [code]];
    this.keep(await this.exchange(code));
    this.unanswered = [];
  }

  exchange(code: string, by = this.service): Promise<Reply> {
    const headers = { authorization: by.authorization };
    return this.send('POST', '/api/auth/code/exchange', { headers, body: { code } });
  }

  keep(reply: Reply): void {
    this.opened.push(asString(required(reply, 200).body['token']));
  }
}

function required(reply: Reply, status: number): Reply {
  if (reply.status !== status) throw new Error(`answered ${reply.status}, not ${status}`);
  return reply;
}

describe.each(ENGINES)('kill -9 during exchanges of codes for one service on %s', (engine) => {
  it('leaves of each code one session or a code that is good', { timeout: 180_000 }, async () => {
    const random = new Random(seedOfRun(`kill -9 of bound codes on ${engine}`));
    const { storage, service, send } = await startOn(engine);
    const [right, wrong] = await Promise.all([1, 2].map(() => aServiceClient(storage.installation.db)));
    let acknowledged = 0;
    let unknown = 0;
    for (let kill = 0; kill < KILLS; kill += 1) {
      const clients = times(WORKERS, () => new Exchanger(send, right!, wrong!));
      for (const client of clients) await client.prepare();
      const deeds = clients.map((client) => () => client.step());
      await killDuring(service, deeds, random.between(50, 400));
      for (const client of clients) {
        acknowledged += client.opened.length;
        unknown += client.unanswered.length;
        await check(client);
      }
    }
    const hashes = (await storage.snapshot()).sessions.flatMap(({ codeHash }) => codeHash ?? []);
    expect(new Set(hashes).size).toBe(hashes.length);
    expect(
      await storage.query('SELECT id FROM sessions WHERE code_hash IS NOT NULL AND bound_epoch IS NULL'),
    ).toEqual([]);
    expect(acknowledged).toBeGreaterThan(KILLS * WORKERS);
    expect(unknown).toBeGreaterThan(0);
    report({ faults: KILLS, requests: 2 * acknowledged + unknown, wrong: 0, acknowledged, lost: 0 });

    async function check(client: Exchanger): Promise<void> {
      const sessions = async (): Promise<number> => (await storage.query('SELECT id FROM sessions')).length;
      for (const code of client.unanswered) {
        const before = await sessions();
        expect((await client.exchange(code, wrong)).status).toBe(400);
        const reply = await client.exchange(code);
        // It was good, or has opened the one session that the second exchange ends.
        expect([200, 400]).toContain(reply.status);
        expect((await sessions()) - before).toBe(reply.status === 200 ? 1 : 0);
        if (reply.status === 200) client.keep(reply);
      }
      for (const code of client.unused) client.keep(await client.exchange(code));
      const answers = await Promise.all(client.opened.map((token) => send('GET', '/api/me', { token })));
      expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    }
  });
});
