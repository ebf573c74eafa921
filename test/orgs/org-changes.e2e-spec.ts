import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { UserActor } from '../../src/access/principal.js';
import { UserOperations } from '../../src/accounts/user-operations.js';
import { EmailCodes } from '../../src/auth/email-codes/email-codes.js';
import { EmailCode, EmailCodesRepository } from '../../src/auth/email-codes/email-codes.repository.js';
import { loadKeyFile } from '../../src/auth/tokens/key-file.js';
import { KeyRing } from '../../src/auth/tokens/signing-keys.js';
import { Event } from '../../src/events/event.entity.js';
import { EventsRepository } from '../../src/events/events.repository.js';
import { InvitationAnswers } from '../../src/orgs/invitations/invitation-answers.service.js';
import { Invitation, Member, Org } from '../../src/orgs/state/org.entity.js';
import { ShortCircuitResponse, type Write } from '../../src/requests/write.js';
import { MembersService } from '../../src/orgs/members/members.service.js';
import { InvitationLists } from '../../src/orgs/state/invitations.lists.js';
import { InvitationsRepository } from '../../src/orgs/state/invitations.repository.js';
import { MembersRepository } from '../../src/orgs/state/members.repository.js';
import { unchanged } from '../../src/database/transactions/transactions.js';
import { OrgsRepository } from '../../src/orgs/state/orgs.repository.js';
import { UserDepartures } from '../../src/orgs/state/user-departures.js';
import { UserUpdates } from '../../src/users/users.updates.js';
import { openDataLayer } from '../support/data-source.js';
import { recordStatements } from '../support/executed-statements.js';
import { orgChanges, userChanges } from '../support/clean-up.js';
import { anUnknownId } from '../support/personas.js';
import { insertRow } from '../support/rows.js';

const data = await openDataLayer();
const { dataSource, transactions, env, db } = data;
const executed = recordStatements(dataSource);
const changes = orgChanges(data);
const invitations = new InvitationsRepository(dataSource.getRepository(Invitation), transactions);
const users = new UserUpdates();
const events = new EventsRepository(dataSource.getRepository(Event));
const memberRows = new MembersRepository(dataSource.getRepository(Member));
const key = { keyHash: 'k', fingerprint: 'f' };
afterAll(() => data.close());

let orgId: string;
let ownerId: string;
let memberId: string;
let write: Write;

beforeEach(async () => {
  [orgId, ownerId, memberId] = [anUnknownId(), anUnknownId(), anUnknownId()];
  const actor: UserActor = {
    kind: 'user',
    id: ownerId,
    sessionId: anUnknownId(),
    isDelegated: false,
    requestId: 'test',
    address: '127.0.0.1',
  };
  write = { actor, status: 200, dryRun: false, withRemedy: false };
  for (const id of [ownerId, memberId]) await insertRow(db, 'users', { id });
  await insertRow(db, 'orgs', { id: orgId });
  await join(ownerId, 'owner');
  await join(memberId, 'member');
});

const join = (userId: string, role: string) =>
  insertRow(db, 'members', { org_id: orgId, user_id: userId, role });

const revision = async (): Promise<unknown> =>
  Number((await db.query('SELECT revision FROM orgs WHERE id = ?', [orgId]))[0]?.['revision']);

describe('a change of an organization', () => {
  const keys = async (): Promise<number> =>
    (await db.query('SELECT key_hash FROM idempotency_keys WHERE user_id = ?', [ownerId])).length;
  const nothing = async (): Promise<object> => ({});

  it('raises the revision, and records it with its events', async () => {
    const changed = await changes.inOrg(write, orgId, async (_, org) => {
      await org.record({ type: 'org.renamed' });
      return { revision: org.revision };
    });
    expect(changed).toEqual({ answer: { revision: 2 }, revision: 2 });
    expect(await revision()).toBe(2);
    const recorded = await db.query('SELECT org_revision, actor_id FROM events WHERE org_id = ?', [orgId]);
    expect(recorded).toEqual([{ org_revision: 2, actor_id: ownerId }]);
  });

  it('keeps the revision and its key if it changes nothing', async () => {
    const same = async () => unchanged({ same: true });
    for (const one of [write, { ...write, key }]) {
      expect(await changes.inOrg(one, orgId, same)).toEqual({ answer: { same: true }, revision: 1 });
    }
    expect([await revision(), await keys()]).toEqual([1, 1]);

    const again = changes.inOrg({ ...write, key }, orgId, async () => ({ other: true }));
    await expect(again).rejects.toBeInstanceOf(ShortCircuitResponse);
    await expect(again).rejects.toMatchObject({ body: { same: true } });
    expect(await revision()).toBe(1);
  });

  it('keeps nothing of a dry run, whether it changes something or not', async () => {
    for (const work of [nothing, async () => unchanged({})]) {
      const dry = changes.inOrg({ ...write, dryRun: true, key }, orgId, work);
      await expect(dry).rejects.toBeInstanceOf(ShortCircuitResponse);
    }
    expect([await revision(), await keys()]).toEqual([1, 0]);
  });

  it('is not made at a revision that the caller did not mean', async () => {
    const change = (tag: string) => changes.inOrg({ ...write, ifMatch: new Set([tag]) }, orgId, nothing);
    await expect(change('"2"')).rejects.toMatchObject({ code: 'precondition_failed' });
    expect(await revision()).toBe(1);
    expect(await change('"1"')).toEqual({ answer: {}, revision: 2 });
  });

  it('finds a deleted organization only if it is meant for one', async () => {
    await db.query('UPDATE orgs SET deleted_at = 1, purge_at = 2 WHERE id = ?', [orgId]);
    await expect(changes.inOrg(write, orgId, nothing)).rejects.toMatchObject({ code: 'org_not_found' });
    const even = await changes.inAnyOrg(write, orgId, nothing);
    expect(even).toEqual({ answer: {}, revision: 2 });
  });

  it('finds no organization that is missing', async () => {
    const id = anUnknownId();
    await expect(changes.inOrg(write, id, nothing)).rejects.toMatchObject({ code: 'org_not_found' });
    const work = async (_: unknown, org?: object) => ({ isFound: org !== undefined });
    expect((await changes.inAnyOrg(write, id, work)).answer).toEqual({ isFound: false });
  });
});

