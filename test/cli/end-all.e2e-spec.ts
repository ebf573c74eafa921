import { randomUUIDv7 } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { accountsJson } from '../support/accounts-command.js';
import { invalidCode, invalidRefreshToken, invalidToken } from '../support/expected.js';
import { anInstallation } from '../support/installation.js';
import { aCode, anAccount, type Session } from '../support/personas.js';
import { eventsSince, knownEvents } from '../support/recorded-events.js';
import { aRefreshableLogin, refresh } from '../support/refreshing.js';
import { startOwnService } from '../support/service.js';

/** More than one transaction takes. */
const MANY = 230;

const installation = await anInstallation();
const service = await startOwnService({ installation, env: { RATE_LIMIT_REGISTER: 'off' } });
afterAll(async () => {
  await service.stop();
  await installation.remove();
});

describe('accounts sessions end-all', () => {
  const endAll = () =>
    accountsJson<{ users: number }>(installation, [
      'sessions',
      'end-all',
      '--as',
      'root',
      '--reason',
      'the key was stolen',
    ]);

  it('ends the sessions of all users at the next request, with a row for each, and spares who has none', async () => {
    const [user, other, loggedOut] = [
      await anAccount(service),
      await anAccount(service),
      await anAccount(service),
    ];
    await loggedOut.post('/api/auth/logout');
    const code = await aCode(user);
    const login = await aRefreshableLogin(service, other);
    const ids = Array.from({ length: MANY }, () => randomUUIDv7());
    await service.db.query(
      `INSERT INTO users (id, email, password_hash, created_at)
        VALUES ${ids.map(() => "(?, ?, 'x', 1)").join()}`,
      ids.flatMap((id) => [id, `${id}@example.com`]),
    );
    await service.db.query(
      `INSERT INTO sessions (id, user_id, auth_time, created_at, expires_at)
        VALUES ${ids.map(() => '(?, ?, 1, 1, ?)').join()}`,
      ids.flatMap((id) => [randomUUIDv7(), id, Date.now() + 600_000]),
    );
    const known = await knownEvents(service.db);

    expect(await endAll()).toEqual([{ users: MANY + 2 }]);

    for (const one of [user, other]) expect(await one.get('/api/me')).toMatchObject(invalidToken);
    expect(await refresh(service, login.refreshToken)).toMatchObject(invalidRefreshToken);
    expect(await service.anyone.post('/api/auth/code/exchange', { code })).toMatchObject(invalidCode);
    const events = await eventsSince(service.db, known);
    expect(new Set(events.map(({ user_id }) => user_id))).toEqual(new Set([...ids, user.id, other.id]));
    expect(events).toHaveLength(MANY + 2);
    for (const event of events) {
      expect(event).toMatchObject({
        type: 'session.ended',
        actor_type: 'operator',
        actor_id: 'root',
        data: { reason: 'operator', all: true, epoch: 1 },
        reason: 'the key was stolen',
      });
    }

    const { email, password } = user;
    const { status, body } = await service.anyone.post<Session>('/api/auth/login', { email, password });
    expect(status).toBe(200);
    expect(await endAll()).toEqual([{ users: 1 }]);
    expect(await user.as(body.token).get('/api/me')).toMatchObject(invalidToken);
    expect(await endAll()).toEqual([{ users: 0 }]);
  });
});
