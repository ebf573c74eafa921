import { afterAll, describe, expect, it } from 'vitest';
import { MembersService } from '../../src/orgs/members/members.service.js';
import { Invitation, Member } from '../../src/orgs/state/org.entity.js';
import { InvitationsRepository } from '../../src/orgs/state/invitations.repository.js';
import { MembersRepository } from '../../src/orgs/state/members.repository.js';
import { ShortCircuitResponse, type Write } from '../../src/requests/write.js';
import { UserChangesRepository } from '../../src/users/user-changes.repository.js';
import { UserEmailsRepository } from '../../src/users/user-emails.repository.js';
import { User } from '../../src/users/user.entity.js';
import { openDataLayer } from '../support/data-source.js';
import { orgChanges } from '../support/org-changes.js';
import { recordStatements } from '../support/executed-statements.js';
import { anUnknownId } from '../support/personas.js';

const [ORG, OWNER, MEMBER] = [anUnknownId(), anUnknownId(), anUnknownId()];

const data = await openDataLayer();
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
const members = new MembersService(
  orgChanges(data),
  new MembersRepository(dataSource.getRepository(Member)),
  new InvitationsRepository(dataSource.getRepository(Invitation), transactions),
  new UserChangesRepository(),
  new UserEmailsRepository(dataSource.getRepository(User)),
  env,
);
const executed = recordStatements(dataSource);
const verbsOf: (work: () => Promise<unknown>) => Promise<string[]> = async (work) => {
  executed.splice(0);
  await work();
  return executed.map(({ verb }) => verb).filter((verb) => /^(?:SELECT|INSERT|UPDATE|DELETE)$/.test(verb));
};
afterAll(() => data.close());

describe('the statements of a change', () => {
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
  const USUAL = ['UPDATE', 'SELECT', 'SELECT', 'UPDATE', 'INSERT'];

  it('are as many as ever for a client that asks for nothing more, or for a state', async () => {
    expect(await verbsOf(() => members.changeRole(write(), ORG, MEMBER, 'admin'))).toEqual(USUAL);
    expect(
      await verbsOf(() => members.changeRole(write({ ifMatch: new Set(['"2"']) }), ORG, MEMBER, 'member')),
    ).toEqual(USUAL);
  });

  it('are two more for one with a key, which is looked up once the organization is locked', async () => {
    const key = { keyHash: 'k', fingerprint: 'f' };
    expect(await verbsOf(() => members.changeRole(write({ key }), ORG, MEMBER, 'admin'))).toEqual([
      'UPDATE',
      'SELECT',
      ...USUAL.slice(1),
      'INSERT',
    ]);
  });

  it('write nothing but the lock if the change is refused, or changes nothing', async () => {
    const alone = (work: () => Promise<unknown>): Promise<string[]> =>
      verbsOf(() => work().catch(() => undefined));
    const LOCKED = ['UPDATE', 'SELECT', 'SELECT'];
    expect(await alone(() => members.leave(write(), ORG))).toEqual(LOCKED);
    expect(await alone(() => members.remove(write(), ORG, OWNER))).toEqual(LOCKED);
    expect(await alone(() => members.transfer(write(), ORG, anUnknownId(), false))).toEqual(LOCKED);
    expect(await alone(() => members.changeRole(write(), ORG, MEMBER, 'admin'))).toEqual(LOCKED);
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
