import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { times } from '../support/at-once.js';
import { invite } from '../support/inviting.js';
import { MailServer } from '../support/mail-server.js';
import { anAccount, anEmail, anOrgOf, aPassword } from '../support/personas.js';
import { closeAfterTest, countOf, ENGINES, startInstance, Storage, UNLIMITED } from './support/deployment.js';
import { report } from './support/figures.js';

/** Five at once: 20 emails a second at most. */
const MAIL_TAKES_MS = 250;
/** Fewer would be gone before the other mail is due. */
const LEAST_BACKLOG = 100;
/** Those that are being sent at the moment, and some on a busy machine. */
const MOST_BEFORE_A_RESET = 20;
const RESET = 'Your password reset code';

describe.each(ENGINES)('strangers who have mail sent on %s', (engine) => {
  async function start() {
    const { installation } = await closeAfterTest(Storage.on(engine));
    const mailServer = await closeAfterTest(MailServer.start());
    const env = { ...UNLIMITED, RATE_LIMIT_FORGOT: 'off', RATE_LIMIT_CODE: 'off', ...mailServer.env };
    const service = await closeAfterTest(startInstance(installation, env));
    const forgot = async (email: string): Promise<void> =>
      expect((await service.anyone.post('/api/auth/password/forgot', { email })).status).toBe(202);

    /** How many emails came before the first to an address that has this subject, and after how long. */
    async function wait(from: number, email: string, subject: string) {
      const begin = performance.now();
      const isIt = (mail: { to: string; subject: string }): boolean =>
        mail.to === email && mail.subject === subject;
      await waitFor(`"${subject}"`, hangTimeoutMs(), () => mailServer.mails.some(isIt));
      const seconds = ((performance.now() - begin) / 1000).toFixed(1);
      return { mailsBefore: mailServer.mails.findIndex(isIt) - from, seconds };
    }
    return { service, mailServer, forgot, wait };
  }

  it('deny nobody their recovery: they ask to move to that address, over and over', async () => {
    const { service, mailServer, forgot, wait } = await start();
    const { email } = await anAccount(service, 'victim');
    const each = 10;
    const strangers = await Promise.all(times(3, () => anAccount(service, 'stranger')));
    for (const stranger of strangers) {
      for (let turn = 0; turn < each; turn += 1)
        await stranger.put('/api/me/email', { email, password: stranger.password });
    }
    await forgot(email);

    const { seconds } = await wait(mailServer.mails.length, email, RESET);

    const { code } = mailServer.to(email).findLast((mail) => mail.code !== undefined)!;
    const reset = { email, code, newPassword: aPassword() };
    expect((await service.anyone.post('/api/auth/password/reset', reset)).status).toBe(200);
    console.info({ engine, attack: 'moves to an address', recoverySeconds: seconds });
    report({ requests: each * strangers.length, wrong: 0 });
  });

  it.each([
    { accounts: 4, each: 100, mostBeforeNewcomer: 50 },
    // Each of them has a first turn, too.
    { accounts: 90, each: 5, mostBeforeNewcomer: 150 },
  ])(
    'delay no recovery, and no invitation by somebody else: $accounts accounts, $each invitations each',
    { timeout: 300_000 },
    async ({ accounts, each, mostBeforeNewcomer }) => {
      const { service, mailServer, forgot, wait } = await start();
      mailServer.verdict = () => sleep(MAIL_TAKES_MS);
      const victim = await anAccount(service, 'victim');
      const anInviter = async () => {
        const by = await anAccount(service, 'inviter');
        const org = await anOrgOf(by);
        return async (email = anEmail('invited')): Promise<void> =>
          expect((await invite(by, org, { email, showCode: false })).status).toBe(201);
      };
      const inviteByNewcomer = await anInviter();
      const inviters: (() => Promise<void>)[] = [];
      while (inviters.length < accounts) inviters.push(await anInviter());
      const todo = times(each, () => inviters).flat();
      const work = async (): Promise<void> => {
        for (let one = todo.pop(); one; one = todo.pop()) await one();
      };
      await Promise.all(times(4, work));
      const backlog = await countOf(service.db, "mails WHERE state = 'waiting'");
      expect(backlog, 'else it was no attack').toBeGreaterThan(LEAST_BACKLOG);

      const guest = anEmail('guest');
      await inviteByNewcomer(guest);
      await forgot(victim.email);
      const from = mailServer.mails.length;

      const recovery = await wait(from, victim.email, RESET);
      const invitation = await wait(from, guest, 'You are invited to an organization');
      console.info({ engine, accounts, each, backlog, recovery, invitation });
      expect(recovery.mailsBefore).toBeLessThanOrEqual(MOST_BEFORE_A_RESET);
      expect(invitation.mailsBefore).toBeLessThanOrEqual(mostBeforeNewcomer);
      report({ requests: accounts * each + 2, wrong: 0 });
    },
  );
});
