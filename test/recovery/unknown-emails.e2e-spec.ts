import { userChanges } from '../support/org-changes.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PasswordRecoveryService, PasswordSetting } from '../../src/accounts/password-reset.js';
import { EmailCode, EmailCodesRepository } from '../../src/auth/email-codes/email-codes.repository.js';
import { EmailCodes } from '../../src/auth/email-codes/email-codes.js';
import { BcryptVerifier, loadArgon2Engine } from '../../src/auth/passwords/hash-engines.js';
import { PasswordHasher } from '../../src/auth/passwords/password-hasher.js';
import { KeyRing } from '../../src/auth/tokens/signing-keys.js';
import {
  SecondFactorFailures,
  SecondFactorFailuresRepository,
} from '../../src/auth/second-factor/second-factor-failures.repository.js';
import {
  RecoveryCode,
  RecoveryCodesRepository,
} from '../../src/auth/second-factor/recovery-codes.repository.js';
import { SecondFactorRemoval } from '../../src/accounts/second-factor-removal.js';
import {
  SecondFactor,
  SecondFactorRows,
  SecondFactorsRepository,
} from '../../src/auth/second-factor/second-factors.repository.js';
import { loadKeyFile } from '../../src/auth/tokens/key-file.js';
import { Event } from '../../src/events/event.entity.js';
import { EventsRepository } from '../../src/events/events.repository.js';
import { Mail } from '../../src/mail/mail.entity.js';
import { Mails } from '../../src/mail/mails.js';
import { MailsRepository } from '../../src/mail/mails.repository.js';
import { LiftedLimit, LiftedLimitsRepository } from '../../src/rate-limits/lifted-limits.repository.js';
import { LiftedLimits } from '../../src/rate-limits/lifted-limits.js';
import { SlidingWindowStore } from '../../src/rate-limits/sliding-window-store.js';
import { UsersRepository } from '../../src/users/users.repository.js';
import { UserUpdates } from '../../src/users/users.updates.js';
import { User } from '../../src/users/user.entity.js';
import { type DataLayer, openDataLayer } from '../support/data-source.js';
import { recordStatements } from '../support/executed-statements.js';
import { invalidCode } from '../support/expected.js';
import { MailServer } from '../support/mail-server.js';
import { anAccount, anEmail, anUnknownId, aPassword } from '../support/personas.js';
import { type Instance, startOwnService } from '../support/service.js';

const MAIL = { SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'no-reply@accounts.example' };
const CLIENT = { key: 'test', hasLeft: () => false };
const ORIGIN = { requestId: 'test', address: '127.0.0.1' };

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
      new EmailCodes(codes, keys),
      mails,
      new UsersRepository(dataSource.getRepository(User)),
      updates,
      changes,
      removal,
      new PasswordSetting(changes, updates, codes, mails),
      new PasswordHasher(env, await loadArgon2Engine(), new BcryptVerifier()),
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
    await data.db.query('INSERT INTO users (id, email, password_hash, created_at) VALUES (?, ?, ?, ?)', [
      anUnknownId(),
      known,
      'none',
      1,
    ]);
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
      const ask = () => recovery.ask(email, { ...ORIGIN, address });
      runs.push([
        await during(() => reset(email)),
        await during(ask),
        await during(() => reset(email)),
        await during(ask),
        await during(() => reset(email)),
      ]);
    }

    expect(runs[0]![1]!.length).toBeGreaterThan(2);
    expect(runs[1]).toEqual(runs[0]);
  });
});

describe('for an unknown e-mail the answer takes as long', () => {
  const PAIRS = 60;
  /** Other load on the machine; one write more would show as twice the time. */
  const SIMILAR = { least: 0.5, most: 2 };
  let mailServer: MailServer;
  let service: Instance;

  beforeAll(async () => {
    mailServer = await MailServer.start();
    const limits = { RATE_LIMIT_FORGOT: 'off', RATE_LIMIT_CODE: 'off' };
    service = await startOwnService({ env: { ...limits, ...mailServer.env } });
  });
  afterAll(async () => {
    await service.stop();
    await mailServer.stop();
  });

  it('when a code is asked for and when a wrong one is typed', async () => {
    const known = (await anAccount(service)).email;
    const unknown = anEmail();
    const timed = async (path: string, body: object, expected: object): Promise<number> => {
      const begin = performance.now();
      const answer = await service.anyone.post(`/api/auth/password/${path}`, body);
      expect(answer).toMatchObject(expected);
      return performance.now() - begin;
    };
    const forgot = (email: string) => timed('forgot', { email }, { status: 202 });
    const reset = (email: string) =>
      timed('reset', { email, code: '0000000000', newPassword: aPassword() }, invalidCode);
    for (const email of [known, unknown]) await forgot(email);
    await mailServer.next(known);

    for (const ask of [forgot, reset]) {
      const [ofKnown, ofUnknown]: number[][] = [[], []];
      // Alternately, so that other load on the machine affects both; it only ever adds time.
      for (let pair = 0; pair < PAIRS; pair += 1) {
        ofKnown!.push(await ask(known));
        ofUnknown!.push(await ask(unknown));
      }
      const ratio = Math.min(...ofKnown!) / Math.min(...ofUnknown!);
      expect(ratio).toBeGreaterThan(SIMILAR.least);
      expect(ratio).toBeLessThan(SIMILAR.most);
    }
  });
});
