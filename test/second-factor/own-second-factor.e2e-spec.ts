import { beforeEach, describe, expect, it } from 'vitest';
import {
  aPendingSecret,
  appCode,
  aWrongCode,
  begin,
  enrol,
  forgetSteps,
  SECOND_FACTOR,
} from '../support/second-factor.js';
import {
  invalidSecondFactorCode,
  secondFactorCodeUsed,
  invalidFields,
  rateLimited,
  secondFactorEnabled,
  wrongPassword,
} from '../support/expected.js';
import type { Account } from '../support/personas.js';
import { aCode, anAccount, aPassword, byCode, exchange, isAlive, logIn } from '../support/personas.js';
import { aRefreshableLogin, refresh, refreshed } from '../support/refreshing.js';
import { startService } from '../support/service.js';
import { decodeToken } from '../support/signing-keys.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';

const CONFIRM = `${SECOND_FACTOR}/confirm`;
const RECOVERY_CODES = `${SECOND_FACTOR}/recovery-codes`;
const REMOVE = `${SECOND_FACTOR}/remove`;

const NONE = { enabled: false, enabledAt: null, recoveryCodesLeft: 0 };

interface RecoveryCodes {
  recoveryCodes: string[];
}

const service = await startService();

describe('the second factor of an account', () => {
  let ada: Account;

  beforeEach(async () => {
    ada = await anAccount(service, 'ada');
  });

  const state = async () => (await ada.get(SECOND_FACTOR)).body;
  const lives = (token: string): Promise<boolean> => isAlive(ada.as(token));
  const confirm = (code: unknown, by = ada) => by.post<RecoveryCodes>(CONFIRM, { code });
  const renew = (code: unknown, by = ada) =>
    by.post<RecoveryCodes>(RECOVERY_CODES, { password: ada.password, code });
  const remove = (code: unknown, by = ada) => by.post(REMOVE, { password: ada.password, code });
  const amrOf = async ({ id }: Account): Promise<unknown> => {
    const sql = `SELECT s.amr FROM sessions s JOIN users u ON u.id = s.user_id
      WHERE u.id = ? AND s.auth_epoch = u.auth_epoch`;
    return (await service.db.query(sql, [id])).map(({ amr }) => amr);
  };
  async function expectNoRows(): Promise<void> {
    for (const table of ['second_factors', 'second_factor_failures', 'recovery_codes'])
      expect(await service.db.query(`SELECT * FROM ${table} WHERE user_id = ?`, [ada.id])).toEqual([]);
  }
  const eventsOf = async (account: Account) => {
    const sql = `SELECT type, actor_type, user_revision, data FROM events
      WHERE user_id = ? AND type <> 'session.started' ORDER BY id`;
    return (await service.db.query(sql, [account.id])).slice(1);
  };

  it('is pending until a code of the app confirms it, and then shows ten recovery codes', async () => {
    expect(await state()).toEqual(NONE);
    const { status, body } = await begin(ada);
    expect(status).toBe(201);
    const { secret } = body;
    const label = `accounts:${encodeURIComponent(ada.email)}`;
    expect(body).toEqual({
      secret: expect.stringMatching(/^[A-Z2-7]{32}$/),
      uri: `otpauth://totp/${label}?secret=${secret}&issuer=accounts&algorithm=SHA1&digits=6&period=30`,
    });
    expect(await state()).toEqual(NONE);
    expect((await logIn(service, ada)).status).toBe(200);
    const confirmed = await confirm(` ${appCode(secret).slice(0, 3)} ${appCode(secret).slice(3)} `);
    expect(confirmed.status).toBe(200);
    expect(Object.keys(confirmed.body)).toEqual(['recoveryCodes']);
    expect(new Set(confirmed.body.recoveryCodes).size).toBe(10);
    expect(await state()).toEqual({
      enabled: true,
      enabledAt: expect.stringMatching(/Z$/),
      recoveryCodesLeft: 10,
    });
  });

  it('ends every session but the one that sets it up, which counts as one with a second factor at once', async () => {
    const desktop = await aRefreshableLogin(service, ada);
    const other = await aRefreshableLogin(service, ada);
    const passedOn = await byCode(service, ada.as(desktop.token));
    const codes = [await aCode(ada.as(desktop.token)), await aCode(ada)];
    const { secret } = await enrol(ada.as(desktop.token));
    expect(await lives(desktop.token)).toBe(true);
    for (const { token } of [ada, other, passedOn]) expect(await lives(token)).toBe(false);
    expect((await refresh(service, other.refreshToken)).status).toBe(401);
    for (const code of codes) expect((await exchange(service, code)).status).toBe(400);
    const next = await refreshed(service, desktop.refreshToken);
    expect(decodeToken(next.token).claims['amr']).toEqual(['pwd', 'otp']);
    const derived = await byCode(service, ada.as(next.token));
    expect(decodeToken(derived.token).claims['amr']).toEqual(['pwd', 'otp']);
    await forgetSteps(service, ada);
    expect((await remove(appCode(secret), ada.as(next.token))).status).toBe(200);
    expect(await lives(derived.token)).toBe(false);
    const last = await refreshed(service, next.refreshToken);
    expect(decodeToken(last.token).claims['amr']).toEqual(['pwd']);
    expect(await lives(last.token)).toBe(true);
  });

  it('is recorded when it is set up, used and removed, with revisions in order', async () => {
    const { recoveryCodes } = await enrol(ada);
    const [first, second] = recoveryCodes;
    await renew(first);
    expect(await renew(second)).toMatchObject(invalidSecondFactorCode);
    const { sid } = decodeToken(ada.token).claims;
    const events = await eventsOf(ada);
    const types = events.map(({ type }) => type);
    expect(types.slice(0, 2)).toEqual(['account.second_factor_enabled', 'session.ended']);
    const ofCodes = ['account.recovery_code_used', 'account.recovery_codes_renewed'];
    expect([types.length, new Set(types.slice(2))]).toEqual([4, new Set(ofCodes)]);
    expect(events.every(({ actor_type }) => actor_type === 'user')).toBe(true);
    const ended = { reason: 'second_factor_enabled', all: true, except: sid, epoch: 1 };
    expect(JSON.parse(String(events[1]!['data']))).toMatchObject(ended);
    const revisions = events.flatMap(({ user_revision: revision }) =>
      revision === null ? [] : [Number(revision)],
    );
    expect(revisions).toHaveLength(3);
    expect(Math.min(...revisions)).toBe(2);
    const [row] = await service.db.query('SELECT revision FROM users WHERE id = ?', [ada.id]);
    expect(Math.max(...revisions)).toBe(Number(row!['revision']));
  });

  it('that was never set up can be set up, and neither confirmed, renewed nor removed', async () => {
    for (const act of [confirm, renew, remove])
      expect(await act('123456')).toMatchObject(invalidSecondFactorCode);
    expect((await begin(ada)).status).toBe(201);
  });

  it.each([
    ['pending', 600_000],
    ['expired', 0],
  ])('that is %s is neither renewed nor removed, and can be set up again', async (current, left) => {
    const secret = await aPendingSecret(ada);
    const until = Date.now() + left;
    await service.db.query('UPDATE second_factors SET pending_until = ? WHERE user_id = ?', [until, ada.id]);
    const refused = current === 'expired' ? [renew, remove, confirm] : [renew, remove];
    for (const act of refused) expect(await act(appCode(secret))).toMatchObject(invalidSecondFactorCode);
    expect(await state()).toEqual(NONE);
    expect((await confirm(appCode(await aPendingSecret(ada)))).status).toBe(200);
  });

  it('that is enabled is neither set up nor confirmed again', async () => {
    const { secret } = await enrol(ada);
    await forgetSteps(service, ada);
    expect(await begin(ada)).toMatchObject(secondFactorEnabled);
    expect(await confirm(appCode(secret))).toMatchObject(secondFactorEnabled);
    expect((await renew(appCode(secret))).status).toBe(200);
    expect(await lives(ada.token)).toBe(true);
  });

  it('that is set up again, before it is confirmed, has the later secret alone', async () => {
    const first = await aPendingSecret(ada);
    const second = await aPendingSecret(ada);
    expect(second).not.toBe(first);
    expect(await confirm(appCode(first))).toMatchObject(invalidSecondFactorCode);
    expect((await confirm(appCode(second))).status).toBe(200);
  });

  it('needs the right password for all but the confirmation, and is left as it is without', async () => {
    const password = aPassword();
    expect(await ada.post(SECOND_FACTOR, { password })).toMatchObject(wrongPassword);
    const { secret } = await enrol(ada);
    await forgetSteps(service, ada);
    for (const path of [RECOVERY_CODES, REMOVE])
      expect(await ada.post(path, { password, code: appCode(secret) })).toMatchObject(wrongPassword);
    expect(await state()).toMatchObject({ enabled: true, recoveryCodesLeft: 10 });
    expect((await remove(appCode(secret))).status).toBe(200);
  });

  it('takes each step of the app once, the neighbouring ones too, and none two away', async () => {
    const secret = await aPendingSecret(ada);
    expect(await confirm(appCode(secret, -3))).toMatchObject(invalidSecondFactorCode);
    expect(await confirm(appCode(secret, 3))).toMatchObject(invalidSecondFactorCode);
    const first = appCode(secret);
    expect((await confirm(first)).status).toBe(200);
    expect(await renew(first)).toMatchObject(secondFactorCodeUsed);
    expect(await renew(appCode(secret, -1))).toMatchObject(secondFactorCodeUsed);
    const next = appCode(secret, 1);
    expect((await renew(next)).status).toBe(200);
    expect(await renew(next)).toMatchObject(secondFactorCodeUsed);
    expect(await remove(first)).toMatchObject(secondFactorCodeUsed);
  });

  it('takes each recovery code once, until new ones are made', async () => {
    const { recoveryCodes } = await enrol(ada);
    const [first, second] = recoveryCodes as [string, string];
    const renewed = await renew(first.toLowerCase().replaceAll('-', ' '));
    expect(renewed.status).toBe(200);
    expect(await renew(first)).toMatchObject(invalidSecondFactorCode);
    expect(await renew(second)).toMatchObject(invalidSecondFactorCode);
    const fresh = renewed.body.recoveryCodes;
    expect(new Set([...recoveryCodes, ...fresh]).size).toBe(20);
    const stored = await service.db.query('SELECT hash FROM recovery_codes WHERE user_id = ?', [ada.id]);
    expect(stored).toHaveLength(10);
    expect((await remove(fresh[0])).status).toBe(200);
    expect(await state()).toEqual(NONE);
    for (const code of fresh) expect(await remove(code)).toMatchObject(invalidSecondFactorCode);
  });

  it('is gone without a trace once it is removed, and can be set up anew', async () => {
    const { secret } = await enrol(ada);
    await forgetSteps(service, ada);
    await remove(appCode(secret));
    await expectNoRows();
    expect(await amrOf(ada)).toEqual(['pwd']);
    expect((await enrol(ada)).secret).not.toBe(secret);
    expect(await amrOf(ada)).toEqual(['pwd otp']);
  });

  it('whose secret no key opens refuses codes of the app, says so in the log, and takes recovery codes', async () => {
    const { secret, recoveryCodes } = await enrol(ada);
    const grace = await anAccount(service, 'grace');
    await enrol(grace);
    await forgetSteps(service, ada);
    // The secret of another row is authenticated with its key.
    await service.db.query(
      'UPDATE second_factors SET secret = (SELECT s.secret FROM (SELECT * FROM second_factors) s WHERE s.user_id = ?) WHERE user_id = ?',
      [grace.id, ada.id],
    );
    expect(await remove(appCode(secret))).toMatchObject(invalidSecondFactorCode);
    await waitFor('the log names the user', hangTimeoutMs(), () =>
      service.logs.some((line) => line.includes(ada.id) && line.includes('no key decrypts')),
    );
    expect((await remove(recoveryCodes[3])).status).toBe(200);
  });

  describe('after ten wrong codes', () => {
    let secret: string;
    let recoveryCodes: string[];

    beforeEach(async () => {
      ({ secret, recoveryCodes } = await enrol(ada));
      await forgetSteps(service, ada);
      const nine = 'UPDATE second_factor_failures SET count = 9, since = ? WHERE user_id = ?';
      await service.db.query(nine, [Date.now(), ada.id]);
    });

    it('refuses the right one too, but takes a recovery code, which sets the count back', async () => {
      expect(await remove(aWrongCode(secret))).toMatchObject(invalidSecondFactorCode);
      const refused = await renew(appCode(secret));
      expect(refused).toMatchObject(rateLimited);
      const wait = Number(refused.headers.get('retry-after'));
      expect(wait).toBeGreaterThan(0);
      expect(wait).toBeLessThanOrEqual(900);
      expect((await renew(recoveryCodes[0])).status).toBe(200);
      expect((await renew(appCode(secret))).status).toBe(200);
    });

    it('counts a right one that came before the tenth wrong one as the end of the row', async () => {
      expect((await renew(appCode(secret))).status).toBe(200);
      expect(await renew(aWrongCode(secret))).toMatchObject(invalidSecondFactorCode);
      expect((await renew(appCode(secret, 1))).status).toBe(200);
    });

    it('leaves others and codes of no possible form alone', async () => {
      await renew(aWrongCode(secret));
      for (const code of ['', '12345', 'x'.repeat(15_000), '0'.repeat(26)])
        expect(await renew(code)).toMatchObject(invalidSecondFactorCode);
      const grace = await anAccount(service, 'grace');
      const body = { password: grace.password, code: appCode((await enrol(grace)).secret, 1) };
      expect((await grace.post(RECOVERY_CODES, body)).status).toBe(200);
    });
  });

  it('does not let a stolen session guess its way through an enrolment that the owner has begun', async () => {
    const secret = await aPendingSecret(ada);
    for (let i = 0; i < 10; i += 1)
      expect(await confirm(aWrongCode(secret))).toMatchObject(invalidSecondFactorCode);
    expect(await confirm(appCode(secret))).toMatchObject(rateLimited);
    expect(await state()).toEqual(NONE);
  });

  it('takes text alone for a code and a password, and names the field where it is none', async () => {
    for (const value of [123_456, ['123456'], null, { code: '123456' }, true, undefined]) {
      expect(await ada.post(CONFIRM, { code: value })).toMatchObject(invalidFields('code'));
      expect(await ada.post(SECOND_FACTOR, { password: value })).toMatchObject(invalidFields('password'));
      for (const path of [RECOVERY_CODES, REMOVE]) {
        const body = { password: value, code: value };
        const fields = value === undefined ? ['code'] : ['password', 'code'];
        expect(await ada.post(path, body)).toMatchObject(invalidFields(...fields));
        const { password } = ada;
        expect(await ada.post(path, { password, code: value })).toMatchObject(invalidFields('code'));
      }
    }
  });
});
