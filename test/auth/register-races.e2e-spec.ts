import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { atOnce, times } from '../support/at-once.js';
import { instancesInARace } from '../support/engine.js';
import { emailTaken, invalidCredentials } from '../support/expected.js';
import { anEmail, aPassword, type Session } from '../support/personas.js';
import { type Cluster, startCluster } from '../support/service.js';

const ROUNDS = 4;
const CLIENTS = 50;

describe('one e-mail registered by many at once', () => {
  let cluster: Cluster;

  beforeAll(async () => {
    cluster = await startCluster(instancesInARace, {
      env: { RATE_LIMIT_REGISTER: 'off', RATE_LIMIT_LOGIN: 'off' },
    });
  });
  afterAll(() => cluster.stop());

  it('in all its spellings makes one account, of whoever got the 201', async () => {
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

      const winner = answers.findIndex(({ status }) => status === 201);
      expect(winner).toBeGreaterThanOrEqual(0);
      const losers = answers.filter(({ status }) => status !== 201);
      expect(losers).toHaveLength(CLIENTS - 1);
      for (const loser of losers) expect(loser).toMatchObject(emailTaken);
      const rows = await cluster.db.query('SELECT id FROM users WHERE email = ?', [spellings[0]!]);
      expect(rows).toEqual([{ id: answers[winner]!.body.user.id }]);
      for (const [client, { credentials }] of attempts.entries()) {
        const login = await cluster.instances[0]!.anyone.post('/api/auth/login', credentials);
        expect(login).toMatchObject(client === winner ? { status: 200 } : invalidCredentials);
      }
    }
  });
});
