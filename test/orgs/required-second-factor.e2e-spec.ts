import { describe, expect, it } from 'vitest';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { DocumentReader } from '../openapi/documented.js';
import type { Answer } from '../support/answer.js';
import { accounts, accountsJson, BY_ROOT, failure } from '../support/accounts-command.js';
import { atOnce, times } from '../support/at-once.js';
import {
  boundTokenRefused,
  insufficientRole,
  invalidFields,
  invalidInvitationCode,
  invitationEnded,
  lastOwner,
  notAMember,
  orgNotFound,
  directSessionRequired,
} from '../support/expected.js';
import { readFeed, readFeedAfter } from '../support/feed.js';
import {
  accept,
  acceptByCode,
  anInvitation,
  aVerifiedAccount,
  decline,
  declineByCode,
  listed as invitationsOf,
  received,
  registerWith,
  roleOf,
} from '../support/inviting.js';
import { anOperator } from '../support/operators.js';
import { changeRole, membersOf } from '../support/org-members.js';
import { pagesOf } from '../support/pages.js';
import {
  type Account,
  anAccount,
  anEmail,
  anOrg,
  anOrgOf,
  anOrgWithTwoOwners,
  byCode,
  join,
  type Org,
} from '../support/personas.js';
import { enrol, forgetSteps, appCode, protect, SECOND_FACTOR } from '../support/second-factor.js';
import { startSharedCluster } from '../support/service.js';
import { aBoundToken, aServiceCaller } from '../support/services.js';

const ENROLL = { action: 'enroll_second_factor' };
const suspended = { status: 403, body: { code: 'second_factor_required_by_org' } };
const factorMissing = { status: 409, body: { code: 'second_factor_not_enabled' } };

const { instances, db, installation } = await startSharedCluster();
const service = instances[0]!;
const at = (index: number) => instances[index % instances.length]!;
const reports = await aServiceCaller(service, 'introspect', 'memberships', 'events');

const pathOf = ({ id }: { id: string }): string => `/api/orgs/${id}`;
const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString();
const withRequirements = (path: string): string =>
  `${path}${path.includes('?') ? '&' : '?'}include=requirements`;
const FUTURE = '2100-01-01T00:00:00.000Z';
const PAST = '2020-01-01T00:00:00.000Z';

const requireFrom = (by: Account, org: Org, from: unknown, query = ''): Promise<Answer> =>
  by.patch(pathOf(org) + query, { secondFactorRequiredFrom: from });

async function eventsOf(org: Org, type = '%') {
  const sql =
    'SELECT type, user_id, org_revision, data FROM events WHERE org_id = ? AND type LIKE ? ORDER BY org_revision, id';
  const rows = await db.query(sql, [org.id, type]);
  return rows.map((row) => ({
    type: String(row['type']),
    userId: row['user_id'],
    revision: Number(row['org_revision']),
    data: JSON.parse(String(row['data'])) as Record<string, unknown>,
  }));
}

const untilDue = (org: Org): Promise<unknown> =>
  waitFor(
    'the requirement is due',
    hangTimeoutMs(),
    async () => (await eventsOf(org, 'org.second_factor_due')).length > 0,
  );

/** The owner has a second factor, and the organization requires one. */
async function aRequiringOrg() {
  const cast = await anOrgWithTwoOwners(service);
  await protect(service, cast.owner);
  const set = await requireFrom(cast.owner, cast.org, PAST);
  expect(set.status, set.text).toBe(200);
  return cast;
}

