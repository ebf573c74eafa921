import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Event } from '../../src/events/event.entity.js';
import { EventsRepository } from '../../src/events/events.repository.js';
import { MembersService } from '../../src/orgs/members/members.service.js';
import { Member } from '../../src/orgs/members/member.entity.js';
import { Invitation } from '../../src/orgs/invitations/invitation.entity.js';
import { InvitationsRepository } from '../../src/orgs/invitations/invitations.repository.js';
import { MemberFactsRepository } from '../../src/orgs/members/member-facts.repository.js';
import { MembersRepository } from '../../src/orgs/members/members.repository.js';
import { Org } from '../../src/orgs/org.entity.js';
import { OrgChanges } from '../../src/orgs/org-changes.js';
import { DeletedOrgsRepository } from '../../src/orgs/deleted-orgs.repository.js';
import { OrgDeletion } from '../../src/orgs/org-deletion.js';
import { OrgsRepository } from '../../src/orgs/orgs.repository.js';
import { ShortCircuitResponse } from '../../src/requests/request-key.js';
import { IdempotencyKey } from '../../src/requests/idempotency-key.entity.js';
import { IdempotencyKeysRepository } from '../../src/requests/idempotency-keys.repository.js';
import { RepeatedRequests } from '../../src/requests/repeated-requests.js';
import type { Write } from '../../src/requests/write.js';
import { Writes } from '../../src/requests/writes.js';
import { type DataLayer, openDataLayer } from '../support/data-source.js';
import { recordStatements } from '../support/executed-statements.js';
import { anUnknownId } from '../support/personas.js';

const [ORG, OWNER, MEMBER] = [anUnknownId(), anUnknownId(), anUnknownId()];

describe('the statements of a change', () => {
  let data: DataLayer;
  let members: MembersService;
  let verbsOf: (work: () => Promise<unknown>) => Promise<string[]>;

  beforeAll(async () => {
    data = await openDataLayer();
    const { dataSource, transactions, env, db } = data;
    for (const id of [OWNER, MEMBER]) {
      await db.query('INSERT INTO users (id, email, password_hash, created_at) VALUES (?, ?, ?, 1)', [
        id,
        `${id}@example.com`,
        'none',
      ]);
    }
    await db.query("INSERT INTO orgs (id, name, revision, created_at) VALUES (?, 'Org', 1, 1)", [ORG]);
    for (const [id, role] of [
      [OWNER, 'owner'],
      [MEMBER, 'member'],
    ]) {
      await db.query('INSERT INTO members (org_id, user_id, email, role, joined_at) VALUES (?, ?, ?, ?, 1)', [
        ORG,
        id!,
        `${id}@example.com`,
        role!,
      ]);
    }
    const keys = new IdempotencyKeysRepository(dataSource.getRepository(IdempotencyKey), transactions);
    const writes = new Writes(transactions, new RepeatedRequests(keys));
    const orgs = new OrgsRepository(dataSource.getRepository(Org));
    const events = new EventsRepository(dataSource.getRepository(Event));
    const memberships = dataSource.getRepository(Member);
    const invitations = new InvitationsRepository(dataSource.getRepository(Invitation), transactions);
    members = new MembersService(
      new OrgChanges(orgs, events, writes, transactions),
      new MemberFactsRepository(memberships),
      new MembersRepository(memberships),
      invitations,
      new OrgDeletion(new DeletedOrgsRepository(dataSource.getRepository(Org)), invitations, env),
      env,
    );

    const executed = recordStatements(dataSource);
    verbsOf = async (work) => {
      executed.splice(0);
      await work();
      return executed
        .map(({ verb }) => verb)
        .filter((verb) => /^(?:SELECT|INSERT|UPDATE|DELETE)$/.test(verb));
    };
  });
  afterAll(() => data.close());

  const write = (controls: Partial<Write> = {}): Write => ({
    actor: {
      kind: 'user',
      id: OWNER,
      sessionId: anUnknownId(),
      isDelegated: false,
      requestId: 'test',
      address: '127.0.0.1',
    },
    status: 200,
    dryRun: false,
    withRemedy: false,
    ...controls,
  });
  const USUAL = ['SELECT', 'UPDATE', 'UPDATE', 'INSERT'];

  it('are as many as ever for a client that asks for nothing more, or for a state', async () => {
    expect(await verbsOf(() => members.changeRole(write(), ORG, MEMBER, 'admin'))).toEqual(USUAL);
    expect(
      await verbsOf(() => members.changeRole(write({ ifMatch: new Set(['"2"']) }), ORG, MEMBER, 'member')),
    ).toEqual(USUAL);
  });

  it('are one more for one with a key, and none is refused before it is locked', async () => {
    const key = { keyHash: 'k', fingerprint: 'f' };
    expect(await verbsOf(() => members.changeRole(write({ key }), ORG, MEMBER, 'admin'))).toEqual([
      ...USUAL,
      'INSERT',
    ]);
  });

  it('are a look-up alone for a change that is refused, so nothing is locked', async () => {
    const alone = (work: () => Promise<unknown>): Promise<string[]> =>
      verbsOf(() => work().catch(() => undefined));
    expect(await alone(() => members.leave(write(), ORG))).toEqual(['SELECT']);
    expect(await alone(() => members.remove(write(), ORG, OWNER))).toEqual(['SELECT']);
    expect(await alone(() => members.transfer(write(), ORG, anUnknownId(), false))).toEqual(['SELECT']);
  });

  it('are the same for a dry run', async () => {
    const dryRun = members.changeRole(write({ dryRun: true }), ORG, MEMBER, 'member');
    await expect(dryRun).rejects.toBeInstanceOf(ShortCircuitResponse);
    expect(
      await verbsOf(() =>
        members.changeRole(write({ dryRun: true }), ORG, MEMBER, 'member').catch(() => undefined),
      ),
    ).toEqual(USUAL);
  });
});
