import { randomUUIDv7 } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { times } from '../support/at-once.js';
import { MailServer } from '../support/mail-server.js';
import { anAccount, anEmail } from '../support/personas.js';
import { startOwnService } from '../support/service.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';

const REQUESTS = 1000;
/** What one search of the outbox examines, and how many requests of one sender for an email it leaves. */
const EXAMINED = 200;
const LEFT = 5;

const mailServer = await MailServer.start();
const service = await startOwnService({ env: mailServer.env });
afterAll(async () => {
  await service.stop();
  await mailServer.stop();
});

describe('a flood of requests for a new password', () => {
  /** As requests leave them; they have waited for longer than a code lives. */
  async function waited(recipients: string[]): Promise<void> {
    await service.db.query(
      `INSERT INTO mails (id, kind, recipient, state, created_at, next_attempt_at, expires_at)
        VALUES ${recipients.map(() => "(?, 'password_reset', ?, 'waiting', 1, 1, 2)").join()}`,
      recipients.flatMap((recipient) => [randomUUIDv7(), recipient]),
    );
  }
  const countOf = async (where: string): Promise<number> =>
    Number((await service.db.query(`SELECT COUNT(*) AS n FROM mails WHERE ${where}`))[0]!['n']);
  const untilDecided = (): Promise<unknown> =>
    waitFor('no mail waits', hangTimeoutMs(), async () => (await countOf("state = 'waiting'")) === 0);

  it('leaves no row for e-mails without an account, however late the worker comes to them', async () => {
    const ada = await anAccount(service);
    await waited(times(REQUESTS, () => anEmail('unknown')));

    await service.anyone.post('/api/auth/password/forgot', { email: ada.email });

    expect((await mailServer.next(ada.email)).code).toBeDefined();
    await untilDecided();
    expect(await countOf("recipient LIKE 'unknown-%'")).toBe(0);
    expect(mailServer.mails.map(({ to }) => to)).toEqual([ada.email]);
  });

  it('leaves few rows for one e-mail with an account', async () => {
    const ada = await anAccount(service);
    await waited(times(REQUESTS, () => ada.email));

    await untilDecided();

    expect(await countOf(`recipient = '${ada.email}'`)).toBeLessThanOrEqual(
      LEFT * Math.ceil(REQUESTS / (EXAMINED - LEFT)),
    );
  });
});
