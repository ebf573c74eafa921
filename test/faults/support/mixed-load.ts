import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer as HttpAnswer } from '../../support/answer.js';
import { Account, anAccount, anEmail, anOrgOf, aPassword, logIn, type Org } from '../../support/personas.js';
import { expect } from 'vitest';
import type { Service } from '../../support/service.js';
import { report } from './figures.js';
import { WriteLedger } from './write-ledger.js';
import { type Answer, History, loadDuring } from '../../support/load.js';

/** 5 s are promised; the rest is noise of the test machine */
export const MAX_ANSWER_MS = 5500;
const MAX_LIVE_MS = 1500;
const PAUSE_MS = 40;
const WORKERS_OF_EACH_KIND = 2;
const RECOVERY_TIMEOUT_MS = 15_000;

type Kind = [name: string, status: number, send: (load: MixedLoad, service: Service) => Promise<HttpAnswer>];

const KINDS: Kind[] = [
  ['live', 200, (_, { anyone }) => anyone.get('/health/live')],
  ['ready', 200, (_, { anyone }) => anyone.get('/health/ready')],
  ['me', 200, ({ account }, service) => account.at(service).get('/api/me')],
  ['org', 200, ({ account, org }, service) => account.at(service).get(`/api/orgs/${org.id}`)],
  ['create org', 201, (load, service) => load.createOrg(service)],
  ['register', 201, (load, service) => load.register(service)],
  ['login', 200, ({ account }, service) => logIn(service, account)],
];

/**
 * What users do all day, against some instances in turn. Each answer is either the right one, or 503 with
 * Retry-After, and in time; everything else is noted as wrong.
 */
export class MixedLoad {
  readonly history = new History();
  readonly wrong: string[] = [];
  readonly writes = new WriteLedger();

  constructor(
    readonly account: Account,
    readonly org: Org,
    /** Has the many organizations: above 200, `GET /api/me` is streamed, and is cut off with the database. */
    private readonly founder: Account,
    private readonly instances: readonly Service[],
  ) {}

  async during(faults: () => Promise<void>): Promise<void> {
    await loadDuring(
      KINDS.length * WORKERS_OF_EACH_KIND,
      async (worker, turn) => {
        const kind = KINDS[worker % KINDS.length]!;
        await this.history.record(worker, () =>
          this.ask(kind, this.instances[turn % this.instances.length]!),
        );
        await sleep(PAUSE_MS);
        return { outcome: 'ok', label: kind[0] };
      },
      faults,
    );
  }

  refusedBetween(from: number, to = Infinity): number {
    return this.history.entries.filter(
      ({ outcome, startedAt }) => outcome !== 'ok' && startedAt >= from && startedAt < to,
    ).length;
  }

  /** Compares what clients were told with what is there: acknowledged writes that are lost, and doubled ones. */
  async compare(db: Service['db']): Promise<{ lost: string[]; ghosts: string[] }> {
    const present = [
      ...(await db.query('SELECT name AS written FROM orgs')),
      ...(await db.query('SELECT email AS written FROM users')),
    ];
    return this.writes.compare(new Set(present.map(({ written }) => String(written))));
  }

  createOrg(service: Service): Promise<HttpAnswer> {
    const name = anEmail('org');
    return this.noted(name, () => this.founder.at(service).post('/api/orgs', { name }));
  }

  register(service: Service): Promise<HttpAnswer> {
    const email = anEmail('new');
    return this.noted(email, () =>
      service.anyone.post('/api/auth/register', { email, password: aPassword() }),
    );
  }

  private async noted(key: string, send: () => Promise<HttpAnswer>): Promise<HttpAnswer> {
    this.writes.note(key, 'unknown');
    const answer = await send();
    if (answer.status === 201) this.writes.note(key, 'ok');
    else if (answer.status !== 503) this.writes.note(key, 'refused');
    return answer;
  }

  private async ask([name, expected, send]: Kind, service: Service): Promise<Answer> {
    const begin = performance.now();
    try {
      const { status, headers, text } = await send(this, service);
      const took = performance.now() - begin;
      const unavailable = status === 503 && headers.get('retry-after') !== null && name !== 'live';
      const timeoutMs = name === 'live' ? MAX_LIVE_MS : MAX_ANSWER_MS;
      if ((status !== expected && !unavailable) || took > timeoutMs)
        this.wrong.push(`${name}: ${status} after ${Math.round(took)} ms: ${text.slice(0, 300)}`);
      return { outcome: status === expected ? 'ok' : 'unknown', label: `${name} ${status}` };
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
      this.wrong.push(`${name}: ${String(error)}${cause}`);
      return { outcome: 'unknown', label: name };
    }
  }
}

/** Milliseconds until the service reads and writes again; new requests are sent all the time, none is waited for. */
export async function recovery(account: Account, service: Service): Promise<number> {
  const begin = performance.now();
  const here = account.at(service);
  for (;;) {
    const round = Promise.all([
      service.anyone.get('/health/ready'),
      here.get('/api/me'),
      here.post('/api/orgs', { name: 'Back again' }),
    ]);
    const good = round.then((answers) => answers.every(({ status }) => status < 300));
    if (await Promise.race([good, sleep(250, false)])) return performance.now() - begin;
    if (performance.now() - begin > RECOVERY_TIMEOUT_MS) throw new Error('no recovery in time');
    await sleep(50);
  }
}

/**
 * Load of a new user while `strike` lasts. Reports what it met, and requires that no answer was wrong and no
 * acknowledged write is lost.
 *
 * @param settle until the data can be compared
 */
export async function loadBeside(
  instances: readonly Service[],
  strike: (load: MixedLoad, recoveriesMs: number[]) => Promise<void>,
  { faults = 1, settle = async (): Promise<void> => undefined } = {},
): Promise<{ load: MixedLoad; recoveriesMs: number[]; acknowledged: number }> {
  const service = instances[0]!;
  const account = await anAccount(service);
  const load = new MixedLoad(account, await anOrgOf(account), await anAccount(service), instances);
  const recoveriesMs: number[] = [];
  await load.during(() => strike(load, recoveriesMs));
  await settle();
  const { lost, ghosts } = await load.compare(service.db);
  const acknowledged = load.writes.keys('ok').length;
  const { wrong, history } = load;
  const [requests, longestAnswerMs] = [history.entries.length, Math.max(0, ...history.durations())];
  const figures = { wrong: wrong.length, acknowledged, lost: lost.length, longestAnswerMs };
  report({ faults, requests, ...figures, recoveriesMs });
  expect(wrong).toEqual([]);
  expect({ lost, ghosts }).toEqual({ lost: [], ghosts: [] });
  return { load, recoveriesMs, acknowledged };
}
