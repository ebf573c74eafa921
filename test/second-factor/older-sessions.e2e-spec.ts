import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { type Account, aCode, anAccount, byCode } from '../support/personas.js';
import { aRefreshableLogin, refresh, type Tokens } from '../support/refreshing.js';
import { startServiceWithoutLimits } from '../support/service.js';

/** What an instance has stored with a session: the release before knew no methods, and none before knew a second factor. */
const OLDER = [null, 'pwd'];

const service = await startServiceWithoutLimits();
afterAll(() => service.stop());

describe('a session that an older instance opened', () => {
  let ada: Account;

  beforeEach(async () => {
    ada = await anAccount(service, 'ada');
  });

  const enrol = (at: number | null) =>
    service.db.query('UPDATE users SET second_factor_at = ? WHERE id = ?', [at, ada.id]);
  const store = (amr: string | null) =>
    service.db.query('UPDATE sessions SET amr = ? WHERE user_id = ?', [amr, ada.id]);

  it('is alive as long as its user has no second factor', async () => {
    const passedOn = await byCode(service, ada);
    await store(null);
    for (const caller of [ada, passedOn, await byCode(service, ada)]) {
      expect((await caller.get('/api/me')).status).toBe(200);
    }
  });

  it.each(OLDER)('is dead where its user has one, with the methods %j', async (amr) => {
    const desktop = await aRefreshableLogin(service, ada);
    const code = await aCode(ada.as(desktop.token));
    const passedOn = await byCode(service, ada.as(desktop.token));
    await store(amr);
    await enrol(1);

    for (const token of [ada.token, desktop.token, passedOn.token]) {
      expect((await ada.as(token).get('/api/me')).status).toBe(401);
    }
    expect((await refresh(service, desktop.refreshToken)).status).toBe(401);
    expect((await service.anyone.post<Tokens>('/api/auth/code/exchange', { code })).status).toBe(400);
    await enrol(null);
  });

  it('that has shown the second factor is alive, with what its codes open', async () => {
    const desktop = await aRefreshableLogin(service, ada);
    await store('pwd otp');
    await enrol(1);
    const passedOn = await byCode(service, ada.as(desktop.token));

    expect((await passedOn.get('/api/me')).status).toBe(200);
    expect((await refresh(service, desktop.refreshToken)).status).toBe(200);
    await enrol(null);
  });
});
