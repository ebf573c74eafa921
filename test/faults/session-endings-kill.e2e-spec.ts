import { randomUUIDv7 } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { times } from '../support/at-once.js';
import type { Row } from '../support/database.js';
import { aPassword, anEmail } from '../support/personas.js';
import { asString, clientOf } from '../support/service-client.js';
import { decodeToken } from '../support/signing-keys.js';
import { report } from './support/figures.js';
import { Random, seedOfRun } from './support/random.js';
import { ENGINES, RestartableService, Storage } from './support/deployment.js';

const KILLS = 8;
/** Several pages. */
const DERIVED = 4100;
/** Of a branch. */
const BRANCH = 300;
const ROWS_AT_ONCE = 1000;

describe.each(ENGINES)('kill -9 while a login with thousands of delegated sessions ends on %s', (engine) => {
  let storage: Storage;
  let service: RestartableService;

  afterEach(async () => {
    await service.kill();
    await storage.close();
  });

  it('leaves each of them ended and told once, by whom and why', { timeout: 600_000 }, async () => {
    const random = new Random(seedOfRun(`kill -9 of endings on ${engine}`));
    storage = await Storage.on(engine);
    service = await RestartableService.on(storage);
    const send = clientOf(service.url);
    await service.start(hangTimeoutMs());
    const body = { email: anEmail('ada'), password: aPassword() };
    const registered = await send('POST', '/api/auth/register', { body });
    const { sub: userId } = decodeToken(asString(registered.body['token'])).claims as { sub: string };

    let interrupted = 0;
    for (let kill = 0; kill < KILLS; kill += 1) {
      const login = await send('POST', '/api/auth/login', { body });
      const token = asString(login.body['token']);
      await derive(decodeToken(token).claims['sid'] as string);
      const before = (await told()).length;
      const until = before + random.between(1, DERIVED - 500);
      const answer = send('POST', '/api/auth/logout', { token }).catch(() => undefined);
      await waitFor('some have ended', hangTimeoutMs(), async () => (await told()).length >= until);
      await service.kill();
      await answer;
      if ((await told()).length - before <= DERIVED) interrupted += 1;
      await service.start(hangTimeoutMs());
    }
    await waitFor(
      'what was interrupted is completed',
      3 * hangTimeoutMs(),
      async () => (await count('FROM pending_revocations')) === 0,
    );

    expect(await count('FROM sessions WHERE revoked_at IS NULL')).toBe(1);
    const events = await told();
    expect(events).toHaveLength(KILLS * (DERIVED + 1));
    expect(new Set(events.map((event) => event['session_id'])).size).toBe(events.length);
    const ways = new Set(
      events.map((event) => JSON.stringify([event['actor_type'], event['actor_id'], event['data']])),
    );
    expect([...ways]).toEqual([JSON.stringify(['user', userId, '{"reason":"logout"}'])]);
    expect(interrupted).toBeGreaterThan(KILLS / 2);
    report({ faults: KILLS, requests: KILLS, wrong: 0, acknowledged: events.length, lost: 0 });

    async function derive(login: string): Promise<void> {
      const ids = times(DERIVED, () => randomUUIDv7()).toSorted();
      const now = Date.now();
      for (let from = 0; from < DERIVED; from += ROWS_AT_ONCE) {
        const rows = ids.slice(from, from + ROWS_AT_ONCE).map((id, place) => {
          const head = ids[from + place - ((from + place) % BRANCH)]!;
          return [id, userId, now, now, now + 86_400_000, login, head, id];
        });
        await storage.installation.db.query(
          `INSERT INTO sessions (id, user_id, auth_time, created_at, expires_at, login_id, branch_id, code_hash)
            VALUES ${rows.map(() => '(?, ?, ?, ?, ?, ?, ?, ?)').join()}`,
          rows.flat(),
        );
      }
    }

    function told(): Promise<Row[]> {
      return storage.query(
        "SELECT session_id, actor_type, actor_id, data FROM events WHERE type = 'session.ended'",
      );
    }

    async function count(from: string): Promise<number> {
      const [row] = await storage.query(`SELECT COUNT(*) AS found ${from}`);
      return Number(row!['found']);
    }
  });
});
