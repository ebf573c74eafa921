import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer as HttpAnswer } from '../../support/answer.js';
import { Account, anAccount, anEmail, anOrgOf, aPassword, type Org } from '../../support/personas.js';
import { expect } from 'vitest';
import type { Service } from '../../support/service.js';
import { report } from './figures.js';
import { type LedgerReport, WriteLedger } from './write-ledger.js';
import { type Answer, History, loadDuring } from '../../support/load.js';

/** 5 s are promised; the rest is noise of the test machine */
export const MAX_ANSWER_MS = 5500;
const MAX_LIVE_MS = 1500;
const PAUSE_MS = 40;
const WORKERS_OF_EACH_KIND = 2;
const RECOVERY_TIMEOUT_MS = 15_000;

interface Kind {
  name: string;
  status: number;
  send(load: MixedLoad, service: Service): Promise<HttpAnswer>;
}

const KINDS: Kind[] = [
  { name: 'live', status: 200, send: (_, service) => service.anyone.get('/health/live') },
  { name: 'ready', status: 200, send: (_, service) => service.anyone.get('/health/ready') },
  { name: 'me', status: 200, send: ({ account }, service) => account.at(service).get('/api/me') },
  {
    name: 'org',
    status: 200,
    send: ({ account, org }, service) => account.at(service).get(`/api/orgs/${org.id}`),
  },
  { name: 'create org', status: 201, send: (load, service) => load.createOrg(service) },
  { name: 'register', status: 201, send: (load, service) => load.register(service) },
  {
    name: 'login',
    status: 200,
    send: ({ account: { email, password } }, service) =>
      service.anyone.post('/api/auth/login', { email, password }),
  },
];

/**
 * What users do all day, against some instances in turn. Each answer is either the right one, or 503 with
 * Retry-After, and in time; everything else is noted as wrong.
 */
export class MixedLoad {
  readonly history = new History();
  readonly wrong: string[] = [];
  /** by the organization's name or the user's email */
  private readonly writes = new WriteLedger();

  constructor(
    readonly account: Account,
    readonly org: Org,
    private readonly instances: readonly Service[],
  ) {}

  /** Load beside `faults`, and until it has ended. */
  async during(faults: () => Promise<void>): Promise<void> {
    await loadDuring(
      KINDS.length * WORKERS_OF_EACH_KIND,
      async (worker, turn) => {
        const kind = KINDS[worker % KINDS.length]!;
        await this.history.record(worker, () =>
          this.ask(kind, this.instances[turn % this.instances.length]!),
        );
        await sleep(PAUSE_MS);
        return { outcome: 'ok', label: kind.name };
      },
      faults,
    );
  }

  get longestAnswerMs(): number {
    return Math.max(0, ...this.history.durations());
  }

  get requests(): number {
    return this.history.entries.length;
  }

  /** 503s to requests that began in that span of the history's time. */
  refusedBetween(from: number, to = Infinity): number {
    return this.history.entries.filter(
      ({ outcome, startedAt }) => outcome !== 'ok' && startedAt >= from && startedAt < to,
    ).length;
  }

  /** Compares what clients were told with what is there: acknowledged writes that are lost, and doubled ones. */
  async compare(db: Service['db']): Promise<LedgerReport> {
    const present = [
      ...(await db.query('SELECT name AS written FROM orgs')),
      ...(await db.query('SELECT email AS written FROM users')),
    ];
    return this.writes.compare(new Set(present.map(({ written }) => String(written))));
  }

  createOrg(service: Service): Promise<HttpAnswer> {
    const name = anEmail('org');
    return this.noted(name, () => this.account.at(service).post('/api/orgs', { name }));
  }

  register(service: Service): Promise<HttpAnswer> {
    const email = anEmail('new');
    return this.noted(email, () =>
      service.anyone.post('/api/auth/register', { email, password: aPassword() }),
    );
  }

  private async noted(key: string, send: () => Promise<HttpAnswer>): Promise<HttpAnswer> {
    this.writes.sent(key);
    const answer = await send();
    if (answer.status === 201) this.writes.answered(key, 'ok');
    else if (answer.status !== 503) this.writes.answered(key, 'refused');
    return answer;
  }

  private async ask(kind: Kind, service: Service): Promise<Answer> {
    const begin = performance.now();
    try {
      const { status, headers, text } = await kind.send(this, service);
      const took = performance.now() - begin;
      const unavailable = status === 503 && headers.get('retry-after') !== null && kind.name !== 'live';
      const timeoutMs = kind.name === 'live' ? MAX_LIVE_MS : MAX_ANSWER_MS;
      if ((status !== kind.status && !unavailable) || took > timeoutMs) {
        this.wrong.push(`${kind.name}: ${status} after ${Math.round(took)} ms: ${text.slice(0, 300)}`);
      }
      return { outcome: status === kind.status ? 'ok' : 'unknown', label: `${kind.name} ${status}` };
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
      this.wrong.push(`${kind.name}: ${String(error)}${cause}`);
      return { outcome: 'unknown', label: kind.name };
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
  const load = new MixedLoad(account, await anOrgOf(account), instances);
  const recoveriesMs: number[] = [];
  await load.during(() => strike(load, recoveriesMs));
  await settle();
  const { acknowledged, lost, ghosts } = await load.compare(service.db);
  const { requests, wrong, longestAnswerMs } = load;
  report({
    faults,
    requests,
    wrong: wrong.length,
    acknowledged,
    lost: lost.length,
    longestAnswerMs,
    recoveriesMs,
  });
  expect(wrong).toEqual([]);
  expect({ lost, ghosts }).toEqual({ lost: [], ghosts: [] });
  return { load, recoveriesMs, acknowledged };
}
