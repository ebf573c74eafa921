import { randomUUIDv7 } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { EmailCode, EmailCodesRepository } from '../../src/auth/email-codes/email-codes.repository.js';
import { Mail, MAIL_STATES } from '../../src/mail/mail.entity.js';
import { firstEntityIdAt } from '../../src/identifiers/entity-id.js';
import { MailsRepository } from '../../src/mail/mails.repository.js';
import { aCleanUp } from '../support/clean-up.js';
import { openDataLayer } from '../support/data-source.js';

const MINUTE_MS = 60_000;
const WEEK_MS = 7 * 86_400_000;
const NOW = Date.now();
const LEASE_END = NOW + MINUTE_MS;
/** when the clean-up runs */
const LATER = 1_800_000_000_000;

const data = await openDataLayer();
const mails = new MailsRepository(data.dataSource.getRepository(Mail), data.transactions);
afterAll(() => data.close());

describe('a mail in the outbox', () => {
  async function aMail(
    values: Partial<Record<'attempts' | 'next_attempt_at', number>> = {},
  ): Promise<string> {
    const id = randomUUIDv7();
    const { attempts = 0, next_attempt_at: next = 0 } = values;
    await data.db.query(
      `INSERT INTO mails (id, kind, recipient, state, created_at, next_attempt_at, attempts)
        VALUES (?, 'password_changed', ?, 'waiting', ?, ?, ?)`,
      [id, `${id}@example.com`, NOW, next, attempts],
    );
    return id;
  }
  const dueIds = async (now: number): Promise<string[]> => {
    const { fresh, retries } = await mails.findDue(0, now, 100);
    return [...fresh, ...retries].map(({ id }) => id);
  };

  it('is of one process until its lease has ended', async () => {
    const id = await aMail();
    expect(await dueIds(NOW)).toContain(id);
    expect(await mails.claim(id, NOW, LEASE_END)).toMatchObject({ id, attempts: 1 });

    expect(await mails.claim(id, LEASE_END - 1, LEASE_END + MINUTE_MS)).toBeUndefined();
    expect(await dueIds(LEASE_END - 1)).not.toContain(id);

    expect(await dueIds(LEASE_END)).toContain(id);
    expect(await mails.claim(id, LEASE_END, LEASE_END + MINUTE_MS)).toMatchObject({ attempts: 2 });
  });

  it('is not postponed by a process that has lost its lease', async () => {
    const id = await aMail();
    const lost = await mails.claim(id, NOW, LEASE_END);
    await mails.claim(id, LEASE_END, LEASE_END + MINUTE_MS);

    await mails.postpone(lost!, NOW, 'ECONNREFUSED');

    expect(await mails.find(id)).toMatchObject({ nextAttemptAt: LEASE_END + MINUTE_MS, lastError: null });
  });

  it('begins anew when an operator has it retried', async () => {
    const id = await aMail({ attempts: 29, next_attempt_at: LEASE_END });

    expect(await data.transactions.run({ principal: 'ada' }, (tx) => mails.retry(tx, id, NOW))).toBe(true);

    expect(await mails.find(id)).toMatchObject({ attempts: 0, nextAttemptAt: NOW });
    expect(await dueIds(NOW)).toContain(id);
  });

  it('is not retried once it was dropped', async () => {
    const id = await aMail();
    await mails.end((await mails.find(id))!, 'dropped');

    await data.transactions.run({ principal: 'ada' }, async (tx) => {
      expect(await mails.retry(tx, id, NOW)).toBe(false);
      expect(await mails.retryFailed(tx, NOW)).toBe(0);
    });
  });

  it('has a place of its code that the clean-up spares for as long as the code lives', async () => {
    const codes = new EmailCodesRepository(data.dataSource.getRepository(EmailCode));
    await data.transactions.run({ principal: 'ada' }, (tx) =>
      codes.keep(tx, { purpose: 'password_reset', subject: 'ada@example.com' }),
    );

    expect(await codes.findOld(Date.now() + 14 * MINUTE_MS, 10)).toEqual([]);
    expect(await codes.findOld(Date.now() + 61 * MINUTE_MS, 10)).toHaveLength(1);
  });

  it('is deleted after a week, whatever has become of it: nobody is alarmed by an old notice', async () => {
    for (const [place, state] of MAIL_STATES.entries()) {
      for (const at of [LATER - WEEK_MS - 1, LATER - WEEK_MS]) {
        const id = firstEntityIdAt(at).slice(0, -1) + String(place);
        await data.db.query(
          `INSERT INTO mails (id, kind, recipient, state, created_at, next_attempt_at, priority, turn_at)
            VALUES (?, 'password_changed', 'old@example.com', ?, ?, 0, 1, 0)`,
          [id, state, at],
        );
      }
    }
    await aCleanUp(data.dataSource).deleteExpired(LATER);
    const left = await data.db.query(
      "SELECT state, created_at AS at FROM mails WHERE recipient = 'old@example.com' ORDER BY id",
    );
    expect(left.map(({ state, at }) => [state, Number(at)])).toEqual(
      MAIL_STATES.map((state) => [state, LATER - WEEK_MS]),
    );
  });
});
