import { randomUUIDv7 } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PasswordRecoveryService, PasswordSetting } from '../../src/accounts/password-reset.js';
import { SecondFactorRemoval } from '../../src/accounts/second-factor-removal.js';
import { EmailCodes } from '../../src/auth/email-codes/email-codes.js';
import { EmailCode, EmailCodesRepository } from '../../src/auth/email-codes/email-codes.repository.js';
import { loadHashEngine } from '../../src/auth/passwords/hash-engines.js';
import { PasswordHasher } from '../../src/auth/passwords/password-hasher.js';
import {
  RecoveryCode,
  RecoveryCodesRepository,
  SecondFactor,
  SecondFactorRows,
  SecondFactorsRepository,
} from '../../src/auth/second-factor/second-factors.repository.js';
import {
  SecondFactorFailures,
  SecondFactorFailuresRepository,
} from '../../src/auth/second-factor/second-factor-failures.repository.js';
import { loadKeyFile } from '../../src/auth/tokens/key-file.js';
import { KeyRing } from '../../src/auth/tokens/signing-keys.js';
import { Event } from '../../src/events/event.entity.js';
import { EventsRepository } from '../../src/events/events.repository.js';
import { Mail } from '../../src/mail/mail.entity.js';
import { Mails } from '../../src/mail/mails.js';
import { MailsRepository } from '../../src/mail/mails.repository.js';
import { LiftedLimits } from '../../src/rate-limits/login-limits.js';
import { LiftedLimit, LiftedLimitsRepository } from '../../src/rate-limits/lifted-limits.repository.js';
import { SlidingWindowStore } from '../../src/rate-limits/sliding-window-store.js';
import { User } from '../../src/users/user.entity.js';
import { UsersRepository } from '../../src/users/users.repository.js';
import { UserUpdates } from '../../src/users/users.updates.js';
import { times } from '../support/at-once.js';
import { type DataLayer, openDataLayer } from '../support/data-source.js';
import { recordStatements } from '../support/executed-statements.js';
import { MailServer } from '../support/mail-server.js';
import { userChanges } from '../support/clean-up.js';
import { anAccount, anEmail, anUnknownId, aPassword } from '../support/personas.js';
import { startOwnService } from '../support/service.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';

const REQUESTS = 1000;
/** What one search of the outbox examines, and how many requests of one sender for an email it leaves. */
const EXAMINED = 200;
const LEFT = 5;

const MAIL = { SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'no-reply@accounts.example' };
const CLIENT = { key: 'test', hasLeft: () => false };
const ORIGIN = { requestId: 'test', address: '127.0.0.1' };

const mailServer = await MailServer.start();
const service = await startOwnService({
  env: { RATE_LIMIT_FORGOT: 'off', RATE_LIMIT_CODE: 'off', ...mailServer.env },
});
afterAll(async () => {
  await service.stop();
  await mailServer.stop();
});

describe('for an unknown e-mail the database does the same', () => {
  let data: DataLayer;

  beforeAll(async () => {
    data = await openDataLayer(MAIL);
  });
  afterAll(() => data.close());

  async function aRecovery(): Promise<PasswordRecoveryService> {
    const { dataSource, env, transactions } = data;
    const keys = new KeyRing(loadKeyFile(env.jwtKeysFile, true));
    const codes = new EmailCodesRepository(dataSource.getRepository(EmailCode));
    const updates = new UserUpdates();
    const changes = userChanges(data);
    const mails = new Mails(
      new MailsRepository(dataSource.getRepository(Mail), transactions),
      new EventsRepository(dataSource.getRepository(Event)),
      transactions,
      env,
    );
    const rows = new SecondFactorRows(
      new SecondFactorsRepository(dataSource.getRepository(SecondFactor)),
      new SecondFactorFailuresRepository(dataSource.getRepository(SecondFactorFailures)),
      new RecoveryCodesRepository(dataSource.getRepository(RecoveryCode)),
    );
    const removal = new SecondFactorRemoval(changes, updates, rows, mails);
    return new PasswordRecoveryService(
      codes,
      new EmailCodes(codes, keys),
      mails,
      new UsersRepository(dataSource.getRepository(User)),
      updates,
      changes,
      removal,
      new PasswordSetting(changes, updates, codes, mails),
      new PasswordHasher(env, await loadHashEngine()),
      new LiftedLimits(
        env,
        new LiftedLimitsRepository(dataSource.getRepository(LiftedLimit)),
        new SlidingWindowStore(),
      ),
      transactions,
    );
  }

  it('statements with the same results, when a code is asked for and when a wrong one is typed', async () => {
    const known = anEmail('known');
    const row = [anUnknownId(), known, 'none', 1];
    const sql = 'INSERT INTO users (id, email, password_hash, created_at) VALUES (?, ?, ?, ?)';
    await data.db.query(sql, row);
    const recovery = await aRecovery();
    const executed = recordStatements(data.dataSource);
    const during = async (work: () => Promise<unknown>): Promise<string[]> => {
      executed.splice(0);
      await work().catch(() => undefined);
      return executed.map(({ verb, rows }) => `${verb} ${rows}`);
    };
    const reset = (email: string) =>
      recovery.reset({ email, code: '0000000000', newPassword: aPassword() }, CLIENT, ORIGIN);

    const runs: string[][][] = [];
    for (const [email, address] of [
      [known, '192.0.2.1'],
      [anEmail('unknown'), '192.0.2.2'],
    ] as const) {
      const ask = (of: string) => recovery.ask(of, { ...ORIGIN, address });
      const run: string[][] = [];
      for (const step of [reset, ask, reset, ask, reset]) run.push(await during(() => step(email)));
      runs.push(run);
    }

    expect(runs[0]![1]!.length).toBeGreaterThan(2);
    expect(runs[1]).toEqual(runs[0]);
  });
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
    expect(mailServer.mails.filter(({ to }) => to.startsWith('unknown-'))).toEqual([]);
    expect(mailServer.to(ada.email)).toHaveLength(1);
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
