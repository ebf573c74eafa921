import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { createVerifier, type FeedEvent, type Verifier } from '../../client/src/service/index.ts';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { anAccount, anOrg, anOrgOf, anUnknownId } from '../support/personas.js';
import { type Service, startServiceWithoutLimits } from '../support/service.js';
import { aServiceCaller } from '../support/service-caller.js';
import { Door } from './support/door.js';

const MEMBERSHIPS = '/api/memberships';

let service: Service;
let door: Door;
let guard: Verifier;
let heard: FeedEvent[];

beforeAll(async () => {
  service = await startServiceWithoutLimits();
  door = await Door.open(service.url);
});
afterEach(async () => {
  door.release(MEMBERSHIPS);
  door.asked.length = 0;
  await guard.close();
});
afterAll(async () => {
  await door.close();
  await service.stop();
});

async function aGuard(): Promise<void> {
  const { name, secret } = await aServiceCaller(service, 'introspect', 'memberships', 'events');
  heard = [];
  guard = createVerifier({
    issuer: 'accounts',
    audience: 'accounts',
    baseUrl: door.url,
    credentials: { name, secret },
    onEvent: (event) => void heard.push(event),
  });
  await waitFor('the feed is heard', hangTimeoutMs(), () => guard.isCurrent());
}

const hears = (type: FeedEvent['type'], userId: string) =>
  waitFor(`${type} is heard`, hangTimeoutMs(), () =>
    heard.some((event) => event.type === type && event.userId === userId),
  );

it('admits a member without another question while others add and remove this user elsewhere', async () => {
  const { org, member } = await anOrg(service);
  const attacker = await anAccount(service);
  await aGuard();
  const ask = () => guard.authorize(`Bearer ${member.token}`, { orgId: org.id });
  expect(await ask()).toMatchObject({ ok: true, role: 'member' });

  for (let change = 0; change < 3; change += 1) {
    const { id } = await anOrgOf(attacker);
    await attacker.post(`/api/orgs/${id}/members`, { email: member.email, role: 'member' });
    expect(await ask()).toMatchObject({ ok: true, role: 'member' });
    await attacker.delete(`/api/orgs/${id}/members/${member.id}`);
    expect(await ask()).toMatchObject({ ok: true, role: 'member' });
  }
  await hears('member.removed', member.id);
  expect(await ask()).toMatchObject({ ok: true, role: 'member' });
  expect(door.count(MEMBERSHIPS)).toBe(1);
});

it('takes a newer event in place of an answer that was on its way, and asks once', async () => {
  const { org, owner, member } = await anOrg(service);
  await aGuard();

  door.hold(MEMBERSHIPS);
  const asked = guard.roleOf(member.id, org.id);
  await waitFor('Accounts has answered', hangTimeoutMs(), () => door.holds(MEMBERSHIPS) === 1);
  await owner.patch(`/api/orgs/${org.id}/members/${member.id}`, { role: 'admin' });
  await hears('member.role_changed', member.id);
  door.release(MEMBERSHIPS);

  expect(await asked).toEqual({ ok: true, role: 'admin' });
  expect(await guard.roleOf(member.id, org.id)).toEqual({ ok: true, role: 'admin' });
  expect(door.count(MEMBERSHIPS)).toBe(1);
});

it('admits nobody by an answer from before the removal, and whom an event adds after an answer', async () => {
  const { org, owner, member } = await anOrg(service);
  await aGuard();
  const another = await anAccount(service);
  expect(await guard.roleOf(another.id, org.id)).toEqual({ ok: true, role: undefined });

  door.hold(MEMBERSHIPS);
  const asked = guard.roleOf(member.id, org.id);
  await waitFor('Accounts has answered', hangTimeoutMs(), () => door.holds(MEMBERSHIPS) === 1);
  await owner.delete(`/api/orgs/${org.id}/members/${member.id}`);
  await owner.post(`/api/orgs/${org.id}/members`, { email: another.email, role: 'admin' });
  await hears('member.removed', member.id);
  await hears('member.added', another.id);
  door.release(MEMBERSHIPS);

  expect(await asked).toEqual({ ok: true, role: undefined });
  expect(await guard.roleOf(another.id, org.id)).toEqual({ ok: true, role: 'admin' });
  expect(door.count(MEMBERSHIPS)).toBe(2);
});

it('leaves places to others while one user asks about many organizations', async () => {
  const { org, member, outsider } = await anOrg(service);
  await aGuard();

  door.hold(MEMBERSHIPS);
  const many = Array.from({ length: 300 }, () => guard.roleOf(outsider.id, anUnknownId()));
  const asked = guard.roleOf(member.id, org.id);
  await waitFor('the other question has arrived', hangTimeoutMs(), () => door.holds(MEMBERSHIPS) === 5);
  expect(door.count(MEMBERSHIPS)).toBe(5);
  door.release(MEMBERSHIPS);

  expect(await asked).toEqual({ ok: true, role: 'member' });
  const answers = await Promise.all(many);
  expect(answers[0]).toEqual({ ok: true, role: undefined });
  expect(answers.at(-1)).toMatchObject({ status: 503, problem: { code: 'unavailable' } });
});

it.each(['', 'engines', '01A1FBF4-7EA2-724E-B0F0-000000000000', '01a1fbf4-7ea2-724e-b0f0-000000000000x'])(
  'knows without a question that %j is no organization',
  async (orgId) => {
    const { member } = await anOrg(service);
    await aGuard();

    expect(await guard.authorize(`Bearer ${member.token}`, { orgId })).toMatchObject({
      status: 403,
      problem: { code: 'not_a_member' },
    });
    expect(door.count(MEMBERSHIPS)).toBe(0);
  },
);
