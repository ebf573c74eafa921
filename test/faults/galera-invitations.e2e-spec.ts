import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accounts } from '../support/accounts-command.js';
import { atOnce, times } from '../support/at-once.js';
import { untrueClaims } from '../support/doctor.js';
import { alreadyInvited } from '../support/expected.js';
import {
  accept,
  anInvitation,
  aVerifiedAccount,
  invite,
  revoke,
  roleOf,
  rowOf,
} from '../support/inviting.js';
import { type Account, anAccount, anEmail, anOrgOf, join, type Org } from '../support/personas.js';
import type { Instance } from '../support/service.js';
import { report } from './support/figures.js';
import { GaleraService } from './support/galera-service.js';

const ROUNDS = 200;
const CLIENTS = 50;
const DISABLINGS = 8;

/** Locks of one node are none of another: what decides has to be written. */
describe('invitations on three nodes that all write', () => {
  let galera: GaleraService;
  let org: Org;
  let owner: Account;
  let admin: Account;
  let guest: Account;

  beforeAll(async () => {
    galera = await GaleraService.start({ ownNode: 2, env: { RATE_LIMIT_REGISTER: 'off' } });
    owner = await anAccount(at(0), 'owner');
    admin = await anAccount(at(0), 'admin');
    guest = await aVerifiedAccount(at(0), 'guest');
    org = await anOrgOf(owner);
  });
  afterAll(() => galera.stop());

  const at = (turn: number): Instance => galera.on(turn);
  const membersPath = (who: Account): string => `/api/orgs/${org.id}/members/${who.id}`;

  /** A request that lost against others every time has done nothing, and says so. */
  async function settled<A extends { status: number }>(request: () => Promise<A>): Promise<A> {
    const answer = await request();
    return answer.status === 503 ? settled(request) : answer;
  }

  it(
    `accepting against revoking against the removal of the inviter, ${ROUNDS} times: one end, and a member only where it was accepted`,
    { timeout: 600_000 },
    async () => {
      const ends = new Map<string, number>();
      for (let round = 0; round < ROUNDS; round += 1) {
        await join(org, owner, admin, 'admin');
        const invitation = await anInvitation(admin.at(at(round)), org, { email: guest.email });

        const [accepted, revoked, removed] = await atOnce([
          () => settled(() => accept(guest.at(at(round)), invitation)),
          () => settled(() => revoke(owner.at(at(round + 1)), org, invitation)),
          () => settled(() => owner.at(at(round + 2)).delete(membersPath(admin))),
        ]);

        const { status, pending } = await rowOf(galera.installation.db, invitation);
        const isMember = (await roleOf(galera.installation.db, org, guest)) !== undefined;
        const answers = [accepted!, revoked!, removed!].map((answer) => answer.status);
        const said = `round ${round}: accept, revoke, remove answered ${answers.join()}`;
        expect(removed!.status, said).toBe(200);
        expect([200, 409], said).toContain(accepted!.status);
        expect([200, 409], said).toContain(revoked!.status);
        expect([pending, status, isMember], said).toEqual(
          accepted!.status === 200 ? [null, 'accepted', true] : [null, 'revoked', false],
        );
        ends.set(String(status), (ends.get(String(status)) ?? 0) + 1);
        if (isMember) await settled(() => owner.delete(membersPath(guest)));
      }
      console.info(Object.fromEntries(ends));
      report({ faults: ROUNDS, requests: 3 * ROUNDS, wrong: 0 });
      await galera.cluster.waitUntilEqual();
      expect(await untrueClaims(galera.installation)).toEqual([]);
    },
  );

  it(`${CLIENTS} invitations of one e-mail make one`, { timeout: 120_000 }, async () => {
    const email = anEmail();
    const answers = await atOnce(
      times(CLIENTS, (client) => () => settled(() => invite(owner.at(at(client)), org, { email }))),
    );

    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      expect(answer).toMatchObject(alreadyInvited);
    }
  });

  it('nothing is pending of an inviter who is disabled while he invites', { timeout: 300_000 }, async () => {
    for (let round = 0; round < DISABLINGS; round += 1) {
      await join(org, owner, admin, 'admin').catch(() => undefined);
      const disabling = accounts(galera.installation, ['users', 'disable', admin.id]);
      const over = new AbortController();
      void disabling.finally(() => over.abort());
      let invited = 0;
      for (let number = 0; !over.signal.aborted; number += 1) {
        const { status } = await invite(admin.at(at(number)), org, { email: anEmail() });
        if (status === 201) invited += 1;
      }
      expect(await disabling).toMatchObject({ code: 0 });
      await galera.cluster.waitUntilEqual();
      const pending = await galera.installation.db.query(
        'SELECT id FROM invitations WHERE invited_by = ? AND pending = 1',
        [admin.id],
      );
      expect(pending, `round ${round}, ${invited} invitations`).toEqual([]);
      await accounts(galera.installation, ['users', 'enable', admin.id]);
      const { email, password } = admin;
      const { body } = await at(0).anyone.post<{ token: string }>('/api/auth/login', { email, password });
      admin = admin.as(body.token);
    }
    expect(await untrueClaims(galera.installation)).toEqual([]);
  });
});
