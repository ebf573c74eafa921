import { expect, it } from 'vitest';
import { Event } from '../../src/events/event.entity.js';
import { EventsRepository } from '../../src/events/events.repository.js';
import { Invitation, Member, Org } from '../../src/orgs/state/org.entity.js';
import { InvitationsRepository } from '../../src/orgs/state/invitations.repository.js';
import { MembersRepository } from '../../src/orgs/state/members.repository.js';
import { UserDepartures } from '../../src/orgs/state/user-departures.js';
import { OrgsRepository } from '../../src/orgs/state/orgs.repository.js';
import { UserDisabling } from '../../src/accounts/user-disabling.js';
import { UserEvents } from '../../src/users/user-events.js';
import { UserChangesRepository } from '../../src/users/user-changes.repository.js';
import { openDataLayer } from '../support/data-source.js';
import { orgChanges } from '../support/org-changes.js';
import { sessionId as id } from '../support/session-rows.js';

const [ADA, GRACE, ORG] = [1, 2, 3].map(id) as [string, string, string];

/** Somebody who changes the organization meanwhile has to wait, or to make it start over: both see its lock. */
it('disabling locks an organization that the user joined after it looked which there are', async () => {
  const data = await openDataLayer();
  const { dataSource, env, transactions, db } = data;
  for (const user of [ADA, GRACE]) {
    const values = [user, `${user}@example.com`];
    await db.query(
      "INSERT INTO users (id, email, password_hash, created_at) VALUES (?, ?, 'none', 1)",
      values,
    );
  }
  await db.query("INSERT INTO orgs (id, name, revision, created_at) VALUES (?, 'Org', 7, 1)", [ORG]);
  const join = (user: string) =>
    db.query("INSERT INTO members (org_id, user_id, email, role, joined_at) VALUES (?, ?, ?, 'owner', 1)", [
      ORG,
      user,
      `${user}@example.com`,
    ]);
  await join(GRACE);
  let looks = 0;
  class Members extends MembersRepository {
    override async findOrgIds(userId: string): Promise<string[]> {
      const ids = await super.findOrgIds(userId);
      if (looks === 0) await join(ADA);
      looks += 1;
      return ids;
    }
  }
  const users = new UserChangesRepository();
  const members = new Members(dataSource.getRepository(Member));
  const departures = new UserDepartures(
    members,
    new InvitationsRepository(dataSource.getRepository(Invitation), transactions),
    new OrgsRepository(dataSource.getRepository(Org)),
    env,
  );
  const events = new UserEvents(users, new EventsRepository(dataSource.getRepository(Event)));
  const disabling = new UserDisabling(users, orgChanges(data, members), departures, events, transactions);

  await disabling.disable(ADA, { actor: { kind: 'system' }, force: false });

  const [org] = await db.query('SELECT revision FROM orgs WHERE id = ?', [ORG]);
  const [ada] = await db.query('SELECT disabled_at FROM users WHERE id = ?', [ADA]);
  await data.close();
  expect(ada!['disabled_at']).not.toBeNull();
  expect([looks, Number(org!['revision'])]).toEqual([2, 8]);
});