describe('the time from which an organization requires a second factor', () => {
  it.each([
    ['no offset', '2100-01-01T00:00:00'],
    ['a day', '2100-01-01'],
    ['a day that there is not', '2100-02-30T00:00:00Z'],
    ['a month that there is not', '2100-13-01T00:00:00Z'],
    ['an hour that there is not', '2100-01-01T24:00:00Z'],
    ['an offset that there is not', '2100-01-01T00:00:00+24:00'],
    ['a short offset', '2100-01-01T00:00:00+01'],
    ['a space', '2100-01-01 00:00:00Z'],
    ['text around it', ' 2100-01-01T00:00:00Z'],
    ['a line break', '2100-01-01T00:00:00Z\n'],
    ['a time before 1970', '1969-12-31T23:59:59Z'],
    ['the year 0', '0000-01-01T00:00:00Z'],
    ['a year of five digits', '+010000-01-01T00:00:00Z'],
    ['a time after 9999 in UTC', '9999-12-31T23:59:59-01:00'],
    ['an age', '24h'],
    ['a number', 4_102_444_800_000],
    ['no text', ''],
    ['a list', ['2100-01-01T00:00:00Z']],
    ['an object', { toString: '2100-01-01T00:00:00Z' }],
    ['true', true],
    ['10 KB', '2'.repeat(10_000)],
    ['10 KB of digits of a second', `2100-01-01T00:00:00.${'0'.repeat(10_000)}Z`],
  ])('is refused: %s', async (_what, from) => {
    const { org, owner } = await setCast;
    expect(await requireFrom(owner, org, from)).toMatchObject(invalidFields('secondFactorRequiredFrom'));
    const both = { name: 'Renamed', secondFactorRequiredFrom: from };
    expect(await owner.patch(pathOf(org), both)).toMatchObject(invalidFields('secondFactorRequiredFrom'));
  });

  const setCast = anOrg(service).then(async (cast) => {
    await protect(service, cast.owner);
    return cast;
  });

  it.each([
    ['a zone', '2100-01-01T01:00:00+01:00', FUTURE],
    ['digits of a second', '2100-01-01T00:00:00.123456789Z', '2100-01-01T00:00:00.123Z'],
    ['small letters', '2100-01-01t00:00:00z', FUTURE],
    ['the end of 9999', '9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
    ['null', null, null],
  ])('is taken with %s, and shown in UTC to those who ask for it', async (_what, from, shown) => {
    const { org, owner, member } = await setCast;
    const set = await requireFrom(owner, org, from);
    expect(set).toMatchObject({
      status: 200,
      body: { org: { id: org.id, secondFactorRequiredFrom: shown } },
    });
    const path = `${pathOf(org)}?include=requirements`;
    expect(await member.get(path)).toMatchObject({ body: { org: { secondFactorRequiredFrom: shown } } });
    expect((await member.get<{ org: object }>(pathOf(org))).body.org).not.toHaveProperty(
      'secondFactorRequiredFrom',
    );
    expect(await member.get(`${pathOf(org)}?include=members`)).toMatchObject(invalidFields('include'));
    expect((await eventsOf(org, 'org.second_factor_required')).at(-1)).toMatchObject({
      data: { from: shown },
    });
  });

  it('is set by owners alone, in a direct session, who have a second factor; admins rename', async () => {
    const { org, owner, admin, member } = await anOrg(service);
    const notOwner = insufficientRole('owner', 'admin');
    expect(await requireFrom(admin, org, FUTURE)).toMatchObject(notOwner);
    expect(await requireFrom(admin, org, null)).toMatchObject(notOwner);
    expect(await requireFrom(member, org, FUTURE)).toMatchObject(insufficientRole('admin', 'member'));
    expect(await requireFrom(await byCode(service, owner), org, FUTURE)).toMatchObject(directSessionRequired);
    const refused = await requireFrom(owner, org, FUTURE, '?remedy=true');
    expect(refused).toMatchObject({ ...factorMissing, body: { ...factorMissing.body, remedy: ENROLL } });
    expect((await requireFrom(owner, org, FUTURE)).body).not.toHaveProperty('remedy');
    expect(await requireFrom(owner, org, FUTURE, '?dryRun=true')).toMatchObject(factorMissing);
    expect(await eventsOf(org, 'org.%')).toMatchObject([{ type: 'org.created' }]);

    const renamed = await admin.patch(pathOf(org), { name: 'By an admin' });
    expect(renamed.body).toEqual({ org: { id: org.id, name: 'By an admin' } });
    for (const body of [{}, { name: null }, { secondFactorRequiredFrom: undefined }])
      expect(await owner.patch(pathOf(org), body)).toMatchObject(invalidFields('name'));
    expect((await requireFrom(owner, org, null)).status).toBe(200);
  });

  it('comes with a name in one change, says whom it affects, and changes nothing twice', async () => {
    const { org, owner, member } = await anOrg(service);
    await protect(service, owner);
    const both = { name: 'Both', secondFactorRequiredFrom: FUTURE };
    const dry = await owner.patch(`${pathOf(org)}?dryRun=true`, both);
    expect(dry).toMatchObject({ status: 200, body: { affected: 2, org: both } });
    expect(await eventsOf(org, 'org.%')).toHaveLength(1);
    const set = await owner.patch(pathOf(org), both);
    expect(set.body).toEqual(dry.body);
    const again = await owner.patch(pathOf(org), both);
    expect([again.body, again.headers.get('etag')]).toEqual([set.body, set.headers.get('etag')]);
    const [, renamed, required, ...others] = await eventsOf(org, 'org.%');
    expect(others).toEqual([]);
    expect([renamed, required]).toMatchObject([
      { type: 'org.renamed', revision: required!.revision },
      { type: 'org.second_factor_required', data: { from: FUTURE } },
    ]);
    await protect(service, member);
    expect(await requireFrom(owner, org, null, '?dryRun=true')).toMatchObject({ body: { affected: 1 } });
  });

  it('is told to services while it is to come', async () => {
    const { org, owner, member } = await anOrg(service);
    await protect(service, owner);
    const path = `/api/memberships?orgId=${org.id}&userId=${member.id}`;
    const membership = {
      orgId: org.id,
      userId: member.id,
      role: 'member',
      orgRevision: expect.any(Number) as number,
    };
    expect((await reports.get(path)).body).toEqual({ memberships: [membership] });
    await requireFrom(owner, org, FUTURE);
    const announced = { ...membership, secondFactorRequiredFrom: FUTURE };
    expect((await reports.get(path)).body).toEqual({ memberships: [announced] });
    expect((await member.get(pathOf(org))).status).toBe(200);
    await requireFrom(owner, org, PAST);
    expect((await reports.get(path)).body).toEqual({ memberships: [] });
    const ofOwner = await reports.get<{ memberships: object[] }>(`/api/memberships?userId=${owner.id}`);
    expect(ofOwner.body.memberships[0]).not.toHaveProperty('secondFactorRequiredFrom');
  });

  it('is one whose missing second factors only admins see, and no service', async () => {
    const { org, owner, admin, member } = await anOrg(service);
    await protect(service, owner);
    const path = `${pathOf(org)}/members?secondFactor=missing`;
    const found = await admin.get<{ members: { userId: string }[] }>(path);
    expect(found.body.members.map(({ userId }) => userId)).toEqual([admin.id, member.id]);
    expect(await owner.get(`${path}&role=admin&search=adm`)).toMatchObject({
      body: { members: [{ userId: admin.id }] },
    });
    const first = await owner.get<{ nextCursor: string }>(`${path}&limit=1`);
    const second = await owner.get(`${path}&limit=1&cursor=${first.body.nextCursor}`);
    expect(second.body).toEqual({ members: [{ userId: member.id, email: member.email, role: 'member' }] });
    expect(await member.get(path)).toMatchObject(insufficientRole('admin', 'member'));
    expect(await owner.get(`${pathOf(org)}/members?secondFactor=present`)).toMatchObject(
      invalidFields('secondFactor'),
    );
    const bound = admin.as(await aBoundToken(reports, admin));
    expect(await bound.get(path)).toMatchObject(boundTokenRefused);
  });
});

describe('a member without the required second factor', () => {
  it('is refused by every route of the organization but one, with a remedy where it is asked for', async () => {
    const { org, coOwner, outsider } = await aRequiringOrg();
    const reader = await DocumentReader.of(service);
    const routes = reader.operations.filter(({ path }) => path.startsWith('/api/orgs/{orgId}'));
    expect(routes.length).toBeGreaterThan(14);
    for (const { operationId, method, path, responses } of routes) {
      if (operationId === 'leaveOrg') continue;
      const url = path.replace('{orgId}', org.id).replaceAll(/\{\w+\}/g, coOwner.id);
      const send = (by: Account, query = '') =>
        by.sendJson(method, url + query, method === 'GET' ? undefined : {});
      const answer = await send(coOwner);
      expect(answer, `${operationId}: ${answer.text}`).toMatchObject(suspended);
      expect(answer.body).not.toHaveProperty('remedy');
      const told = { ...suspended, body: { ...suspended.body, remedy: ENROLL } };
      expect(await send(coOwner, '?remedy=true'), operationId).toMatchObject(told);
      expect(await send(outsider), operationId).toMatchObject(
        operationId === 'restoreOrg' ? orgNotFound : notAMember,
      );
      const documented = JSON.stringify(reader.resolve(responses['403']!));
      expect(documented, operationId).toContain('second_factor_required_by_org');
    }
    expect((await coOwner.post(`${pathOf(org)}/leave`)).status).toBe(200);
    expect(await roleOf(db, org, coOwner)).toBeUndefined();
  });

  it('may not restore it either, and a wrong remedy is refused where the caller may act', async () => {
    const { org, owner, coOwner } = await aRequiringOrg();
    for (const path of ['', '/members', `/members/me`, '/invitations', '/events'])
      expect(await owner.get(`${pathOf(org)}${path}?remedy=maybe`)).toMatchObject(invalidFields('remedy'));
    expect((await owner.delete(pathOf(org))).status).toBe(200);
    const restore = (by: Account, query = '') => by.post(`${pathOf(org)}/restore${query}`);
    expect(await restore(coOwner, '?dryRun=true')).toMatchObject(suspended);
    expect(await restore(coOwner)).toMatchObject(suspended);
    expect((await restore(owner)).status).toBe(200);
  });

  it('keeps the organization in the own lists, and loses it for services', async () => {
    const { org, owner, member } = await aRequiringOrg();
    const free = await anOrgOf(member, 'Free');
    const idsIn = async (by: Account, path: string) =>
      (await by.get<{ orgs: Org[] }>(path)).body.orgs.map(({ id }) => id);
    const bound = member.as(await aBoundToken(reports, member));
    const ownersBound = owner.as(await aBoundToken(reports, owner));
    for (const path of ['/api/me', '/api/me?include=roles', '/api/me/orgs', '/api/me/orgs?limit=5']) {
      expect(await idsIn(member, path), path).toEqual([org.id, free.id]);
      expect(await idsIn(bound, path), path).toEqual([free.id]);
      expect(await idsIn(ownersBound, path), path).toEqual([org.id]);
    }
    const introspected = (token: string) => reports.introspect({ token, orgId: org.id });
    expect(await introspected(member.token)).toMatchObject({ body: { active: true, org: null } });
    expect(await introspected(owner.token)).toMatchObject({ body: { org: { role: 'owner' } } });
    const listed = await reports.get(`/api/memberships?orgId=${org.id}`);
    expect(listed.body).toMatchObject({ memberships: [{ userId: owner.id }] });
    expect((await membersOf(owner, org)).map(({ userId }) => userId)).toContain(member.id);
  });

  it('finds in the own lists what each organization requires, if it asks', async () => {
    const { org, owner, member } = await aRequiringOrg();
    const announced = await anOrgOf(owner, 'Announced');
    await join(announced, owner, member, 'member');
    await requireFrom(owner, announced, FUTURE);
    const free = await anOrgOf(member, 'Free');
    const bound = member.as(await aBoundToken(reports, member));

    const listed = async (by: Account, path: string) => {
      const pages = await pagesOf<Org & Record<string, unknown>>(by, path, 'orgs');
      return pages.flat().map(({ name: _name, role: _role, joinedAt: _joinedAt, ...others }) => others);
    };
    const required = { id: org.id, suspended: true, secondFactorRequiredFrom: PAST };
    const others = [
      { id: announced.id, suspended: false, secondFactorRequiredFrom: FUTURE },
      { id: free.id, suspended: false, secondFactorRequiredFrom: null },
    ];
    const asking = ['', '/orgs', '/orgs?limit=1'].map((path) => `/api/me${withRequirements(path)}`);
    for (const path of [...asking, '/api/me?include=requirements,roles']) {
      expect(await listed(member, path), path).toEqual([required, ...others]);
      expect(await listed(bound, path), path).toEqual(others);
      expect((await listed(owner, path))[0], path).toEqual({ ...required, suspended: false });
    }
    for (const path of ['/api/me', '/api/me?include=roles', '/api/me/orgs'])
      expect((await listed(member, path))[0], path).toEqual({ id: org.id });
    expect(await member.get('/api/me/orgs?include=roles')).toMatchObject(invalidFields('include'));

    await enrol(member);
    for (const path of asking)
      expect(await listed(member, path), path).toEqual([{ ...required, suspended: false }, ...others]);
  });

  it('counts as an owner, and is the last one only alone', async () => {
    const { org, owner, coOwner } = await aRequiringOrg();
    expect((await owner.post(`${pathOf(org)}/leave`)).status).toBe(200);
    expect(await coOwner.post(`${pathOf(org)}/leave`)).toMatchObject(lastOwner);
    expect(await roleOf(db, org, coOwner)).toBe('owner');
  });

  it('closes the invitations that it made, until it has one', async () => {
    const { org, owner, admin } = await anOrg(service);
    await protect(service, owner);
    const [guest, beginner] = [await aVerifiedAccount(service), anEmail()];
    const invitation = await anInvitation(admin, org, { email: guest.email, role: 'admin' });
    const first = await anInvitation(admin, org, { email: beginner, role: 'admin' });
    expect((await requireFrom(owner, org, PAST)).status).toBe(200);
    const { code } = invitation;
    for (const answer of [accept, decline])
      expect(await answer(guest, invitation)).toMatchObject(invitationEnded);
    for (const answer of [acceptByCode, declineByCode])
      expect(await answer(guest, code)).toMatchObject(invitationEnded);
    expect(await registerWith(service, beginner, first.code)).toMatchObject(invalidInvitationCode);
    expect(await received(guest)).toEqual([]);
    const command = await accounts(installation, ['users', 'invite-code', guest.email, ...BY_ROOT]);
    expect(command).toMatchObject(failure(2, /no invitation is pending/));
    const pending = [first, invitation].map(({ id }) => ({ id, status: 'pending' }));
    expect(await invitationsOf(owner, org)).toMatchObject(pending);

    await protect(service, admin);
    expect(await received(guest)).toMatchObject([{ id: invitation.id }]);
    expect((await accept(guest, invitation)).status).toBe(200);
    expect((await registerWith(service, beginner, first.code)).status).toBe(201);
  });

  it('is told to services with each way to become a member or to change', async () => {
    const { org, owner, member } = await aRequiringOrg();
    const known = (await eventsOf(org)).at(-1)!.revision;
    const [added, invited] = [await anAccount(service), await aVerifiedAccount(service)];
    const factorful = (await protect(service, await anAccount(service))).account;
    await join(org, owner, added, 'member');
    await join(org, owner, factorful, 'member');
    const { id } = await anInvitation(owner, org, { email: invited.email });
    const accepted = await invited.post(`/api/me/invitations/${id}/accept`);
    expect(accepted.status, accepted.text).toBe(200);
    expect(await invited.get(pathOf(org))).toMatchObject(suspended);
    await changeRole(owner, org, member, 'admin');
    await changeRole(owner, org, factorful, 'admin');
    await owner.post(`${pathOf(org)}/transfer`, { userId: member.id });
    const told = (await eventsOf(org, 'member.%')).filter(({ revision }) => revision > known);
    expect(told.map(({ userId, data }) => [userId, data['suspended']])).toEqual([
      [added.id, true],
      [factorful.id, undefined],
      [invited.id, true],
      [member.id, true],
      [factorful.id, undefined],
      [member.id, true],
      [owner.id, undefined],
    ]);
  });
});

describe('the suspension', () => {
  it('ends on every instance with the enrollment, and begins with each loss of the factor', async () => {
    const { org, member } = await aRequiringOrg();
    const other = await anOrgOf(member, 'Requires nothing');
    const { next } = await readFeed(reports);
    for (const instance of instances)
      expect(await member.at(instance).get(pathOf(org))).toMatchObject(suspended);
    const { secret } = await enrol(member);
    for (const instance of instances) expect((await member.at(instance).get(pathOf(org))).status).toBe(200);

    await forgetSteps(service, member);
    const proof = { password: member.password, code: appCode(secret) };
    const removed = await member.post(`${SECOND_FACTOR}/remove`, proof);
    expect(removed.status, removed.text).toBe(200);
    for (const instance of instances)
      expect(await member.at(instance).get(pathOf(org))).toMatchObject(suspended);
    await enrol(member);
    await accountsJson(installation, ['users', 'remove-second-factor', member.email, ...BY_ROOT]);

    const told = (await readFeedAfter(reports, next)).filter(
      ({ userId, type }) => userId === member.id && type.startsWith('member.'),
    );
    expect(told.map(({ type, orgId, data }) => [type, orgId, data])).toEqual(
      ['resumed', 'suspended', 'resumed', 'suspended'].map((what) => [
        `member.${what}`,
        org.id,
        { reason: 'second_factor' },
      ]),
    );
    expect((await eventsOf(other, 'member.%')).map(({ type }) => type)).toEqual(['member.added']);
  });

  it('is lifted by operators, over HTTP and by a command, also of a deleted organization', async () => {
    const [one, other] = [await aRequiringOrg(), await aRequiringOrg()];
    const operator = await anOperator(service);
    await one.owner.delete(pathOf(one.org));
    const lift = (id: string, body: object = { reason: 'ticket 4711' }) =>
      operator.post(`/api/operators/orgs/${id}/lift-second-factor`, body);
    expect(await lift(one.org.id, {})).toMatchObject(invalidFields('reason'));
    expect(await lift(one.member.id)).toMatchObject(orgNotFound);
    for (const _ of times(2, () => 0)) {
      const lifted = await lift(one.org.id);
      expect(lifted).toMatchObject({ status: 200, body: { org: one.org } });
    }
    expect((await one.coOwner.post(`${pathOf(one.org)}/restore`)).status).toBe(200);
    const command = ['orgs', 'lift-second-factor', other.org.id, ...BY_ROOT];
    expect(await accountsJson(installation, command)).toEqual([{ orgId: other.org.id, changed: true }]);
    expect(await accountsJson(installation, command)).toEqual([{ orgId: other.org.id, changed: false }]);
    for (const { org, member } of [one, other]) {
      expect((await member.get(pathOf(org))).status).toBe(200);
      expect((await eventsOf(org, 'org.second_factor_required')).map(({ data }) => data['from'])).toEqual([
        PAST,
        null,
      ]);
    }
  });
});

describe('the time that comes', () => {
  it('has one event, and requests are refused or done, never half, on every instance', async () => {
    const { org, owner, admin } = await anOrg(service);
    await protect(service, owner);
    expect((await requireFrom(owner, org, inMs(1500))).status).toBe(200);

    let done = 0;
    const client = async (index: number): Promise<Answer> => {
      for (let round = 0; ; round += 1) {
        const answer = await admin.at(at(index)).patch(pathOf(org), { name: `Named ${index} ${round}` });
        if (answer.status !== 200) return answer;
        done += 1;
      }
    };
    const refusals = await atOnce(times(6, (index) => () => client(index)));
    for (const answer of refusals) expect(answer, answer.text).toMatchObject(suspended);
    await untilDue(org);

    const events = await eventsOf(org);
    const renamings = events.filter(({ type }) => type === 'org.renamed');
    const due = events.filter(({ type }) => type === 'org.second_factor_due');
    expect(renamings).toHaveLength(done);
    expect(due).toHaveLength(1);
    expect(renamings.every(({ revision }) => revision < due[0]!.revision)).toBe(true);
    const [row] = await db.query('SELECT revision, second_factor_due_at AS due FROM orgs WHERE id = ?', [
      org.id,
    ]);
    expect([Number(row!['revision']), row!['due']]).toEqual([due[0]!.revision, null]);
  });

  it('has one event again after it is moved, and none once it is lifted', async () => {
    const { org, owner } = await aRequiringOrg();
    await untilDue(org);
    await requireFrom(owner, org, FUTURE);
    await requireFrom(owner, org, null);
    await requireFrom(owner, org, PAST);
    await waitFor(
      'the second event',
      hangTimeoutMs(),
      async () => (await eventsOf(org, 'org.second_factor_due')).length === 2,
    );
    const froms = (await eventsOf(org, 'org.second_factor_required')).map(({ data }) => data['from']);
    expect(froms).toEqual([PAST, FUTURE, null, PAST]);
  });

  it('finds no owner without a factor who sets it while they remove it', async () => {
    for (let round = 0; round < 10; round += 1) {
      const owner = await anAccount(service);
      const { recoveryCodes } = await protect(service, owner);
      const org = await anOrgOf(owner);
      const proof = { password: owner.password, code: recoveryCodes[0] };
      const [set, removed] = await atOnce([
        () => requireFrom(owner.at(at(round)), org, PAST),
        () => owner.at(at(round + 1)).post(`${SECOND_FACTOR}/remove`, proof),
      ]);
      expect(removed!.status, removed!.text).toBe(200);
      const events = (await eventsOf(org)).map(({ type }) => type);
      const isSet = set!.status === 200;
      expect([
        [200, undefined],
        [409, 'second_factor_not_enabled'],
      ]).toContainEqual([set!.status, (set!.body as { code?: string }).code]);
      expect(events.includes('member.suspended'), String(events)).toBe(isSet);
      expect(events.includes('org.second_factor_required')).toBe(isSet);
    }
  });
});
