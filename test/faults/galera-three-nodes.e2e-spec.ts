import { describe, expect, it } from 'vitest';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { accounts, untrueClaims } from '../support/accounts-command.js';
import { atOnce, times } from '../support/at-once.js';
import { alreadyInvited, invalidEmailCode } from '../support/expected.js';
import {
  accept,
  anInvitation,
  aVerifiedAccount,
  invite,
  revoke,
  roleOf,
  rowOf,
} from '../support/inviting.js';
import { MailServer } from '../support/mail-server.js';
import { type Account, anAccount, anEmail, anOrgOf, aPassword, join } from '../support/personas.js';
import { closeAfterAll, UNLIMITED } from './support/deployment.js';
import { report } from './support/figures.js';
import { GaleraService } from './support/galera-service.js';

const ROUNDS = 200;
const CLIENTS = 50;
const DISABLINGS = 8;

const galera = await closeAfterAll(GaleraService.start({ ownNode: 2, env: UNLIMITED }));
const { db, installation } = galera;

/** Locks of one node are none of another: what decides has to be written. */
describe('invitations on three nodes that all write', async () => {
  const at = (turn: number) => galera.on(turn);
  const owner = await anAccount(at(0), 'owner');
  let admin = await anAccount(at(0), 'admin');
  const guest = await aVerifiedAccount(at(0), 'guest');
  const org = await anOrgOf(owner);

  const remove = (who: Account, turn = 0) =>
    owner.at(at(turn)).delete(`/api/orgs/${org.id}/members/${who.id}`);

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

        const answers = await atOnce([
          () => settled(() => accept(guest.at(at(round)), invitation)),
          () => settled(() => revoke(owner.at(at(round + 1)), org, invitation)),
          () => settled(() => remove(admin, round + 2)),
        ]);

        const { status, pending } = await rowOf(db, invitation);
        const isMember = (await roleOf(db, org, guest)) !== undefined;
        const [accepted, revoked, removed] = answers.map((answer) => answer.status);
        const said = `round ${round}: accept, revoke, remove answered ${[accepted, revoked, removed].join()}`;
        expect(removed, said).toBe(200);
        expect([200, 409], said).toContain(accepted);
        expect([200, 409], said).toContain(revoked);
        expect([pending, status, isMember], said).toEqual(
          accepted === 200 ? [null, 'accepted', true] : [null, 'revoked', false],
        );
        ends.set(String(status), (ends.get(String(status)) ?? 0) + 1);
        if (isMember) await settled(() => remove(guest));
      }
      console.info(Object.fromEntries(ends));
      report({ faults: ROUNDS, requests: 3 * ROUNDS, wrong: 0 });
      await galera.settle();
      expect(await untrueClaims(installation)).toEqual([]);
    },
  );

  it(`${CLIENTS} invitations of one e-mail make one`, async () => {
    const email = anEmail();
    const answers = await atOnce(
      times(CLIENTS, (client) => () => settled(() => invite(owner.at(at(client)), org, { email }))),
    );

    const others = answers.filter(({ status }) => status !== 201);
    expect(others).toHaveLength(CLIENTS - 1);
    for (const answer of others) expect(answer).toMatchObject(alreadyInvited);
  });

  it('nothing is pending of an inviter who is disabled while he invites', { timeout: 300_000 }, async () => {
    for (let round = 0; round < DISABLINGS; round += 1) {
      await join(org, owner, admin, 'admin').catch(() => undefined);
      const over = new AbortController();
      const disabling = accounts(installation, ['users', 'disable', admin.id]).finally(() => over.abort());
      let invited = 0;
      for (let number = 0; !over.signal.aborted; number += 1) {
        const { status } = await invite(admin.at(at(number)), org, { email: anEmail() });
        if (status === 201) invited += 1;
      }
      expect(await disabling).toMatchObject({ code: 0 });
      await galera.settle();
      const pending = await db.query('SELECT id FROM invitations WHERE invited_by = ? AND pending = 1', [
        admin.id,
      ]);
      expect(pending, `round ${round}, ${invited} invitations`).toEqual([]);
      await accounts(installation, ['users', 'enable', admin.id]);
      const { email, password } = admin;
      const { body } = await at(0).anyone.post<{ token: string }>('/api/auth/login', { email, password });
      admin = admin.as(body.token);
    }
    expect(await untrueClaims(installation)).toEqual([]);
  });
});

describe('mail on three nodes that all write', async () => {
  const mailServer = await closeAfterAll(MailServer.start());
  const env = { ...UNLIMITED, RATE_LIMIT_FORGOT: 'off', RATE_LIMIT_CODE: 'off', ...mailServer.env };
  const mailing = await closeAfterAll(galera.startFresh(env));

  const at = (turn: number) => mailing.instances[turn % mailing.instances.length]!;
  const forgot = (turn: number, email: string) =>
    at(turn).anyone.post('/api/auth/password/forgot', { email });
  const reset = (turn: number, email: string, code: string) =>
    at(turn).anyone.post('/api/auth/password/reset', { email, code, newPassword: aPassword() });

  it('sends each once', async () => {
    const emails = await Promise.all(times(24, async (turn) => (await anAccount(at(turn))).email));
    await Promise.all(emails.map((email, turn) => forgot(turn + 1, email)));
    for (const email of emails) await mailServer.next(email);
    await waitFor('all are noted as sent', hangTimeoutMs(), async () => {
      const [row] = await mailing.db.query("SELECT COUNT(*) AS n FROM mails WHERE state = 'waiting'");
      return Number(row!['n']) === 0;
    });

    const sent = mailServer.mails.map(({ to }) => to).filter((to) => emails.includes(to));
    expect(sent.toSorted()).toEqual(emails.toSorted());
  });

  it('lets a code work once, and bounds wrong tries to 50', async () => {
    const [one, other] = [(await anAccount(at(0))).email, (await anAccount(at(1))).email];
    for (const email of [one, other]) await forgot(2, email);
    const { code } = await mailServer.next(one);

    const answers = await Promise.all(times(6, (turn) => reset(turn, one, code!)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);

    const right = (await mailServer.next(other)).code!;
    let counted = 0;
    while (counted < 50) {
      const wrong = times(3, (turn) => reset(turn, other, '0000000000'));
      counted += (await Promise.all(wrong)).filter(({ status }) => status === 400).length;
    }
    expect(await reset(0, other, right)).toMatchObject(invalidEmailCode);
    await galera.settle();
  });
});
