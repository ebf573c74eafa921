import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { invalidToken } from '../support/expected.js';
import { anAccount } from '../support/personas.js';
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
      const asked = Array.from({ length: AT_ONCE }, () => [
        ada.post('/api/auth/code', {}),
        gone.post('/api/auth/code', {}),
      ]).flat();
      const deleted = service.db.query('DELETE FROM users WHERE id = ?', [gone.id]);
      const answers = await Promise.all(asked);
      await deleted;

      answers.forEach((answer, place) => {
        const mayBeRefused = place % 2 === 1;
        if (answer.status === 201 || !mayBeRefused) expect(answer.status, answer.text).toBe(201);
        else expect(answer).toMatchObject(invalidToken);
      });
    }
  });
});
