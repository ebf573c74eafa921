import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../support/answer.js';
import { invalidToken } from '../support/expected.js';
import { type Account, anAccount } from '../support/personas.js';
import { type Service, startService } from '../support/service.js';

const ROUNDS = 5;
const AT_ONCE = 30;

describe('codes that are issued together', () => {
  let service: Service;

  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  it('are issued to one user although another is deleted meanwhile', async () => {
    const ada = await anAccount(service, 'ada');
    for (let round = 0; round < ROUNDS; round += 1) {
      const gone = await anAccount(service, `gone-${round}`);
      const ask = (account: Account): Promise<Answer> => account.post('/api/auth/code', {});
      const pairs = Array.from({ length: AT_ONCE }, () => Promise.all([ask(ada), ask(gone)]));
      const [answers] = await Promise.all([
        Promise.all(pairs),
        service.db.query('DELETE FROM users WHERE id = ?', [gone.id]),
      ]);

      expect(answers.map(([one]) => one.status)).toEqual(answers.map(() => 201));
      const refused = answers.map(([, other]) => other).filter(({ status }) => status !== 201);
      for (const answer of refused) expect(answer).toMatchObject(invalidToken);
    }
  });
});
