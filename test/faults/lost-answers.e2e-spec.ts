import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Answer } from '../support/answer.js';
import { anInstallation, type Installation } from '../support/installation.js';
import {
  type Account,
  aCode,
  anAccount,
  anEmail,
  anOrgOf,
  aPassword,
  join,
  type Org,
} from '../support/personas.js';
import type { Instance } from '../support/service.js';
import { type CommitFault, type CommitProxy, startCommitProxy } from './support/commit-proxy.js';
import { report } from './support/figures.js';
import { startInstance, through } from './support/instance.js';
import { MariaDbServer } from '../../tooling/servers/mariadb.js';
import { recovery } from './support/mixed-load.js';

const NO_LIMITS = { RATE_LIMIT_LOGIN: 'off', RATE_LIMIT_REGISTER: 'off' };

let database: MariaDbServer;
let proxy: CommitProxy;
let installation: Installation;
let instance: Instance;
let owner: Account;
let member: Account;
/** one for each addition */
let newcomers: Account[];
let org: Org;

beforeAll(async () => {
  database = await MariaDbServer.start({});
  proxy = await startCommitProxy(database.port);
  installation = await anInstallation({ mariadbPort: database.port });
  instance = await startInstance(installation, { ...NO_LIMITS, ...through(proxy.port, installation) });
  owner = await anAccount(instance);
  member = await anAccount(instance);
  newcomers = [await anAccount(instance), await anAccount(instance)];
  org = await anOrgOf(owner);
  await join(org, owner, member, 'member');
});

afterAll(async () => {
  await instance.stop();
  await installation.remove();
  await proxy.close();
  await database.close();
});

const members = (): string => `/api/orgs/${org.id}/members`;

/** Begins as a member, since a change to the role that the member has writes nothing. */
async function promote(): Promise<Answer> {
  await installation.db.query("UPDATE members SET role = 'member' WHERE org_id = ? AND user_id = ?", [
    org.id,
    member.id,
  ]);
  return owner.patch(`${members()}/${member.id}`, { role: 'admin' });
}

const writes: { name: string; last: RegExp; send: () => Promise<Answer> }[] = [
  {
    name: 'a registration',
    last: /^COMMIT/,
    send: () => instance.anyone.post('/api/auth/register', { email: anEmail(), password: aPassword() }),
  },
  {
    name: 'a login',
    last: /^COMMIT/,
    send: () => instance.anyone.post('/api/auth/login', { email: owner.email, password: owner.password }),
  },
  { name: 'a code', last: /^INSERT INTO authorization_codes/, send: () => owner.post('/api/auth/code') },
  { name: 'a new organization', last: /^COMMIT/, send: () => owner.post('/api/orgs', { name: 'New' }) },
  {
    name: 'an addition',
    last: /^COMMIT/,
    send: () => owner.post(members(), { email: newcomers.pop()!.email, role: 'member' }),
  },
  {
    name: 'a change of a role',
    last: /^COMMIT/,
    send: promote,
  },
];

async function whileCut(statement: RegExp, fault: CommitFault, send: () => Promise<Answer>): Promise<Answer> {
  const before = proxy.cut;
  Object.assign(proxy, { statement, fault });
  const answer = await send();
  proxy.fault = 'pass';
  expect(proxy.cut - before, 'connections cut at their statement').toBe(1);
  await recovery(owner, instance);
  return answer;
}

for (const fault of ['lose answer', 'lose request'] as const) {
  it.each(writes)(`says of $name that its outcome is unknown after "${fault}"`, async ({ last, send }) => {
    const answer = await whileCut(last, fault, send);

    report({ faults: 1, requests: 1, wrong: answer.status === 503 ? 0 : 1 });
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(answer.body).toMatchObject({
      code: 'unavailable',
      detail: expect.stringMatching(/whether the request took effect is unknown/),
    });
  });
}

it.each([
  ['lose answer', 'true'],
  ['lose request', null],
] as const)(
  'tells whoever repeats a request with its key what became of it after "%s"',
  async (fault, replayed) => {
    const by = owner.with({ 'idempotency-key': fault.replace(' ', '-') });
    const create = () => by.post<{ org: Org }>('/api/orgs', { name: fault });
    expect((await whileCut(/^COMMIT/, fault, create)).status).toBe(503);

    const again = await create();

    const made = await installation.db.query('SELECT id FROM orgs WHERE name = ?', [fault]);
    const isRight = again.status === 201 && again.headers.get('idempotency-replayed') === replayed;
    report({ faults: 1, requests: 2, wrong: isRight ? 0 : 1 });
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, replayed]);
    expect(made).toEqual([{ id: again.body.org.id }]);
  },
);

it('reports the outcome of an exchange as unknown', async () => {
  const code = await aCode(owner);
  const last = /^(?:COMMIT|INSERT INTO sessions[^]*SELECT)/;

  const answer = await whileCut(last, 'lose answer', () =>
    instance.anyone.post('/api/auth/code/exchange', { code }),
  );

  report({ faults: 1, requests: 1, wrong: answer.status === 503 ? 0 : 1 });
  expect(answer).toMatchObject({ status: 503, body: { detail: expect.stringMatching(/is unknown/) } });
});

const harmless: { name: string; statement: RegExp; send: () => Promise<Answer> }[] = [
  {
    name: 'the change before COMMIT',
    statement: /^UPDATE members/,
    send: promote,
  },
  {
    name: 'the first statement of a transaction',
    statement: /^INSERT INTO orgs/,
    send: () => owner.post('/api/orgs', { name: 'New' }),
  },
  { name: 'a read', statement: /^SELECT m\.user_id AS userId, o\.id/, send: () => owner.get('/api/me') },
];

it.each(harmless)('says that the request can be repeated when $name is lost', async ({ statement, send }) => {
  const answer = await whileCut(statement, 'lose answer', send);

  report({ faults: 1, requests: 1, wrong: answer.status === 503 ? 0 : 1 });
  expect(answer.status).toBe(503);
  expect(answer.body).toMatchObject({ detail: expect.stringMatching(/; repeat the request\.$/) });
});
