import { afterAll, describe, expect, it } from 'vitest';
import {
  type AddedProvider,
  addProvider,
  aDomain,
  aUserAt,
  confirmAt,
  emailAt,
  eventsOf,
  finishAt,
  ISSUER,
  logInAt,
} from '../support/at-providers.js';
import {
  accountDisabled,
  insufficientUserAuthentication,
  invalidSecondFactorCode,
  linkRequired,
  rateLimited,
  secondFactorCodeRequired,
  secondFactorCodeUsed,
  wrongPassword,
} from '../support/expected.js';
import { type Account, anAccountOf, isAlive } from '../support/personas.js';
import { TestProvider } from '../support/provider.js';
import { type Protected, protect } from '../support/second-factor.js';
import { startService } from '../support/service.js';
import { decodeToken } from '../support/signing-keys.js';

const service = await startService({ env: { JWT_ISSUER: ISSUER, OPERATORS_SECOND_FACTOR: 'optional' } });
const provider = await TestProvider.start();
afterAll(async () => {
  provider.stop();
  await service.stop();
});

interface Person extends Protected {
  acme: AddedProvider;
  ada: Account;
  subject: string;
}

/** A user with two-factor authentication, linked to a user of a provider. */
async function aPerson({
  isLinked = true,
  ...settings
}: { isLinked?: boolean; linkByEmail?: boolean } = {}): Promise<Person> {
  const domain = aDomain();
  const acme = await addProvider(service, provider, { domains: [domain], linkByEmail: true, ...settings });
  const ada = await anAccountOf(service, emailAt(domain));
  await service.db.query('UPDATE users SET email_verified_at = 1 WHERE id = ?', [ada.id]);
  const subject = aUserAt(acme, ada.email);
  if (isLinked) await logInAt(service, acme, subject);
  return { acme, ada, subject, ...(await protect(service, ada)) };
}

describe('a login at a provider of a user with two-factor authentication', () => {
  it('needs a code, which the program sends with the same code of the provider login', async () => {
    const { acme, ada, subject, app } = await aPerson();
    const confirmed = await confirmAt(service, acme, subject);
    expect(await finishAt(service, confirmed)).toMatchObject(secondFactorCodeRequired);
    const wrong = { secondFactorCode: app.wrong() };
    expect(await finishAt(service, confirmed, wrong)).toMatchObject(invalidSecondFactorCode);
    const code = app.next();
    const { body } = await finishAt(service, confirmed, { secondFactorCode: code });
    expect(body.user.id).toBe(ada.id);
    expect(decodeToken(body.token).claims).toMatchObject({ amr: ['fed', 'otp'] });
    expect((await ada.as(body.token).get('/api/me')).status).toBe(200);

    const again = await confirmAt(service, acme, subject);
    expect(await finishAt(service, again, { secondFactorCode: code })).toMatchObject(secondFactorCodeUsed);
  });

  it('counts wrong codes as the second step of a login does', async () => {
    const { acme, subject, app } = await aPerson();
    let confirmed = await confirmAt(service, acme, subject);
    for (let tries = 0; tries < 10; tries += 1) {
      if (tries === 5) confirmed = await confirmAt(service, acme, subject);
      const wrong = { secondFactorCode: app.wrong() };
      expect(await finishAt(service, confirmed, wrong)).toMatchObject(invalidSecondFactorCode);
    }
    const right = { secondFactorCode: app.next() };
    expect(await finishAt(service, confirmed, right)).toMatchObject(rateLimited);
  });

  it('takes a recovery code, with its event and for one login', async () => {
    const { acme, ada, subject, recoveryCodes } = await aPerson();
    const more = { secondFactorCode: recoveryCodes[0] };
    expect((await finishAt(service, await confirmAt(service, acme, subject), more)).status).toBe(200);
    expect((await eventsOf(service, ada.id)).slice(-2).map(([type]) => type)).toEqual([
      'account.recovery_code_used',
      'session.started',
    ]);
    const again = await confirmAt(service, acme, subject);
    expect(await finishAt(service, again, more)).toMatchObject(invalidSecondFactorCode);
  });

  it('links only after the code, by email', async () => {
    const { acme, ada, subject, app } = await aPerson({ isLinked: false });
    const confirmed = await confirmAt(service, acme, subject);
    expect(await finishAt(service, confirmed)).toMatchObject(secondFactorCodeRequired);
    const sql = 'SELECT COUNT(*) AS linked FROM identities WHERE user_id = ?';
    expect(await service.db.query(sql, [ada.id])).toEqual([{ linked: 0 }]);
    expect((await finishAt(service, confirmed, { secondFactorCode: app.next() })).status).toBe(200);
    expect(await service.db.query(sql, [ada.id])).toEqual([{ linked: 1 }]);
  });

  it('links only after password and code, and asks for the password first', async () => {
    const { acme, ada, subject, app, recoveryCodes } = await aPerson({ isLinked: false, linkByEmail: false });
    const confirmed = await confirmAt(service, acme, subject);
    const secondFactorCode = app.next();
    const { password } = ada;
    expect(await finishAt(service, confirmed, { secondFactorCode })).toMatchObject(linkRequired);
    expect(await finishAt(service, confirmed, { password: 'x', secondFactorCode })).toMatchObject(
      wrongPassword,
    );
    expect(await finishAt(service, confirmed, { password })).toMatchObject(secondFactorCodeRequired);
    const [code] = recoveryCodes;
    const { status, body } = await finishAt(service, confirmed, { password, secondFactorCode: code });
    expect([status, body.user?.id]).toEqual([200, ada.id]);
    expect((await eventsOf(service, ada.id)).slice(-3).map(([type]) => type)).toEqual([
      'account.identity_linked',
      'account.recovery_code_used',
      'session.started',
    ]);
  });

  it('says that the user is disabled before it asks for a code', async () => {
    const { acme, ada, subject } = await aPerson();
    await service.db.query('UPDATE users SET disabled_at = 1 WHERE id = ?', [ada.id]);
    expect(await finishAt(service, await confirmAt(service, acme, subject))).toMatchObject(accountDisabled);
  });
});

it('a session without the code ends when the user turns two-factor authentication on', async () => {
  const domain = aDomain();
  const acme = await addProvider(service, provider, { domains: [domain], createUsers: true });
  const ada = await logInAt(service, acme, aUserAt(acme, emailAt(domain)));
  await protect(service, ada);
  await service.db.query("UPDATE sessions SET amr = 'fed' WHERE user_id = ?", [ada.id]);
  expect(await isAlive(ada)).toBe(false);
});

it('operators need the code for a login at a provider, although it is optional for them otherwise', async () => {
  const domain = aDomain();
  const acme = await addProvider(service, provider, { domains: [domain], createUsers: true });
  const subject = aUserAt(acme, emailAt(domain));
  const ada = await logInAt(service, acme, subject);
  await service.db.query('UPDATE users SET operator_since = 1 WHERE id = ?', [ada.id]);
  expect(await ada.get('/api/operators/status')).toMatchObject(insufficientUserAuthentication);
  const { app } = await protect(service, ada);
  const confirmed = await confirmAt(service, acme, subject);
  const { body } = await finishAt(service, confirmed, { secondFactorCode: app.next() });
  expect((await ada.as(body.token).get('/api/operators/status')).status).toBe(200);
});
