import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { ServiceChanges } from '../../src/services/service-changes.js';
import type { Answer } from '../support/answer.js';
import { atOnce, times } from '../support/at-once.js';
import { type Account, anAccount } from '../support/personas.js';
import { basic } from '../support/services.js';
import type { Instance } from '../support/service.js';
import { report } from './support/figures.js';
import { GaleraService } from './support/galera-service.js';
import { type NodeServices, servicesAt } from './support/node-services.js';

const OPERATOR = { kind: 'operator', id: 'test' } as const;
const EXCHANGES = 4;

let galera: GaleraService;
let operators: NodeServices[];
let ada: Account;

beforeAll(async () => {
  galera = await GaleraService.start({ nodes: 2, env: { RATE_LIMIT_REGISTER: 'off' } });
  operators = await Promise.all(
    galera.cluster.nodes.map(({ port }) => servicesAt(galera.installation, port)),
  );
  ada = await anAccount(on(0), 'ada');
});
afterAll(async () => {
  await Promise.all(operators.map((operator) => operator.close()));
  await galera.stop();
});
afterEach(() => galera.cluster.waitUntilEqual());

const on = (turn: number): Instance => galera.on(turn);
const changes = (turn: number): ServiceChanges => operators[turn % operators.length]!.get(ServiceChanges);

interface Secret {
  name: string;
  id: string;
  secret: string;
}

interface Ending {
  how: string;
  end: (by: ServiceChanges, secret: Secret) => Promise<unknown>;
  /** what a new token is opened with afterwards */
  renew: (by: ServiceChanges, secret: Secret) => Promise<string>;
}

const another = async (by: ServiceChanges, { name }: Secret): Promise<string> =>
  (await by.rotate(name, OPERATOR)).secret;

const ENDINGS: Ending[] = [
  {
    how: 'is disabled',
    end: (by, { name }) => by.disable(name, OPERATOR),
    renew: async (by, { name, secret }) => {
      await by.enable(name, OPERATOR);
      return secret;
    },
  },
  {
    how: 'has its sessions ended with its secret',
    end: (by, { name, id }) => by.revokeSecret(name, { secretId: id, endSessions: true }, OPERATOR),
    renew: another,
  },
];

it.each(ENDINGS)(
  'leaves no session alive of a service that $how on another node',
  async ({ how, end, renew }) => {
    const rounds = 60;
    const wrong: string[] = [];
    let opened = 0;
    let refused = 0;
    for (let round = 0; round < rounds; round += 1) {
      const name = `${how.split(' ')[0]}-${round}`;
      const { id, secret } = await changes(round).add(name, [], OPERATOR);
      await galera.cluster.waitUntilEqual();
      const exchange = (code: string, by: string, at: Instance): Promise<Answer<{ token: string }>> =>
        at.anyone.with({ authorization: basic(name, by) }).post('/api/auth/code/exchange', { code });
      const codes = await Promise.all(times(EXCHANGES + 1, (i) => aCodeFor(name, on(round + i))));
      await galera.cluster.waitUntilEqual();

      const [, ...answers] = await atOnce<Answer<{ token: string }> | undefined>([
        async () => void (await end(changes(round), { name, id, secret })),
        ...codes
          .slice(1)
          .map((code, i) => () => exchange(code, secret, on(round + 1 + (i % 3 === 2 ? 1 : 0)))),
      ]);
      await galera.cluster.waitUntilEqual();
      const tokens = answers.flatMap((answer) => (answer?.status === 200 ? [answer.body.token] : []));
      const statuses = answers.map((answer) => answer?.status ?? 0).filter((status) => status !== 200);
      if (statuses.some((status) => ![400, 401].includes(status)))
        wrong.push(`${round}: ${statuses.join(' ')}`);
      opened += tokens.length;
      refused += statuses.length;

      const renewed = await renew(changes(round + 1), { name, id, secret });
      await galera.cluster.waitUntilEqual();
      for (const token of tokens) {
        const alive = await Promise.all(
          galera.instances.map(({ anyone }) => anyone.withToken(token).get('/api/me')),
        );
        if (alive.some(({ status }) => status !== 401)) wrong.push(`${round}: a session is alive`);
      }
      const next = await exchange(codes[0]!, renewed, on(round));
      if (next.status !== 200) wrong.push(`${round}: the service was answered ${next.status} afterwards`);
    }
    report({ faults: rounds, requests: (EXCHANGES + 1) * rounds, wrong: wrong.length });
    expect(wrong).toEqual([]);
    // Rounds in which all came before, or all after, would prove nothing.
    expect(opened).toBeGreaterThan(0);
    expect(refused).toBeGreaterThan(0);
  },
);

async function aCodeFor(audience: string, at: Instance): Promise<string> {
  const { status, body, text } = await ada.at(at).post<{ code: string }>('/api/auth/code', { audience });
  expect(status, text).toBe(201);
  return body.code;
}
