import { afterAll, describe, expect, it } from 'vitest';
import { cpuMs } from '../../tooling/processes/usage.js';
import { atOnce, times } from '../support/at-once.js';
import { invalidCredentials } from '../support/expected.js';
import { holdRows } from '../support/held-rows.js';
import { anInstallation } from '../support/installation.js';
import { type Account, anAccount, anEmail, aPassword } from '../support/personas.js';
import { type Service, startOwnService, startService } from '../support/service.js';

interface Cost {
  m: number;
  t: number;
  p: number;
}

function costOf(hash: unknown): Cost {
  expect(hash).toMatch(/^\$argon2id\$v=19\$[mtp]=\d+,[mtp]=\d+,[mtp]=\d+\$[\w+/]{22,}\$[\w+/]{43,}$/);
  const [m, t, p] = ['m', 't', 'p'].map((name) =>
    Number(new RegExp(`[$,]${name}=(\\d+)`).exec(String(hash))![1]),
  );
  return { m: m!, t: t!, p: p! };
}

const service = await startService();
afterAll(() => service.stop());

describe('stored passwords', () => {
  const logIn = ({ email, password }: Account) => service.anyone.post('/api/auth/login', { email, password });
  const hashOf = async (from: Service, email: string): Promise<unknown> =>
    (await from.db.query('SELECT password_hash AS hash FROM users WHERE email = ?', [email]))[0]?.['hash'];

  it('are argon2id at the cost that OWASP recommends, unless configured otherwise', async () => {
    const careful = await startService({ env: { ARGON2_MEMORY_KIB: undefined, ARGON2_TIME: undefined } });

    const { email } = await anAccount(careful);

    expect(costOf(await hashOf(careful, email))).toEqual({ m: 19_456, t: 2, p: 1 });
    await careful.stop();
  });

  it('differ for two users with one password', async () => {
    const password = aPassword();
    const emails = [anEmail(), anEmail()];
    for (const email of emails) await service.anyone.post('/api/auth/register', { email, password });

    const [one, two] = await Promise.all(emails.map((email) => hashOf(service, email)));

    expect(one).not.toBe(two);
  });

  it('are rehashed at login once the configured cost has risen', async () => {
    const installation = await anInstallation();
    const cheap = await startService({ installation });
    const { email, password } = await anAccount(cheap);
    const outdated = String(await hashOf(cheap, email));
    expect(costOf(outdated)).toMatchObject({ m: 1024, t: 1 });
    await cheap.stop();

    const dear = await startService({ installation, env: { ARGON2_MEMORY_KIB: '2048', ARGON2_TIME: '3' } });
    const login = () => dear.anyone.post('/api/auth/login', { email, password });
    const answers = await atOnce(times(4, () => login));

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(costOf(await hashOf(dear, email))).toMatchObject({ m: 2048, t: 3 });
    expect((await login()).status).toBe(200);

    // Somebody sets another password while a login is about to replace an outdated hash of the old one.
    await dear.db.query('UPDATE users SET password_hash = ? WHERE email = ?', [outdated, email]);
    const held = await holdRows(dear);
    await held.write("UPDATE users SET password_hash = 'of another password' WHERE email = ?", [email]);
    const late = login();
    await held.untilOneWaits();
    await held.commit();
    await late;
    expect(await hashOf(dear, email)).toBe('of another password');
    await dear.stop();
    await installation.remove();
  });

  it.each(['', 'garbage', '$argon2id$v=19$m=1024,t=1,p=1$', '$2b$10$abcdefghijklmnopqrstuv'])(
    'that are damaged (%j) match nothing and affect no other user',
    async (damage) => {
      const [victim, other] = [await anAccount(service), await anAccount(service)];
      await service.db.query('UPDATE users SET password_hash = ? WHERE id = ?', [damage, victim.id]);

      expect(await logIn(victim)).toMatchObject(invalidCredentials);
      expect((await logIn(other)).status).toBe(200);
      expect((await victim.get('/api/me')).status).toBe(200);
    },
  );
});

describe('a login that fails after the cost of a hash was raised', () => {
  /** Fifty times the work of the other hashes, so that hashing is nearly all of a login's time. */
  const EXPENSIVE = { ARGON2_MEMORY_KIB: '16384', ARGON2_TIME: '3', RATE_LIMIT_LOGIN: 'off' };
  const PAIRS = 30;

  // The unit tests of the hasher compare the work for more hashes.
  it('takes as much processor time for a wrong password as for an unknown e-mail', async () => {
    const installation = await anInstallation();
    const cheap = await startOwnService({ installation });
    const { email } = await anAccount(cheap, 'ada');
    await cheap.stop();
    const expensive = await startOwnService({ installation, env: EXPENSIVE });
    const fail = async (name: string): Promise<number> => {
      const begin = cpuMs([expensive.pid])!;
      const answer = await expensive.anyone.post('/api/auth/login', { email: name, password: aPassword() });
      expect(answer).toMatchObject(invalidCredentials);
      return cpuMs([expensive.pid])! - begin;
    };
    for (const name of [anEmail(), email]) await fail(name);

    // Alternately, so that other load on the machine affects both. Linux counts in hundredths: only sums tell.
    const sums = { known: 0, unknown: 0 };
    for (let pair = 0; pair < PAIRS; pair += 1) {
      sums.known += await fail(email);
      sums.unknown += await fail(anEmail());
    }

    expect(sums.known / sums.unknown).toBeGreaterThan(0.4);
    expect(sums.known / sums.unknown).toBeLessThan(2.5);
    await expensive.stop();
    await installation.remove();
  });
});
