import { afterAll, describe, expect, it } from 'vitest';
import { accounts } from '../support/accounts-command.js';
import { anInstallation } from '../support/installation.js';
import { appCode, aWrongCode, enrol, forgetSteps, SECOND_FACTOR } from '../support/enrolment.js';
import { invalidCode, rateLimited } from '../support/expected.js';
import { aVerifiedAccount } from '../support/inviting.js';
import { MailServer, refusal } from '../support/mail-server.js';
import type { Account } from '../support/personas.js';
import { startOwnService } from '../support/service.js';

const installation = await anInstallation();
const mailServer = await MailServer.start();
const env = { ...mailServer.env, RATE_LIMIT_LOGIN: 'off', RATE_LIMIT_REGISTER: 'off' };
const service = await startOwnService({ installation, env });
afterAll(async () => {
  await service.stop();
  await mailServer.stop();
  await installation.remove();
});

describe('notices of a second factor', () => {
  const subjects = (account: Account) => mailServer.to(account.email).map(({ subject }) => subject);
  const post = (by: Account, path: string, code: unknown) =>
    by.post<{ recoveryCodes: string[] }>(`${SECOND_FACTOR}${path}`, { password: by.password, code });

  it('tell of each change, and hold no code and no secret', async () => {
    const ada = await aVerifiedAccount(service, 'ada');
    const { secret, recoveryCodes } = await enrol(ada);
    await mailServer.next(ada.email, 1);
    const { body } = await post(ada, '/recovery-codes', recoveryCodes[0]);
    await mailServer.next(ada.email, 3);
    expect((await post(ada, '/remove', appCode(secret, 1))).status).toBe(200);
    await mailServer.next(ada.email, 4);

    expect(subjects(ada).toSorted()).toEqual([
      'A recovery code of your account was used',
      'Your account asks for a second factor now',
      'Your account asks for no second factor any more',
      'Your account has new recovery codes',
    ]);
    const texts = mailServer.to(ada.email).map(({ text }) => text);
    for (const text of texts) {
      expect(text).toContain(ada.email);
      for (const confidential of [secret, ...recoveryCodes, ...body.recoveryCodes])
        expect(text).not.toContain(confidential);
    }
  });

  it('warn once when ten codes were wrong', async () => {
    const ada = await aVerifiedAccount(service, 'ada');
    const { secret } = await enrol(ada);
    await forgetSteps(service, ada);
    for (let attempt = 0; attempt < 10; attempt += 1)
      expect(await post(ada, '/remove', aWrongCode(secret))).toMatchObject(invalidCode);
    for (let attempt = 0; attempt < 3; attempt += 1)
      expect(await post(ada, '/remove', appCode(secret))).toMatchObject(rateLimited);

    await mailServer.next(ada.email, 2);
    const warning = 'Somebody sends wrong codes for your account';
    const [{ mails }] = (await service.db.query(
      "SELECT COUNT(*) AS mails FROM mails WHERE recipient = ? AND kind = 'second_factor_guessed'",
      [ada.email],
    )) as [{ mails: unknown }];
    expect(Number(mails)).toBe(1);
    expect(subjects(ada)).toContain(warning);
  });

  it('tell of the help of an operator', async () => {
    const ada = await aVerifiedAccount(service, 'ada');
    await enrol(ada);
    await accounts(installation, ['users', 'remove-second-factor', ada.email, '--reason', 'phone lost'], {
      env: mailServer.env,
    });
    await mailServer.next(ada.email, 2);
    expect(subjects(ada)).toContain('Your account asks for no second factor any more');
  });

  it('wait while the mail server is down, and keep nobody from setting one up', async () => {
    const ada = await aVerifiedAccount(service, 'ada');
    mailServer.verdict = () => {
      throw refusal(451);
    };
    await enrol(ada);
    expect((await ada.get<object>(SECOND_FACTOR)).body).toMatchObject({ enabled: true });
    expect(mailServer.to(ada.email)).toEqual([]);
    mailServer.verdict = () => undefined;
    await mailServer.next(ada.email);
    expect(subjects(ada)).toEqual(['Your account asks for a second factor now']);
  });
});
