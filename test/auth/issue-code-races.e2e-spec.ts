import { afterAll, describe, expect, it } from 'vitest';
import type { Answer } from '../support/answer.js';
import { atOnce, times } from '../support/at-once.js';
import { invalidToken } from '../support/expected.js';
import { type Account, anAccount } from '../support/personas.js';
import { startService } from '../support/service.js';
import { decodeToken } from '../support/signing-keys.js';

const ROUNDS = 5;
const ACCOUNTS = 3;
/** A session has ten unused codes; more would be void. */
const CODES_OF_EACH = 10;

const service = await startService();
afterAll(() => service.stop());

describe('codes that are issued together', () => {
  const sessionOf = ({ token }: Account): string => decodeToken(token).claims['sid'] as string;

  /** While the work lasts, the session is found by the check of a token, and gone when its code is inserted. */
  async function vanishingBeforeInsert<T>(account: Account, work: () => Promise<T>): Promise<T> {
    await service.db.query(
      `CREATE TRIGGER vanishes BEFORE INSERT ON authorization_codes FOR EACH ROW
        BEGIN DELETE FROM sessions WHERE id = NEW.session_id AND id = '${sessionOf(account)}'; END`,
    );
    try {
      return await work();
    } finally {
      await service.db.query('DROP TRIGGER vanishes');
    }
  }

  it('succeed for one user although another one is deleted meanwhile', async () => {
    const ask = (account: Account): Promise<Answer> => account.post('/api/auth/code', {});
    for (let round = 1; round <= ROUNDS; round += 1) {
      const adas = await Promise.all(times(ACCOUNTS, () => anAccount(service, 'ada')));
      const gone = await anAccount(service, `gone-${round}`);
      const answers = await vanishingBeforeInsert(gone, () =>
        atOnce(
          times(ACCOUNTS * CODES_OF_EACH, (i) => () => Promise.all([ask(adas[i % ACCOUNTS]!), ask(gone)])),
        ),
      );

      for (const [issued, refused] of answers) {
        expect(issued.status).toBe(201);
        expect(refused).toMatchObject(invalidToken);
      }
      for (const ada of adas) {
        const sql = 'SELECT hash FROM authorization_codes WHERE session_id = ?';
        expect(await service.db.query(sql, [sessionOf(ada)])).toHaveLength(CODES_OF_EACH);
      }
    }
  });
});
