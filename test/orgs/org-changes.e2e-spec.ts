import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { UserActor } from '../../src/access/actor.js';
import { Member } from '../../src/orgs/members/member.entity.js';
import { type Membership, MembersRepository } from '../../src/orgs/members/members.repository.js';
import { MemberNotFoundError, OrgNotFoundError } from '../../src/orgs/members/members.errors.js';
import { type Basis, OrgChanges, RefusedByDatabaseError } from '../../src/orgs/org-changes.js';
import { Org } from '../../src/orgs/org.entity.js';
import { OrgsRepository } from '../../src/orgs/orgs.repository.js';
import { Event } from '../../src/events/event.entity.js';
import { EventsRepository } from '../../src/events/events.repository.js';
import { IdempotencyKey } from '../../src/requests/idempotency-key.entity.js';
import { IdempotencyKeysRepository } from '../../src/requests/idempotency-keys.repository.js';
import { RepeatedRequests } from '../../src/requests/repeated-requests.js';
import type { Write } from '../../src/requests/write.js';
import { Writes } from '../../src/requests/writes.js';
import { PreconditionFailedError } from '../../src/requests/entity-tags.js';
import { type DataLayer, openDataLayer } from '../support/data-source.js';
import { anUnknownId } from '../support/personas.js';

describe('a change of an organization', () => {
  let data: DataLayer;
  let changes: OrgChanges;
  let members: MembersRepository;
  let orgId: string;
  let write: Write;
  let decidedAt: number[];

  beforeAll(async () => {
    data = await openDataLayer();
    const { dataSource, transactions } = data;
    const keys = new IdempotencyKeysRepository(dataSource.getRepository(IdempotencyKey), transactions);
    changes = new OrgChanges(
      new OrgsRepository(dataSource.getRepository(Org)),
      new EventsRepository(dataSource.getRepository(Event)),
      new Writes(transactions, new RepeatedRequests(keys)),
      transactions,
    );
    members = new MembersRepository(dataSource.getRepository(Member));
  });
  afterAll(() => data.close());

  beforeEach(async () => {
    orgId = anUnknownId();
    decidedAt = [];
    const actor: UserActor = {
      kind: 'user',
      id: anUnknownId(),
      sessionId: anUnknownId(),
      isDelegated: false,
      requestId: 'test',
      address: '127.0.0.1',
    };
    write = { actor, status: 200, dryRun: false, withRemedy: false };
    await data.db.query("INSERT INTO orgs (id, name, revision, created_at) VALUES (?, 'Org', 1, 1)", [orgId]);
  });

  /** @param raised the organization is changed by another request once the first decision was made */
  const basis = ({ raised = false } = {}): Basis<Parameters<typeof find>[0], Membership, number> => ({
    orgId,
    lookup: {
      find: async (key) => {
        const facts = await find(key);
        if (raised) await raise();
        return facts;
      },
      findIn: (transaction, key) => members.membership.findIn(transaction, key),
    },
    key: { orgId, userId: write.actor.id },
    decide: ({ revision }) => decidedAt.push(revision),
  });
  const find = (key: { orgId: string; userId: string }): Promise<Membership | undefined> =>
    members.membership.find(key);
  const raise = (): Promise<unknown> =>
    data.db.query('UPDATE orgs SET revision = revision + 1 WHERE id = ?', [orgId]);
  const revision = async (): Promise<unknown> =>
    (await data.db.query('SELECT revision FROM orgs WHERE id = ?', [orgId]))[0]?.['revision'];

  it('is decided once, before the lock, where nobody comes in between', async () => {
    const changed = await changes.run(write, basis(), async ({ facts, record }, decision) => {
      await record({ type: 'org.renamed' });
      return { revision: facts.revision, decision };
    });
    expect(changed).toEqual({ answer: { revision: 2, decision: 1 }, revision: 2 });
    expect(decidedAt).toEqual([1]);
    expect(await revision()).toBe(2);
    const events = await data.db.query('SELECT org_revision, actor_id FROM events WHERE org_id = ?', [orgId]);
    expect(events).toEqual([{ org_revision: 2, actor_id: write.actor.id }]);
  });

  it('is decided again under the lock where somebody does', async () => {
    const changed = await changes.run(write, basis({ raised: true }), async (_, decision) => ({ decision }));
    expect(changed).toEqual({ answer: { decision: 2 }, revision: 3 });
    expect(decidedAt).toEqual([1, 3]);
  });

  it('is decided again under the lock where the database refuses it, and only then refused', async () => {
    const refuse = async (): Promise<object> => {
      throw new RefusedByDatabaseError(new MemberNotFoundError());
    };
    await expect(changes.run(write, basis(), refuse)).rejects.toBeInstanceOf(MemberNotFoundError);
    expect(decidedAt).toEqual([1, 2]);
    expect(await revision()).toBe(1);
  });

  it('is not made at a revision that the caller did not mean', async () => {
    const change = changes.run(
      { ...write, ifMatch: new Set(['"1"']) },
      basis({ raised: true }),
      async () => ({}),
    );
    await expect(change).rejects.toBeInstanceOf(PreconditionFailedError);
    expect(await revision()).toBe(2);
  });

  it('names what is missing', async () => {
    await data.db.query('DELETE FROM orgs WHERE id = ?', [orgId]);
    const nothing = async (): Promise<object> => ({});
    await expect(changes.run(write, basis(), nothing)).rejects.toBeInstanceOf(OrgNotFoundError);
    const missing = (): MemberNotFoundError => new MemberNotFoundError();
    await expect(changes.run(write, { ...basis(), missing }, nothing)).rejects.toBeInstanceOf(
      MemberNotFoundError,
    );
    expect(decidedAt).toEqual([]);
  });
});