describe('the statements of a change', () => {
  const USUAL = ['UPDATE', 'SELECT', 'SELECT', 'UPDATE', 'INSERT'];
  const LOCKED = USUAL.slice(0, 3);
  const members = new MembersService(changes, memberRows, invitations, userChanges(data), env);

  async function verbsOf(work: () => Promise<unknown>): Promise<string[]> {
    executed.splice(0);
    await work().catch(() => undefined);
    return executed.map(({ verb }) => verb).filter((verb) => /^(?:SELECT|INSERT|UPDATE|DELETE)$/.test(verb));
  }
  const promote = (controls: Partial<Write> = {}) =>
    members.changeRole({ ...write, ...controls }, orgId, memberId, 'admin');

  it.each<[string, string[], Partial<Write>]>([
    ['as many as ever for a client that asks for nothing more', USUAL, {}],
    ['as many for one that asks for a state', USUAL, { ifMatch: new Set(['"1"']) }],
    [
      'two more for one with a key, looked up after the lock',
      ['UPDATE', 'SELECT', ...USUAL.slice(1), 'INSERT'],
      { key },
    ],
    ['the same for a dry run', USUAL, { dryRun: true }],
  ])('are %s', async (_what, expected, controls) => {
    expect(await verbsOf(() => promote(controls))).toEqual(expected);
  });

  it('write nothing but the lock if the change is refused, or changes nothing', async () => {
    await promote();
    for (const work of [
      () => members.leave(write, orgId),
      () => members.remove(write, orgId, ownerId),
      () => members.transfer(write, orgId, anUnknownId(), false),
      promote,
    ]) {
      expect(await verbsOf(() => work())).toEqual(LOCKED);
    }
  });
});

/** Somebody who changes the organization meanwhile has to wait, or to make it start over: both see its lock. */
it('disabling locks an organization that the user joined after it looked which there are', async () => {
  const ada = anUnknownId();
  await insertRow(db, 'users', { id: ada });
  let looks = 0;
  class Members extends MembersRepository {
    override async findOrgIds(userId: string): Promise<string[]> {
      const ids = await super.findOrgIds(userId);
      if (looks === 0) await join(ada, 'owner');
      looks += 1;
      return ids;
    }
  }
  const members = new Members(dataSource.getRepository(Member));
  const orgs = new OrgsRepository(dataSource.getRepository(Org));
  const departures = new UserDepartures(members, invitations, orgs, env);
  const codes = new EmailCodesRepository(dataSource.getRepository(EmailCode));
  const operations = new UserOperations(
    userChanges(data),
    users,
    orgChanges(data, members),
    departures,
    codes,
  );

  await operations.disable(ada, { actor: { kind: 'system' }, force: false });

  const [user] = await db.query('SELECT disabled_at FROM users WHERE id = ?', [ada]);
  expect(user!['disabled_at']).not.toBeNull();
  expect([looks, await revision()]).toEqual([2, 2]);
});

it('a code that was typed is void if the invitation is resent before the organization is locked', async () => {
  const id = anUnknownId();
  const email = `${id}@example.com`;
  await insertRow(db, 'invitations', { id, org_id: orgId, invited_by: ownerId });
  const keyRing = new KeyRing(loadKeyFile(env.jwtKeysFile, true));
  const codeRows = new EmailCodesRepository(dataSource.getRepository(EmailCode));
  const codes = new EmailCodes(codeRows, keyRing);
  const lists = new InvitationLists(dataSource.getRepository(Invitation));
  const answers = new InvitationAnswers(
    changes,
    invitations,
    lists,
    memberRows,
    users,
    codes,
    codeRows,
    events,
    transactions,
    env,
  );
  const typed = codes.textOf({ id, purpose: 'invitation', codeNumber: 1 });
  const found = await answers.findByCode(email, typed, '192.0.2.1');
  const begin = (): Promise<object> =>
    answers.register(found, '192.0.2.1', async () => Promise.reject(new Error('began')));

  await expect(begin()).rejects.toThrow('began');
  await db.query('UPDATE invitations SET code_number = 2, code_shown = 1 WHERE id = ?', [id]);

  await expect(begin()).rejects.toMatchObject({ code: 'invalid_invitation_code' });
});
