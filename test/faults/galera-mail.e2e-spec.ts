import { afterAll, describe, expect, it } from 'vitest';
import { invalidCode } from '../support/expected.js';
import { MailServer } from '../support/mail-server.js';
import { anAccount, aPassword } from '../support/personas.js';
import type { Instance } from '../support/service.js';
import { GaleraService } from './support/galera-service.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';

const NO_LIMITS = { RATE_LIMIT_REGISTER: 'off', RATE_LIMIT_FORGOT: 'off', RATE_LIMIT_CODE: 'off' };

const mailServer = await MailServer.start();
const galera = await GaleraService.start({ ownNode: 2, env: { ...NO_LIMITS, ...mailServer.env } });
afterAll(async () => {
  await galera.stop();
  await mailServer.stop();
});

/** Locks of one node are none of another: what decides has to be written. */
describe('mail on three nodes that all write', () => {
  const at = (turn: number): Instance => galera.on(turn);
  const reset = (number: number, email: string, code: string) =>
    at(number).anyone.post('/api/auth/password/reset', { email, code, newPassword: aPassword() });

  it('sends each once', { timeout: 120_000 }, async () => {
    const accounts = await Promise.all(Array.from({ length: 24 }, (_, number) => anAccount(at(number))));
    await Promise.all(
      accounts.map(({ email }, number) => at(number + 1).anyone.post('/api/auth/password/forgot', { email })),
    );
    for (const { email } of accounts) await mailServer.next(email);
    await waitFor('all are noted as sent', hangTimeoutMs(), async () => {
      const [row] = await galera.installation.db.query(
        "SELECT COUNT(*) AS n FROM mails WHERE state = 'waiting'",
      );
      return Number(row!['n']) === 0;
    });

    expect(mailServer.mails.map(({ to }) => to).toSorted()).toEqual(
      accounts.map(({ email }) => email).toSorted(),
    );
  });

  it('lets a code work once, and bounds wrong tries to 50', { timeout: 120_000 }, async () => {
    const [one, other] = [await anAccount(at(0)), await anAccount(at(1))];
    for (const { email } of [one, other]) await at(2).anyone.post('/api/auth/password/forgot', { email });
    const { code } = await mailServer.next(one.email);

    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, number) => reset(number, one.email, code!)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);

    const right = (await mailServer.next(other.email)).code!;
    let counted = 0;
    while (counted < 50) {
      const wrong = Array.from({ length: 3 }, (_, number) => reset(number, other.email, '0000000000'));
      counted += (await Promise.all(wrong)).filter(({ status }) => status === 400).length;
    }
    expect(await reset(0, other.email, right)).toMatchObject(invalidCode);
    await galera.cluster.waitUntilEqual();
  });
});
