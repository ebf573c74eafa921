import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { accounts } from '../support/accounts-command.js';
import { userNotFound } from '../support/expected.js';
import {
  accept,
  anInvitation,
  aVerifiedAccount,
  type Invitation,
  listed,
  received,
  rowOf,
  verified,
} from '../support/inviting.js';
import { anAccount, anEmail, anOrg, type Cast, join } from '../support/personas.js';
import { eventsSince, knownEvents } from '../support/recorded-events.js';
import { type Service, startService } from '../support/service.js';

describe('an inviter', () => {
  let service: Service;
  let cast: Cast;
  let own: Invitation[];
  let ofTheOwner: Invitation;
  let known: ReadonlySet<unknown>;

  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  beforeEach(async () => {
    cast = await anOrg(service);
    const { org, owner, admin } = cast;
    own = [
      await anInvitation(admin, org, { email: anEmail(), role: 'admin' }),
      await anInvitation(admin, org, { email: anEmail() }),
    ];
    ofTheOwner = await anInvitation(owner, org, { email: anEmail() });
    known = await knownEvents(service.db);
  });

  const path = (): string => `/api/orgs/${cast.org.id}/members/${cast.admin.id}`;

  async function expectRevoked(reason: string): Promise<void> {
    for (const { id } of own) {
      expect(await rowOf(service.db, { id })).toMatchObject({
        status: 'revoked',
        pending: null,
        ended_at: expect.any(Number) as number,
      });
    }
    expect(await rowOf(service.db, ofTheOwner)).toMatchObject({ status: 'pending', pending: 1 });
    const events = (await eventsSince(service.db, known)).filter(({ type }) => type === 'invitation.revoked');
    expect(events.map(({ data, org_id, user_id }) => ({ data, org_id, user_id }))).toEqual(
      expect.arrayContaining(
        own.map(({ id, role }) => ({
          data: { invitationId: id, role, reason },
          org_id: cast.org.id,
          user_id: null,
        })),
      ),
    );
    expect(events).toHaveLength(own.length);
  }

  it('who is removed loses the pending invitations', async () => {
    expect((await cast.owner.delete(path())).status).toBe(200);
    await expectRevoked('inviter_removed');
  });

  it('who goes loses them', async () => {
    expect((await cast.admin.delete(path())).status).toBe(200);
    await expectRevoked('inviter_left');
  });

  it('who becomes a member loses them, and who becomes an owner keeps them', async () => {
    await cast.owner.patch(path(), { role: 'owner' });
    expect(await listed(cast.owner, cast.org, 'pending')).toHaveLength(3);
    await cast.owner.patch(path(), { role: 'member' });
    await expectRevoked('inviter_demoted');
  });

  it('who is disabled loses them, in organizations of others, too', async () => {
    const { code, stderr } = await accounts(service.installation, ['users', 'disable', cast.admin.email]);
    expect([code, stderr]).toEqual([0, '']);
    await expectRevoked('inviter_disabled');
  });

  it('who deletes the account loses them', async () => {
    expect((await cast.admin.delete('/api/me', { password: cast.admin.password })).status).toBe(200);
    await expectRevoked('inviter_deleted');
    const { invitedBy } = (await listed(cast.owner, cast.org)).find(({ id }) => id === own[0]!.id)!;
    expect(invitedBy).toEqual({ userId: cast.admin.id, email: null });
  });

  it('leaves the invitations that somebody else has resent', async () => {
    const { org, owner, admin } = cast;
    const [first] = own;
    await owner.post(`/api/orgs/${org.id}/invitations/${first!.id}/resend`, { showCode: true });
    await owner.delete(`/api/orgs/${org.id}/members/${admin.id}`);

    const pending = await listed(owner, org, 'pending');
    expect(pending.map(({ id }) => id)).toEqual([ofTheOwner.id, first!.id]);
  });

  it('of somebody who is added has not to invite any more', async () => {
    const { org, owner, outsider, admin } = cast;
    const invitation = await anInvitation(admin, org, { email: outsider.email, role: 'admin' });
    await join(org, owner, outsider, 'member');

    expect(await rowOf(service.db, invitation)).toMatchObject({ status: 'revoked', pending: null });
    const event = (await eventsSince(service.db, known)).find(({ type }) => type === 'invitation.revoked');
    expect(event!.data).toEqual({ invitationId: invitation.id, role: 'admin', reason: 'member_added' });
    await verified(service.db, outsider);
    expect(await accept(outsider, invitation)).toMatchObject({ status: 409 });
  });

  it('of somebody whom an operator makes an owner, too', async () => {
    const { org, admin, outsider } = cast;
    const invitation = await anInvitation(admin, org, { email: outsider.email });
    const args = ['orgs', 'set-owner', org.id, outsider.email, '--force', '--reason', 'lost'];
    expect((await accounts(service.installation, args)).code).toBe(0);
    expect(await rowOf(service.db, invitation)).toMatchObject({ status: 'revoked' });
  });

  it('does not lose, nor does the invited, what a deleted account of that e-mail did not answer', async () => {
    const { org, owner } = cast;
    const guest = await aVerifiedAccount(service);
    const squatter = await anAccount(service);
    const [kept, ended] = [
      await anInvitation(owner, org, { email: guest.email }),
      await anInvitation(cast.admin, org, { email: squatter.email }),
    ];
    await owner.delete(`/api/orgs/${org.id}/invitations/${ended.id}`);
    const other = await anOrg(service);
    const declined = await anInvitation(other.owner, other.org, { email: guest.email });
    await guest.post(`/api/me/invitations/${declined.id}/decline`);

    for (const who of [guest, squatter]) await who.delete('/api/me', { password: who.password });

    expect(await rowOf(service.db, kept)).toMatchObject({ status: 'pending' });
    expect(await rowOf(service.db, declined)).toBeUndefined();
    // A squatter's deletion takes nothing from an organization.
    expect(await rowOf(service.db, ended)).toMatchObject({ status: 'revoked' });
  });
});

describe('with ADD_MEMBERS=verified', () => {
  let service: Service;

  beforeAll(async () => {
    service = await startService({ env: { ADD_MEMBERS: 'verified' } });
  });
  afterAll(() => service.stop());

  it('an unverified account is added as little as an unknown one', async () => {
    const [owner, guest] = [await anAccount(service), await anAccount(service)];
    const { body } = await owner.post<{ org: { id: string; name: string } }>('/api/orgs', {
      name: 'Engines',
    });
    const add = (email: string) => owner.post(`/api/orgs/${body.org.id}/members`, { email, role: 'member' });
    const [unknown, unverified] = [await add(anEmail()), await add(guest.email)];

    expect(unverified).toMatchObject(userNotFound);
    const without = (answer: { body: unknown }) => ({ ...(answer.body as object), requestId: '' });
    expect(without(unverified)).toEqual(without(unknown));
    await verified(service.db, guest);
    expect((await add(guest.email)).status).toBe(201);
    expect(await received(guest)).toEqual([]);
  });
});
