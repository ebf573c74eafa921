import { describe, expect, it } from 'vitest';
import type { Answer } from '../support/answer.js';
import {
  aCode,
  anAccount,
  anEmail,
  anOrgOf,
  aPassword,
  exchange,
  join,
  logIn,
  type Org,
} from '../support/personas.js';
import { closeAfterAll, startInstance, Storage, through, UNLIMITED } from './support/deployment.js';
import { type CommitFault, startCommitProxy } from './support/tcp-proxy.js';
import { report } from './support/figures.js';
import { recovery } from './support/mixed-load.js';

const { installation, server } = await closeAfterAll(Storage.on('mariadb'));
const proxy = await closeAfterAll(startCommitProxy(server.port));
const instance = await closeAfterAll(
  startInstance(installation, { ...UNLIMITED, ...through(proxy.port, installation) }),
);
const [owner, member] = [await anAccount(instance), await anAccount(instance)];
/** one for each addition */
const newcomers = [await anAccount(instance), await anAccount(instance)];
const org = await anOrgOf(owner);
await join(org, owner, member, 'member');
const members = `/api/orgs/${org.id}/members`;

/** Begins as a member, since a change to the role that the member has writes nothing. */
async function promote(): Promise<Answer> {
  const role = "UPDATE members SET role = 'member' WHERE org_id = ? AND user_id = ?";
  await installation.db.query(role, [org.id, member.id]);
  return owner.patch(`${members}/${member.id}`, { role: 'admin' });
}

const create = () => owner.post('/api/orgs', { name: 'New' });

async function whileCut<A extends Answer>(
  statement: RegExp,
  fault: CommitFault,
  send: () => Promise<A>,
): Promise<A> {
  const before = proxy.cut;
  Object.assign(proxy, { statement, fault });
  const answer = await send();
  proxy.fault = 'pass';
  expect(proxy.cut - before, 'connections cut at their statement').toBe(1);
  await recovery(owner, instance);
  report({ faults: 1, requests: 1, wrong: answer.status === 503 ? 0 : 1 });
  expect(answer.status).toBe(503);
  return answer;
}

const COMMIT = /^COMMIT/;
const credentials = () => ({ email: anEmail(), password: aPassword() });
const writes: [name: string, last: RegExp, send: () => Promise<Answer>][] = [
  ['a registration', COMMIT, () => instance.anyone.post('/api/auth/register', credentials())],
  ['a login', COMMIT, () => logIn(instance, owner)],
  ['a code', /^INSERT INTO authorization_codes/, () => owner.post('/api/auth/code')],
  ['a new organization', COMMIT, create],
  ['an addition', COMMIT, () => owner.post(members, { email: newcomers.pop()!.email, role: 'member' })],
  ['a change of a role', COMMIT, promote],
];

describe.each(['lose answer', 'lose request'] as const)('after "%s"', (fault) => {
  it.each(writes)('says of %s that its outcome is unknown', async (_name, last, send) => {
    const answer = await whileCut(last, fault, send);

    expect(answer.headers.get('retry-after')).toBe('1');
    expect(answer.body).toMatchObject({
      code: 'unavailable',
      detail: expect.stringMatching(/is unknown whether the request took effect/),
    });
  });
});

it.each([
  ['lose answer', 'true'],
  ['lose request', null],
] as const)(
  'tells whoever repeats a request with its key what became of it after "%s"',
  async (fault, replayed) => {
    const by = owner.with({ 'idempotency-key': fault.replace(' ', '-') });
    const createOnce = () => by.post<{ org: Org }>('/api/orgs', { name: fault });
    await whileCut(COMMIT, fault, createOnce);

    const again = await createOnce();

    const made = await installation.db.query('SELECT id FROM orgs WHERE name = ?', [fault]);
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, replayed]);
    expect(made).toEqual([{ id: again.body.org.id }]);
  },
);

it('reports the outcome of an exchange as unknown', async () => {
  const code = await aCode(owner);
  const last = /^(?:COMMIT|INSERT INTO sessions[^]*SELECT)/;

  const answer = await whileCut(last, 'lose answer', () => exchange(instance, code));

  expect(answer.body).toMatchObject({ detail: expect.stringMatching(/is unknown/) });
});

it.each<[string, RegExp, () => Promise<Answer>]>([
  ['the change before COMMIT', /^UPDATE members/, promote],
  ['the first statement of a transaction', /^INSERT INTO orgs/, create],
  ['a read', /^SELECT m\.user_id AS userId, o\.id/, () => owner.get('/api/me')],
])('says that the request can be repeated when %s is lost', async (_name, statement, send) => {
  const answer = await whileCut(statement, 'lose answer', send);

  expect(answer.body).toMatchObject({ detail: expect.stringMatching(/\. Repeat the request\.$/) });
});
