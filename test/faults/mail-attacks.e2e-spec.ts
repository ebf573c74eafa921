import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { times } from '../support/at-once.js';
import { invite } from '../support/inviting.js';
import { MailServer } from '../support/mail-server.js';
import { type Account, anAccount, anEmail, anOrgOf, aPassword, type Org } from '../support/personas.js';
import { type Instance, startOwnService } from '../support/service.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { report } from './support/figures.js';
import { ENGINES, Storage, UNLIMITED } from './support/deployment.js';

/** Five at once: 20 emails a second at most. */
const MAIL_TAKES_MS = 250;
const INVITERS_AT_ONCE = 4;
/** Fewer would be gone before the other mail is due. */
const LEAST_BACKLOG = 100;
/** Those that are being sent at the moment, and some on a busy machine. */
const MOST_BEFORE_A_RESET = 20;

describe.each(ENGINES)('strangers who have mail sent on %s', (engine) => {
  let storage: Storage;
  let service: Instance;
  let mailServer: MailServer;

  beforeEach(async () => {
    storage = await Storage.on(engine);
    mailServer = await MailServer.start();
    service = await startOwnService({
      installation: storage.installation,
      env: { ...UNLIMITED, RATE_LIMIT_FORGOT: 'off', RATE_LIMIT_CODE: 'off', ...mailServer.env },
    });
  });
  afterEach(async () => {
    await service.stop();
    await mailServer.stop();
    await storage.close();
  });

  const forgot = (email: string) => service.anyone.post('/api/auth/password/forgot', { email });

  /** How many emails came before the first to an address that has this subject, and after how long. */
  async function wait(from: number, email: string, subject: string) {
    const begin = performance.now();
    const isIt = (mail: { to: string; subject: string }): boolean =>
      mail.to === email && mail.subject === subject;
    await waitFor(`"${subject}"`, hangTimeoutMs(), () => mailServer.mails.some(isIt));
    const seconds = ((performance.now() - begin) / 1000).toFixed(1);
    return { mailsBefore: mailServer.mails.findIndex(isIt) - from, seconds };
  }

  it('deny nobody their recovery: they ask to move to that address, over and over', async () => {
    const [victim, ...strangers] = await Promise.all(times(4, () => anAccount(service, 'account')));
    let requests = 0;
    for (const stranger of strangers) {
      for (let turn = 0; turn < 10; turn += 1) {
        await stranger.put('/api/me/email', { email: victim!.email, password: stranger.password });
        requests += 1;
      }
    }
    expect((await forgot(victim!.email)).status).toBe(202);

    const waited = await wait(mailServer.mails.length, victim!.email, 'Your code for a new password');

    const { code } = mailServer.to(victim!.email).findLast((mail) => mail.code !== undefined)!;
    const reset = { email: victim!.email, code, newPassword: aPassword() };
    expect((await service.anyone.post('/api/auth/password/reset', reset)).status).toBe(200);
    console.info({ engine, attack: 'moves to an address', requests, recoverySeconds: waited.seconds });
    report({ requests, wrong: 0 });
  });

  async function inviteAll(inviters: { by: Account; org: Org }[], each: number): Promise<void> {
    const todo = Array.from({ length: each }, () => inviters).flat();
    await Promise.all(
      times(INVITERS_AT_ONCE, async () => {
        for (let one = todo.pop(); one; one = todo.pop()) {
          const wish = { email: anEmail('invited'), showCode: false };
          expect((await invite(one.by, one.org, wish)).status).toBe(201);
        }
      }),
    );
  }

  it.each([
    { accounts: 4, each: 100, mostBeforeNewcomer: 50 },
    // Each of them has a first turn, too.
    { accounts: 90, each: 5, mostBeforeNewcomer: 150 },
  ])(
    'delay no recovery, and no invitation by somebody else: $accounts accounts, $each invitations each',
    { timeout: 300_000 },
    async ({ accounts, each, mostBeforeNewcomer }) => {
      mailServer.verdict = () => sleep(MAIL_TAKES_MS);
      const [victim, newcomer] = [await anAccount(service, 'victim'), await anAccount(service, 'newcomer')];
      const own = await anOrgOf(newcomer);
      const inviters = [];
      for (let number = 0; number < accounts; number += 1) {
        const by = await anAccount(service, 'inviter');
        inviters.push({ by, org: await anOrgOf(by) });
      }
      await inviteAll(inviters, each);
      const [row] = await storage.query("SELECT COUNT(*) AS n FROM mails WHERE state = 'waiting'");
      const backlog = Number(row!['n']);
      expect(backlog, 'else it was no attack').toBeGreaterThan(LEAST_BACKLOG);

      const guest = anEmail('guest');
      expect((await invite(newcomer, own, { email: guest, showCode: false })).status).toBe(201);
      expect((await forgot(victim.email)).status).toBe(202);
      const from = mailServer.mails.length;

      const recovery = await wait(from, victim.email, 'Your code for a new password');
      const invitation = await wait(from, guest, 'You are invited to an organization');
      console.info({ engine, accounts, each, backlog, recovery, invitation });
      expect(recovery.mailsBefore).toBeLessThanOrEqual(MOST_BEFORE_A_RESET);
      expect(invitation.mailsBefore).toBeLessThanOrEqual(mostBeforeNewcomer);
      report({ requests: accounts * each + 2, wrong: 0 });
    },
  );
});
