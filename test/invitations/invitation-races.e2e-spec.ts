import { theOneOf } from '../support/answer.js';
import { afterAll, describe, expect, it } from 'vitest';
import { atOnce, times } from '../support/at-once.js';
import { raceWithDeletion } from '../support/deletion-race.js';
import { untrueClaims } from '../support/accounts-command.js';
import { instancesInARace, roundsOfARace } from '../support/engine.js';
import { alreadyInvited } from '../support/expected.js';
import {
  accept,
  acceptByCode,
  anInvitation,
  aVerifiedAccount,
  decline,
  declineByCode,
  type Invitation,
  invite,
  registerWith,
  resend,
  revoke,
  roleOf,
  rowOf,
} from '../support/inviting.js';
import { addMember, removeMember } from '../support/org-members.js';
import { anEmail, anOrg } from '../support/personas.js';
import { startCluster } from '../support/service.js';

const ROUNDS = roundsOfARace(15);
const CLIENTS = 50;

// Of its own, since the doctor would mind what other files have damaged.
const cluster = await startCluster(instancesInARace, { env: { RATE_LIMIT_REGISTER: 'off' } });
afterAll(() => cluster.stop());

describe('at the same moment', () => {
  const at = (index: number) => cluster.instances[index % cluster.instances.length]!;

  it(`${CLIENTS} invitations of one e-mail make one`, async () => {
    const { org, owner, admin } = await anOrg(at(0));
    const email = anEmail();
    const answers = await atOnce(
      times(CLIENTS, (client) => () => invite((client % 2 ? owner : admin).at(at(client)), org, { email })),
    );
    expect(theOneOf(answers, 201, alreadyInvited)).toBeDefined();
  });

  it('every list has each invitation once, and all that were acknowledged before', async () => {
    const { org, owner, admin } = await anOrg(at(0));
    const acknowledged = new Set<string>();
    const found = { missing: 0, twice: 0 };
    const running = { writers: 3 };
    async function write(): Promise<void> {
      for (let round = 0; round < ROUNDS; round += 1) {
        const { body } = await invite(owner.at(at(round)), org, { email: anEmail() });
        acknowledged.add(body.invitation.id);
        expect((await revoke(owner.at(at(round)), org, body.invitation)).status).toBe(200);
      }
      running.writers -= 1;
    }
    async function read(): Promise<void> {
      for (let round = 0; running.writers > 0; round += 1) {
        const before = [...acknowledged];
        const reader = admin.at(at(round));
        const { body } = await reader.get<{ invitations: Invitation[] }>(
          `/api/orgs/${org.id}/invitations?limit=100`,
        );
        const ids = body.invitations.map(({ id }) => id);
        if (before.some((id) => !ids.includes(id))) found.missing += 1;
        if (new Set(ids).size < ids.length) found.twice += 1;
      }
    }

    await atOnce([...times(running.writers, () => write), ...times(6, () => read)]);

    expect(found).toEqual({ missing: 0, twice: 0 });
  });

  it('an invitation is accepted, revoked, or goes with its inviter: a member is there exactly if it was accepted', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { org, owner, admin } = await anOrg(at(round));
      const guest = await aVerifiedAccount(at(round), 'guest');
      const invitation = await anInvitation(admin, org, guest);
      const [accepted, revoked, removed] = await atOnce([
        () => accept(guest, invitation),
        () => revoke(owner.at(at(round + 1)), org, invitation),
        () => removeMember(owner.at(at(round + 2)), org, admin),
      ]);
      expect(removed!.status).toBe(200);
      const { status, pending } = await rowOf(cluster.db, invitation);
      expect(pending).toBeNull();
      expect(status).toBe(accepted!.status === 200 ? 'accepted' : 'revoked');
      expect(await roleOf(cluster.db, org, guest)).toBe(accepted!.status === 200 ? 'member' : undefined);
      expect([200, 409]).toContain(accepted!.status);
      expect([200, 409]).toContain(revoked!.status);
    }
  });

  it('accepting, declining, resending and adding make one member, once', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { org, owner } = await anOrg(at(round));
      const guest = await aVerifiedAccount(at(round), 'guest');
      const invitation = await anInvitation(owner, org, { email: guest.email, role: 'admin' });
      const [one, two, declined, , added] = await atOnce([
        () => accept(guest, invitation),
        () => accept(guest.at(at(round + 1)), invitation),
        () => decline(guest.at(at(round + 2)), invitation),
        () => resend(owner.at(at(round + 1)), org, invitation),
        () => addMember(owner, org, guest),
      ]);
      const accepted = [one!, two!].filter(({ status }) => status === 200);
      expect(accepted.length + Number(declined!.status === 200)).toBeLessThanOrEqual(1);
      expect(accepted.length + Number(added!.status === 201)).toBe(1);
      expect(await roleOf(cluster.db, org, guest)).toBe(accepted.length === 1 ? 'admin' : 'member');
      expect((await rowOf(cluster.db, invitation))['pending']).toBeNull();
    }
  });

  it('a code alone and the id make one member, once', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { org, owner } = await anOrg(at(round));
      const guest = await aVerifiedAccount(at(round), 'guest');
      const invitation = await anInvitation(owner, org, guest);
      const answers = await atOnce([
        () => acceptByCode(guest, invitation.code),
        () => acceptByCode(guest.at(at(round + 1)), invitation.code),
        () => accept(guest.at(at(round + 2)), invitation),
        () => declineByCode(guest.at(at(round + 1)), invitation.code),
      ]);
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      for (const { status, text } of answers) expect([200, 400, 409], text).toContain(status);
      const isDeclined = answers[3]!.status === 200;
      expect(await roleOf(cluster.db, org, guest)).toBe(isDeclined ? undefined : 'member');
      expect((await rowOf(cluster.db, invitation))['status']).toBe(isDeclined ? 'declined' : 'accepted');
    }
  });

  it('one code registers one account', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { org, owner } = await anOrg(at(round));
      const email = anEmail('guest');
      const { code } = await anInvitation(owner, org, { email });
      const answers = await atOnce(times(4, (client) => () => registerWith(at(client), email, code)));
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
      for (const { status } of answers) expect([201, 400, 409]).toContain(status);
      const users = await cluster.db.query('SELECT id FROM users WHERE email = ?', [email]);
      expect(users).toHaveLength(1);
      expect(await roleOf(cluster.db, org, { id: String(users[0]!['id']) })).toBe('member');
    }
  });

  it('an answer and the deletion of the organization happen in one order', async () => {
    const first = new Map<string, number>();
    for (let round = 0; round < 48; round += 1) {
      const [answering, deleting] = [at(round), at(round + 1)];
      const race = { db: cluster.db, answering, deleting, round, settle: async () => undefined };
      const outcome = await raceWithDeletion(race);
      first.set(outcome, (first.get(outcome) ?? 0) + 1);
    }
    expect([...first.keys()].toSorted()).toEqual(['answer', 'deletion']);
  });

  it('leave nothing that the doctor minds', async () => {
    expect(await untrueClaims(cluster.installation)).toEqual([]);
  });
});
