import { afterAll, describe, expect, it } from 'vitest';
import type { Answer } from '../support/answer.js';
import { atOnce, times } from '../support/at-once.js';
import { emailTaken, invalidCredentials, unavailable } from '../support/expected.js';
import { anEmail, aPassword, type Session } from '../support/personas.js';
import { startClusterWithoutLimits } from '../support/service.js';

const ROUNDS = 4;
/** fewer than the places of one address in the hashing queue */
const CLIENTS = 12;

const cluster = await startClusterWithoutLimits();
afterAll(() => cluster.stop());

describe('one e-mail registered by many at once', () => {
  it('makes one account, with the password of the request that got 201', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const label = anEmail().split('@')[0]!;
      const spellings = [
        `a@${label}.xn--bcher-kva.de`,
        `A@${label}.B\u00dcCHER.de`,
        ` a@${label.toUpperCase()}.b\u00fccher.DE `,
        `a@${label}.bu\u0308cher.de`,
      ];
      const attempts = times(CLIENTS, (client) => ({
        instance: cluster.instances[client % cluster.instances.length]!,
        credentials: { email: spellings[client % spellings.length]!, password: aPassword() },
      }));

      const answers = await atOnce(
        attempts.map(
          ({ instance, credentials }) =>
            () =>
              instance.anyone.post<Session>('/api/auth/register', credentials),
        ),
      );

      const created = answers.filter(({ status }) => status === 201);
      // On a busy machine some get 503, of which one may have taken effect.
      const late = answers.filter(({ status }) => status === 503);
      const refused = answers.filter((answer) => ![...created, ...late].includes(answer));
      for (const answer of late) expect(answer).toMatchObject(unavailable);
      for (const answer of refused) expect(answer).toMatchObject(emailTaken);
      const rows = await cluster.db.query('SELECT id FROM users WHERE email = ?', [spellings[0]!]);
      expect(rows).toHaveLength(1);
      for (const { body } of created) expect(rows).toEqual([{ id: body.user.id }]);

      const logins: Answer[] = [];
      for (const { credentials } of attempts)
        logins.push(await cluster.instances[0]!.anyone.post('/api/auth/login', credentials));
      const [owner, ...others] = answers.filter((_, client) => logins[client]!.status === 200);
      expect(others).toEqual([]);
      expect(created.length > 0 ? created : late).toContain(owner);
      for (const login of logins.filter(({ status }) => status !== 200))
        expect(login).toMatchObject(invalidCredentials);
    }
  });
});
