import { afterAll, describe, expect, it } from 'vitest';
import { times } from '../support/at-once.js';
import { instancesInARace } from '../support/engine.js';
import { invalidEmailCode } from '../support/expected.js';
import { MailServer } from '../support/mail-server.js';
import { NO_LIMITS, startCluster } from '../support/service.js';
import { type Account, anAccount, anEmail, anOrgOf, aPassword, isAlive, logIn } from '../support/personas.js';

const ROUNDS = 8;

const mailServer = await MailServer.start();
const cluster = await startCluster(instancesInARace, { env: { ...NO_LIMITS, ...mailServer.env } });
afterAll(async () => {
  await cluster.stop();
  await mailServer.stop();
});

describe('at the same moment', () => {
  const at = (number: number) => cluster.instances[number % cluster.instances.length]!;
  const reset = (number: number, email: string, code: string) =>
    at(number).anyone.post('/api/auth/password/reset', { email, code, newPassword: aPassword() });

  async function aResetCode(email: string): Promise<string> {
    await at(0).anyone.post('/api/auth/password/forgot', { email });
    return (await mailServer.next(email)).code!;
  }

  it('a code works for one of many', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { email, id } = await anAccount(at(round));
      const code = await aResetCode(email);
      const answers = await Promise.all(times(12, (number) => reset(number, email, code)));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      for (const answer of answers.filter(({ status }) => status !== 200))
        expect(answer).toMatchObject(invalidEmailCode);
      const sql = "SELECT id FROM events WHERE user_id = ? AND type = 'account.password_changed'";
      expect(await cluster.db.query(sql, [id])).toHaveLength(1);
    }
  });

  it('wrong codes are bounded to 50', async () => {
    const { email } = await anAccount(at(0));
    const code = await aResetCode(email);
    // In parts: more writes to one row at once would end in 503, which counts no try.
    let counted = 0;
    while (counted < 50) {
      const part = times(4, (number) => reset(number, email, '0000000000'));
      counted += (await Promise.all(part)).filter(({ status }) => status === 400).length;
    }
    expect(await reset(0, email, code)).toMatchObject(invalidEmailCode);
  });

  it('a change of e-mail and additions to organizations leave one e-mail everywhere', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const owner = await anAccount(at(0), 'owner');
      const orgs = await Promise.all(['One', 'Two', 'Three'].map((name) => anOrgOf(owner, name)));
      const user = await anAccount(at(round), 'moving');
      const email = anEmail('new');
      await user.put('/api/me/email', { email, password: user.password });
      const { code } = await mailServer.next(email);
      const [changed, ...added] = await Promise.all([
        user.post('/api/me/email/verify', { code }),
        ...orgs.map((org, number) =>
          owner.at(at(number)).post(`/api/orgs/${org.id}/members`, { email: user.email, role: 'member' }),
        ),
      ]);
      expect(changed.status).toBe(200);
      for (const { status } of added) expect([201, 404]).toContain(status);
      const rows = await cluster.db.query('SELECT email FROM members WHERE user_id = ?', [user.id]);
      expect(rows).toEqual(added.filter(({ status }) => status === 201).map(() => ({ email })));
    }
  });

  it('of a reset and logins with the old password no old session is left', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const user: Account = await anAccount(at(round));
      const code = await aResetCode(user.email);
      const [answer, ...logins] = await Promise.all([
        reset(round, user.email, code),
        ...times(4, (number) => logIn(at(number), user)),
      ]);
      expect(answer.status).toBe(200);
      for (const login of logins.filter(({ status }) => status === 200))
        expect(await isAlive(user.as(login.body.token))).toBe(false);
    }
  });
});
